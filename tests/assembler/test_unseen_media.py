"""A file whose length cannot be seen is sent, costs a typical one, and is bounded by the longest that the API takes."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from assembler import Assembler, ContextLengthError, count_request, verify
from budgets import Budget, Grade
from tests.assembler.test_media import PAGES

Part = dict[str, Any]

ASK = {"type": "text", "text": "What does it say?"}
URL = "https://a.example/f"

# Per page: Claude's 2,250 and half of 1,568 (at most 3,000, 1,640 and 8). OpenAI's 2,250 and half of 1,445 for GPT-4o.
# Gemini's published page, 1,000 at most. Mistral's, Nova's and the hosts' pages are ours.
CASES: dict[str, tuple[str, str, Part, int, int]] = {
    "Claude, by URL": (
        "anthropic",
        "claude-sonnet-4-5",
        {"type": "document", "source": {"type": "url", "url": URL}},
        30_340,
        200_000,
    ),
    "Claude, stored": (
        "anthropic",
        "claude-opus-4-6",
        {"type": "document", "source": {"type": "file", "file_id": "f"}},
        30_340,
        1_000_000,
    ),
    "Chat, stored": ("openai_chat", "gpt-4o", {"type": "file", "file": {"file_id": "file-1"}}, 29_720, 128_000),
    "Responses, by URL": ("openai_responses", "gpt-4o", {"type": "input_file", "file_url": URL}, 29_720, 128_000),
    "Responses, stored": ("openai_responses", "gpt-4o", {"type": "input_file", "file_id": "file-1"}, 29_720, 128_000),
    "Gemini 2.5, PDF": (
        "gemini",
        "gemini-2.5-pro",
        {"file_data": {"file_uri": URL, "mime_type": "application/pdf"}},
        2_580,
        258_000,
    ),
    "Gemini 3, PDF": (
        "gemini",
        "gemini-3-pro-preview",
        {"file_data": {"file_uri": URL, "mime_type": "application/pdf"}},
        5_600,
        560_000,
    ),
    "Gemini 2.5, text": (
        "gemini",
        "gemini-2.5-pro",
        {"file_data": {"file_uri": URL, "mime_type": "text/plain"}},
        2_580,
        1_050_000,
    ),
    "Gemini 2.5, picture": (
        "gemini",
        "gemini-2.5-pro",
        {"file_data": {"file_uri": URL, "mime_type": "image/png"}},
        4 * 258,
        25 * 258,
    ),
    "Gemini 2.5, sound": (
        "gemini",
        "gemini-2.5-pro",
        {"file_data": {"file_uri": URL, "mime_type": "audio/mp3"}},
        60 * 32,
        1_050_000,
    ),
    "Gemini 2.5, film": (
        "gemini",
        "gemini-2.5-pro",
        {"file_data": {"file_uri": URL, "mime_type": "video/mp4"}},
        600 * 263,
        1_050_000,
    ),
    "Converse, Claude": (
        "bedrock",
        "anthropic.claude-sonnet-4-5",
        {"document": {"format": "pdf", "name": "f", "source": {"s3Location": {"uri": "s3://a/f"}}}},
        30_340,
        200_000,
    ),
    "Converse, Nova": (
        "bedrock",
        "amazon.nova-pro-v1:0",
        {"document": {"format": "pdf", "name": "f", "source": {"s3Location": {"uri": "s3://a/f"}}}},
        30_000,
        1_050_000,
    ),
    "Mistral, by URL": (
        "mistral",
        "mistral-large-latest",
        {"type": "document_url", "document_url": URL},
        30_000,
        262_144,
    ),
    "Mistral, stored": ("mistral", "mistral-large-latest", {"type": "file", "file_id": "f"}, 30_000, 262_144),
    "a host, by URL": (
        "openai_chat",
        "openrouter/qwen/qwen3-32b",
        {"type": "file", "file": {"filename": "f.pdf", "file_data": URL}},
        10_000,
        1_050_000,
    ),
    "a host, sound": (
        "openai_chat",
        "openrouter/qwen/qwen3-32b",
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
        1,
        5,
    ),
    "a host, film": (
        "openai_chat",
        "openrouter/qwen/qwen3-vl-32b",
        {"type": "video_url", "video_url": {"url": URL}},
        60 * 263,
        1_050_000,
    ),
    "an unknown model, film": (
        "openai_chat",
        "my-own-vl",
        {"type": "video_url", "video_url": {"url": URL}},
        60 * 263,
        2_310_000,  # what an unknown model's prices are multiplied by, 2.2, times the window
    ),
    "plain": ("plain", "", {"type": "document", "source": {"type": "url", "url": URL}}, 10_000, 1_050_000),
    "plain, picture": ("plain", "", {"type": "image_url", "image_url": {"url": URL}}, 1_000, 16_384),
}


def asked(dialect: str, part: Part | None) -> dict[str, Any]:
    key, words = ("content", ASK) if dialect not in ("gemini", "bedrock") else ("content", {"text": ASK["text"]})
    if dialect == "openai_responses":
        words = {"type": "input_text", "text": ASK["text"]}
    key = "parts" if dialect == "gemini" else key
    return {"role": "user", key: [part, words] if part else [words]}


@pytest.mark.parametrize("name", CASES)
def test_a_file_of_unseen_length_is_sent_as_it_came_and_costs_a_typical_one(name: str) -> None:
    dialect, model, part, tokens, most = CASES[name]
    budget = Budget(4_000_000, model=model) if model else None
    context, without = (
        Assembler(budget, dialect=dialect).add_message(asked(dialect, sent)).build() for sent in (part, None)
    )
    assert part in next(iter(context.request().values()))[0]["parts" if dialect == "gemini" else "content"]
    assert context.count.grade is Grade.ESTIMATED
    assert abs(context.count.tokens - without.count.tokens - tokens) <= 6
    assert most <= context.count.upper - without.count.upper + 30 <= most + 60 + most // 8
    assert count_request(context.request(), dialect=dialect, model=model or None) == context.count
    assert not [broken for broken in verify(context.request(), dialect=dialect) if not broken.note]


@pytest.mark.parametrize("name", [name for name in CASES if "picture" not in name and "sound" not in name])
def test_a_file_whose_length_is_declared_costs_no_more_than_the_longest(name: str) -> None:
    dialect, model, part, _, most = CASES[name]
    budget = Budget(4_000_000, model=model) if model else None
    declared = {"seconds": 20} if "film" in name else {"pages": 3}
    context = Assembler(budget, dialect=dialect).add_message(asked(dialect, {**part, **declared})).build()
    assert context.count.upper < most // 4


def test_an_error_for_a_file_of_unseen_length_names_its_message_and_the_key_that_gives_its_length() -> None:
    budget = Budget.for_model("gpt-4o")
    history = [("user", "a"), ("assistant", "b"), asked("openai_chat", CASES["Chat, stored"][2])]
    with pytest.raises(ContextLengthError) as caught:
        Assembler(budget).add_messages(history).build()
    assert caught.value.advice.startswith("conversation[2] holds a file")
    assert '{"pages": …}' in caught.value.advice
    history[-1]["content"][0]["pages"] = 12  # type: ignore[index]
    assert Assembler(budget).add_messages(history).build().count.upper < 128_000


def test_the_error_for_a_file_whose_pages_can_be_read_does_not_ask_to_declare_them() -> None:
    content = b64encode(PAGES["a plain tree"][0]).decode()
    file = {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{content}"}
    with pytest.raises(ContextLengthError) as caught:
        Assembler(Budget(3_000, model="gpt-4o")).add_message(
            asked("openai_chat", {"type": "file", "file": file})
        ).build()
    assert "send fewer or smaller files" in caught.value.advice
    assert "cannot be seen" not in caught.value.advice


@pytest.mark.parametrize(
    ("kilobytes", "tokens", "most"),
    # A page of 50,000 bytes typically and 500 at least, at 2,250 and 784 tokens a page, and 3,000, 1,640 and 8 at most.
    [(100, 2 * 3_034, 200 * 4_648), (1, 3_034, 2 * 4_648)],
)
def test_a_pdf_whose_pages_cannot_be_read_is_bounded_by_its_bytes(kilobytes: int, tokens: int, most: int) -> None:
    from assembler.pricing.media import MediaFacts, claude
    from assembler.pricing.media.facts import Source

    facts = MediaFacts(kind="document", mime="application/pdf", bytes=kilobytes * 1_000, source=Source.INLINE)
    price = claude.price_media(facts, claude.STANDARD, 10_000_000)
    assert (price.tokens, price.upper) == (tokens, most)


# ── Parts without words for another maker's list

ITEMS: list[Part] = [
    {"type": "item_reference", "id": "msg_1"},
    {"type": "compaction", "encrypted_content": "A" * 400, "id": "cmp_1"},
    {"type": "mcp_list_tools", "id": "m", "server_label": "s", "tools": [{"name": "look", "input_schema": {"a": 1}}]},
    {
        "type": "mcp_approval_request",
        "id": "m",
        "server_label": "s",
        "name": "look",
        "arguments": '{"a": "some words"}',
    },
    {"type": "file_search_call", "id": "f", "status": "completed", "queries": ["some words to look for"]},
    {"type": "image_generation_call", "id": "i", "status": "completed", "result": "iVBORw0KGgo" * 30},
]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["type"])
@pytest.mark.parametrize("maker", ["anthropic/claude-sonnet-4-5", "google/gemini-2.5-pro", "mistralai/mistral-large"])
def test_a_servers_item_is_not_free_for_another_makers_model_on_responses(item: Part, maker: str) -> None:
    """Only its words were counted, and an item without words was sent and cost nothing."""
    asked = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "ho"},
        {"role": "user", "content": "go on"},
    ]
    without, count = (
        count_request({"input": items}, dialect="openai_responses", model=f"openrouter/{maker}")
        for items in (asked[-1:], [item, asked[-1]])
    )
    assert (count.tokens, count.upper) > (without.tokens, without.upper + 20)
    assert count.grade is Grade.ESTIMATED


@pytest.mark.parametrize(
    "model", ["meta.llama3-1-70b-instruct-v1:0", "cohere.command-r-v1:0", "mistral.mistral-large-2402-v1:0"]
)
@pytest.mark.parametrize(
    ("block", "least"),
    [
        ({"guardContent": {"image": {"format": "png", "source": {"bytes": b"\x89PNG\r\n\x1a\n"}}}}, 1_600),
        ({"toolAddition": {"tool": {"name": "get_weather", "description": "The weather of a city."}}}, 5),
        ({"toolRemoval": {"tool": {"name": "get_weather"}}}, 5),
    ],
)
def test_a_block_without_words_is_not_free_for_another_makers_model_on_converse(
    model: str, block: Part, least: int
) -> None:
    words = {"text": "hi"}
    without, count = (
        count_request({"messages": [{"role": "user", "content": content}]}, dialect="bedrock", model=model)
        for content in ([words], [words, block])
    )
    assert least <= count.tokens - without.tokens <= count.upper - without.upper


@pytest.mark.parametrize(
    ("part", "key"),
    [
        ({"type": "document", "source": {"type": "text", "data": "w"}}, "title"),
        ({"type": "document", "source": {"type": "url", "url": URL}, "pages": 1}, "context"),
    ],
)
def test_the_words_beside_a_file_are_counted_where_no_api_is_named(part: Part, key: str) -> None:
    """They are sent under `plain`, and cost nothing."""
    without, count = (
        count_request({"messages": [{"role": "user", "content": [one]}]}, dialect="plain")
        for one in (part, {**part, key: "some words to read"})
    )
    assert (count.tokens - without.tokens, count.upper - without.upper) == (4, 4)
    assert count.grade is Grade.ESTIMATED
