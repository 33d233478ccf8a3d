"""A text in a field that no one reads is in the bound of what sends it, and known fields cost nothing."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from typing import Any, cast

import pytest

from assembler import Assembler, ClearReasoning, Context, TrimOldest, count_request
from budgets import Budget, Grade
from tests.assembler.one_price import APIS, GATEWAYS, TOOLS, Api

Dict = dict[str, Any]
LONG = "walrus words here " * 30
NOTHING: Dict = {}
ODD: Dict = {"odd": LONG}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
USER: Dict = {"role": "user", "content": "q"}
IMAGE: Dict = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
FILE: Dict = {"filename": "a.txt", "file_data": "data:text/plain;base64,aGVsbG8="}


def user(*parts: Dict) -> list[Dict]:
    return [{"role": "user", "content": [*parts]}]


def model(*parts: Dict) -> list[Dict]:
    return [USER, {"role": "assistant", "content": [*parts]}, USER]


def gemini(*parts: Dict, role: str = "user") -> list[Dict]:
    q = {"role": "user", "parts": [{"text": "q"}]}
    return [q, {"role": role, "parts": [*parts]}, q] if role == "model" else [{"role": role, "parts": [*parts]}]


def in_chat(call: Dict = NOTHING, function: Dict = NOTHING, answer: Dict = NOTHING) -> list[Dict]:
    called = {"id": "a", "type": "function", "function": {"name": "search", "arguments": "{}", **function}, **call}
    found = {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "found", **answer}]}
    return [USER, {"role": "assistant", "content": None, "tool_calls": [called]}, found]


def in_blocks(use: Dict = NOTHING, result: Dict = NOTHING, text: Dict = NOTHING) -> list[Dict]:
    asked: Dict = {"type": "tool_use", "id": "a", "name": "search", "input": {}, **use}
    block = {
        "type": "tool_result",
        "tool_use_id": "a",
        "content": [{"type": "text", "text": "found", **text}],
        **result,
    }
    return [USER, {"role": "assistant", "content": [asked]}, {"role": "user", "content": [block]}]


def in_converse(use: Dict = NOTHING, result: Dict = NOTHING) -> list[Dict]:
    asked: Dict = {"toolUse": {"toolUseId": "a", "name": "search", "input": {}, **use}}
    block = {"toolResult": {"toolUseId": "a", "content": [{"text": "found"}], **result}}
    return [*user({"text": "q"}), {"role": "assistant", "content": [asked]}, {"role": "user", "content": [block]}]


def in_contents(part: Dict = NOTHING, call: Dict = NOTHING, answer: Dict = NOTHING) -> list[Dict]:
    asked: Dict = {"function_call": {"name": "search", "args": {}, **call}, **part}
    response = {"functionResponse": {"name": "search", "response": {"a": "found"}, **answer}}
    return [*gemini({"text": "q"}), {"role": "model", "parts": [asked]}, {"role": "user", "parts": [response]}]


def items(call: Dict = NOTHING, output: Dict = NOTHING, kind: str = "function_call", **asked: Any) -> list[Dict]:
    one = {"type": kind, "call_id": "a", **(asked or {"name": "search", "arguments": "{}"}), **call}
    return [USER, one, {"type": f"{kind}_output", "call_id": "a", "output": "found", **output}]


def answered(part: Dict, **more: Any) -> list[Dict]:
    return [USER, {"type": "message", "role": "assistant", "status": "completed", "content": [part], **more}, USER]


SOURCE = {"type": "base64", "media_type": "image/png", "data": PNG}
PLAIN_TEXT = {"type": "text", "media_type": "text/plain", "data": "hello"}
SIGNED = {"text": "hm", "signature": "c2ln"}
CHAT: dict[str, list[Dict]] = {
    "a text": user({"type": "text", "text": "hi", **ODD}),
    "a text of the model's": model({"type": "text", "text": "hi", **ODD}),
    "a text of the system's": [{"role": "system", "content": [{"type": "text", "text": "hi", **ODD}]}, USER],
    "a picture": user({**IMAGE, **ODD}),
    "inside of a picture": user({"type": "image_url", "image_url": {**IMAGE["image_url"], **ODD}}),
    "a refusal": model({"type": "refusal", "refusal": "no", **ODD}),
    "a call": in_chat(ODD),
    "a function": in_chat({}, ODD),
    "a text of an answer": in_chat({}, {}, ODD),
    "a file": user({"type": "file", "file": FILE, **ODD}),
    "inside of a file": user({"type": "file", "file": {**FILE, **ODD}}),
    "the name of a file": user({"type": "file", "file": {**FILE, "filename": LONG}}),
    "a picture beside another API's text": user({**IMAGE, **ODD}, {"type": "input_text", "text": "hi"}),
}
BLOCKS: dict[str, list[Dict]] = {
    "a text": user({"type": "text", "text": "hi", **ODD}),
    "a text with a mark": user({"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}, **ODD}),
    "a text of the system's": [{"role": "system", "content": [{"type": "text", "text": "hi", **ODD}]}, USER],
    "a picture": user({"type": "image", "source": SOURCE, **ODD}),
    "the source of a picture": user({"type": "image", "source": {**SOURCE, **ODD}}),
    "a document": user({"type": "document", "source": PLAIN_TEXT, **ODD}),
    "a call": in_blocks(ODD),
    "a result": in_blocks({}, ODD),
    "a text of a result": in_blocks({}, {}, ODD),
    "a thought": model({"type": "thinking", **SIGNED, "thinking": "hm", **ODD}, {"type": "text", "text": "x"}),
    "a message": [{"role": "user", "content": [{"type": "image", "source": SOURCE}], **ODD}],
    "a call beside Chat's": [
        USER,
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "search", "input": {}, **ODD}],
            "tool_calls": [{"id": "b", "type": "function", "function": {"name": "search", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "a", "content": "x"},
        {"role": "tool", "tool_call_id": "b", "content": "x"},
    ],
}
CONVERSE: dict[str, list[Dict]] = {
    "a picture": user({"image": {"format": "png", "source": {"bytes": b"x"}}, **ODD}),
    "inside of a picture": user({"image": {"format": "png", "source": {"bytes": b"x"}, **ODD}}),
    "the name of a document": user({"document": {"format": "txt", "name": LONG, "source": {"text": "hello"}}}),
    "a call": in_converse(ODD),
    "a result": in_converse({}, ODD),
    "reasoning": model({"reasoningContent": {"reasoningText": {**SIGNED, **ODD}}}, {"text": "x"}),
    "a message": [{"role": "user", "content": [{"text": "hi"}], **ODD}],
}
CONTENTS: dict[str, list[Dict]] = {
    "a text": gemini({"text": "hi", **ODD}),
    "a text of the model's": gemini({"text": "hi", **ODD}, role="model"),
    "a picture": gemini({"inline_data": {"mime_type": "image/png", "data": PNG}, **ODD}),
    "inside of a picture": gemini({"inlineData": {"mimeType": "image/png", "data": PNG, "displayName": LONG}}),
    "a call's part": in_contents(ODD),
    "a call": in_contents({}, ODD),
    "a response": in_contents({}, {}, ODD),
    "a thought": gemini({"text": "hm", "thought": True, **ODD}, {"text": "x"}, role="model"),
    "a content": [{"role": "user", "parts": [{"text": "hi"}], **ODD}],
}
ITEMS: dict[str, list[Dict]] = {
    "a text": user({"type": "input_text", "text": "hi", **ODD}),
    "a text of the model's": answered({"type": "output_text", "text": "hi", **ODD}),
    "a refusal": answered({"type": "refusal", "refusal": "no", **ODD}),
    "a message": answered({"type": "output_text", "text": "hi"}, **ODD),
    "a picture": user({"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", **ODD}),
    "a picture beside another API's text": user(
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", **ODD}, {"type": "text", "text": "hi"}
    ),
    "a call": items(ODD),
    "an output": items({}, ODD),
    "a text of an output": items({}, {"output": [{"type": "input_text", "text": "found", **ODD}]}),
    "a call of a custom tool": items(ODD, kind="custom_tool_call", name="search", input="x"),
    "an output of a custom tool": items({}, ODD, kind="custom_tool_call", name="search", input="x"),
    "commands": items(ODD, kind="local_shell_call", id="a", action={"command": ["ls"]}),
    "an output of commands": items({}, ODD, kind="local_shell_call", id="a", action={"command": ["ls"]}),
    "reasoning": [USER, {"type": "reasoning", "id": "r", "summary": [], **ODD}, {"role": "assistant", "content": "x"}],
    "reasoning in a content": model(
        {"type": "reasoning", "id": "r", "summary": [], **ODD}, {"type": "output_text", "text": "x"}
    ),
}
OF_EACH = {
    "openai_chat": CHAT,
    "plain": CHAT | BLOCKS | CONVERSE | CONTENTS | ITEMS,
    "openai_responses": ITEMS,
    "anthropic": BLOCKS,
    "bedrock": CONVERSE,
    "gemini": CONTENTS,
    "mistral": {
        "a picture": CHAT["a picture"],
        "a function": in_chat({}, ODD),
        "a thought": model(
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], **ODD}, {"type": "text", "text": "x"}
        ),
        "inside of a thought": model(
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm", **ODD}]}, {"type": "text", "text": "x"}
        ),
    },
}


def built(api: Api, history: list[Dict], window: int = 1_000_000) -> Context:
    made = Assembler(Budget(window, model=api.model), dialect=api.dialect, on_overflow=TrimOldest())
    return made.set_tools(TOOLS).add_messages(history).build()


def without(value: Any, left_out: Collection[str] = ("odd",)) -> Any:
    """The value without these fields; a long name in a known place is made short."""
    if type(value) is dict:
        fields = cast("Dict", value)
        kept = {key: held for key, held in fields.items() if key not in left_out}
        return {key: "x" if held == LONG else without(held, left_out) for key, held in kept.items()}
    return [without(held, left_out) for held in cast("list[Any]", value)] if type(value) is list else value


@pytest.mark.parametrize("api", [*APIS, *GATEWAYS], ids=str)
def test_text_in_an_unknown_field_that_is_sent_is_in_the_bound_and_nothing_is_exact(api: Api) -> None:
    """A field of a part was sent at no price, and the count was graded as if it were not there."""
    for name, history in OF_EACH[api.dialect].items():
        with_it, bare = built(api, history), built(api, without(history))
        assert LONG in str(with_it.request()), name
        assert with_it.count.grade is Grade.ESTIMATED, name
        if (api.dialect, name) == ("plain", "the name of a document"):  # which `plain` counts
            continue
        assert with_it.count.tokens == bare.count.tokens, name
        assert with_it.count.upper == bare.count.upper + len(LONG), name
        assert with_it.count == count_request(with_it.request(), dialect=api.dialect, model=api.model), name
        exactly = built(api, history, with_it.count.upper)
        assert exactly.request() == with_it.request(), name


SPELLED = [named for spelling in OF_EACH if spelling not in ("plain", "mistral") for named in OF_EACH[spelling].items()]


@pytest.mark.parametrize("parts", [3, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("place", "api"), list(enumerate([*APIS, *GATEWAYS])), ids=str)
def test_text_in_an_unknown_field_of_another_api_costs_nothing_where_it_is_not_sent(
    place: int, api: Api, parts: int
) -> None:
    """Each history is tried under a third of the models, and under all of them in the slow test."""
    for name, history in islice(SPELLED, place % parts, None, parts):
        try:
            with_it = built(api, history)
        except ValueError:  # a picture or a document that this API or model does not take
            continue
        assert with_it.count == count_request(with_it.request(), dialect=api.dialect, model=api.model), name
        if LONG not in str(with_it.request()):
            assert with_it.count == built(api, without(history)).count, name


FREE: dict[str, list[Dict]] = {
    "openai_chat": user(
        {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
        {"type": "text", "text": "hi", "prompt_cache_breakpoint": {"mode": "explicit"}, "id": "p_1", "index": 1},
    ),
    "openai_responses": answered(
        {
            "type": "output_text",
            "text": "hi",
            "annotations": [{"type": "url_citation", "title": LONG, "url": "https://a.example"}],
            "logprobs": [{"token": " a b", "logprob": -1.0}],
        },
        id="msg_1",
    ),
    "anthropic": [
        USER,
        {
            "role": "assistant",
            "content": [
                {
                    "type": "text",
                    "text": "hi",
                    "cache_control": {"type": "ephemeral"},
                    "citations": [{"type": "char_location", "cited_text": LONG, "document_title": "A title"}],
                }
            ],
        },
        USER,
    ],
    "gemini": gemini({"text": "hi", "thoughtSignature": "c2lnbmVk", "videoMetadata": {"startOffset": "1s"}}),
}


@pytest.mark.parametrize("dialect", FREE)
def test_fields_that_are_known_to_be_free_lower_no_grade_and_raise_no_bound(dialect: str) -> None:
    known = {"annotations", "citations", "cache_control", "id", "index", "logprobs", "prompt_cache_breakpoint"}
    for api in (api for api in (*APIS, *GATEWAYS) if api.dialect == dialect):
        assert built(api, FREE[dialect]).count == built(api, without(FREE[dialect], known)).count


@pytest.mark.parametrize("text", ["walrus", "https://a.example/b?c=d", "c2lnbmVk" * 100])
def test_a_single_word_in_an_unknown_field_is_a_setting(text: str) -> None:
    history = user({"type": "text", "text": "hi", "odd": text})
    assert built(APIS[0], history).count == built(APIS[0], without(history)).count


def test_a_sentence_without_blanks_in_an_unknown_field_is_in_the_bound() -> None:
    """Chinese is written without blanks, so it passed for a single word."""
    history = user({"type": "text", "text": "hi", "odd": "请在这里搜索海象"})
    price = built(APIS[0], history).count
    assert (price.grade, price.upper) == (Grade.ESTIMATED, built(APIS[0], without(history)).count.upper + 24)


CLAUDE = "openrouter/anthropic/claude-sonnet-4-5"
GEMINI = "openrouter/google/gemini-2.5-flash"
LLAMA = "meta.llama3-1-70b-instruct-v1:0"
SEARCH: Dict = {"type": "web_search_call", "id": "ws", "status": "completed", "results": [{"text": "seal", **ODD}]}
CITED: Dict = {"citationsContent": {"content": [{"text": "seal", **ODD}], "citations": []}}
FOUND: Dict = {"searchResult": {"source": "s", "title": "t", "content": [{"text": "seal"}], **ODD}}
GUARDED: Dict = {"guardContent": {"text": {"text": "seal"}}, **ODD}
DRAWN: Dict = {
    "type": "image_generation_call",
    "id": "ig",
    "status": "completed",
    "result": PNG,
    "revised_prompt": LONG,
}
UNKNOWN: Dict = {"type": "mystery", "say": LONG}
CONTEXT: Dict = {"document": {"format": "txt", "name": "n", "context": LONG, "source": {"text": "hello"}}}
CHUNKS: Dict = {"type": "thinking", "thinking": [{"type": "text", "text": LONG}]}
DUMPED: Dict = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "text", "text": "hi"}], **ODD}
CALLED: Dict = {"type": "tool_call", "id": "a", "name": "search", "args": {}, **ODD}
MORE: dict[str, tuple[str, str | None, list[Dict]]] = {
    "a server's search, for a maker's model": ("openai_responses", CLAUDE, model(SEARCH)),
    "a server's citations, for an open model": ("bedrock", LLAMA, model(CITED)),
    "a search result, for an open model": ("bedrock", LLAMA, user(FOUND)),
    "a guarded text of the system's, for an open model": (
        "bedrock",
        LLAMA,
        [{"role": "system", "content": [GUARDED]}, *user({"text": "q"})],
    ),
    "a drawn picture": ("openai_responses", "gpt-5", model(DRAWN)),
    "an unknown part of the system's, for Claude": (
        "openai_chat",
        CLAUDE,
        [{"role": "system", "content": [UNKNOWN]}, USER],
    ),
    "an unknown part of the system's, for Gemini": (
        "openai_responses",
        GEMINI,
        [{"role": "system", "content": [UNKNOWN]}, USER],
    ),
    "a system message, for Gemini": ("openai_chat", GEMINI, [{"role": "system", "content": "Be brief.", **ODD}, USER]),
    "an unknown part of an answer, for Gemini": (
        "openai_chat",
        GEMINI,
        [*in_chat()[:2], {"role": "tool", "tool_call_id": "a", "content": [UNKNOWN]}],
    ),
    "a cache mark": ("plain", None, user({"text": "q"}, {"cachePoint": {"type": "default", **ODD}})),
    "the context of a document": ("plain", None, user(CONTEXT)),
    "a thought of Mistral's": ("plain", None, model(CHUNKS)),
    "a call of LangChain's": (
        "plain",
        None,
        [USER, {"role": "assistant", "content": [CALLED]}, {"role": "tool", "tool_call_id": "a", "content": "x"}],
    ),
    "a document by URL": (
        "plain",
        None,
        user({"type": "document_url", "document_url": "https://a.example/d.pdf", **ODD}),
    ),
    "a dumped answer": ("anthropic", "claude-sonnet-4-5", [USER, DUMPED, USER]),
    "a sound of Mistral's": (
        "mistral",
        "mistral-large-latest",
        user({"type": "input_audio", "input_audio": "AAAA", **ODD}),
    ),
}


@pytest.mark.parametrize("name", MORE)
def test_text_that_is_sent_in_a_part_that_is_priced_as_a_whole_is_in_the_price(name: str) -> None:
    """For another maker's model only the words of such a part were priced, and in a system text only what was read."""
    dialect, called, history = MORE[name]
    api = Api(dialect, called)
    with_it, bare = built(api, history), built(api, without(history))
    assert LONG in str(with_it.request())
    assert with_it.count.upper > bare.count.upper + 80
    assert with_it.count == count_request(with_it.request(), dialect=dialect, model=called)


@pytest.mark.parametrize("api", [api for api in (*APIS, *GATEWAYS) if api.dialect == "openai_chat"], ids=str)
def test_a_field_of_a_message_that_is_written_anew_costs_nothing(api: Api) -> None:
    """It was priced beside a picture that Chat is not sent, and left out of the request."""
    history = [USER, {"role": "assistant", "content": [{"type": "text", "text": "hi"}, IMAGE], **ODD}, USER]
    context = built(api, history)
    assert LONG not in str(context.request())
    assert context.count == count_request(context.request(), dialect=api.dialect, model=api.model)
    assert context.count == built(api, without(history)).count


NOT_SENT: dict[str, Dict] = {
    "a field of a message that several APIs spell alike": {"role": "assistant", "content": "a", **ODD},
    "an unknown part of another API's": {"role": "assistant", "content": [{"type": "text", "text": "a"}, UNKNOWN]},
    "a picture in an answer": {"role": "assistant", "content": [{"type": "text", "text": "a"}, IMAGE]},
    "a document of Mistral's": {
        "role": "user",
        "content": [{"type": "document_url", "document_url": "https://a.example/d.pdf", "document_name": "n"}],
    },
    "a picture alone": {"role": "assistant", "content": [IMAGE]},
    "a server's item of the system's": {"role": "system", "content": [{**SEARCH, **ODD}]},
    "an unknown part of the system's": {"role": "system", "content": [UNKNOWN]},
}


@pytest.mark.parametrize("api", [*APIS, *GATEWAYS], ids=str)
@pytest.mark.parametrize("name", NOT_SENT)
def test_what_is_not_sent_takes_no_tokens_of_the_window_that_the_rest_fills(name: str, api: Api) -> None:
    """A bound for what is left out made a policy drop a turn that fits."""
    for history in ([USER, NOT_SENT[name], USER], [NOT_SENT[name], USER, {"role": "assistant", "content": "a"}, USER]):
        whole = built(api, history)
        assert whole.count == count_request(whole.request(), dialect=api.dialect, model=api.model)
        exactly = built(api, history, whole.count.upper)
        assert (exactly.count, exactly.request()) == (whole.count, whole.request())


def test_a_field_beside_a_thought_costs_what_it_costs_once_the_thought_is_cleared() -> None:
    """Without its blocks the message is one of Chat's form, in which the field was priced otherwise."""
    thought = {"type": "thinking", "thinking": LONG, "signature": "s"}
    answer = {"role": "assistant", "content": [thought, {"type": "text", "text": "a"}], "odd": "a few words"}
    history = [USER, answer, USER]
    whole = Assembler(dialect="plain").add_messages(history).build()
    assert whole.count == count_request(whole.request(), dialect="plain")
    less = Budget(whole.count.upper - 1)
    cleared = Assembler(less, dialect="plain", on_overflow=ClearReasoning()).add_messages(history).build()
    assert "walrus" not in str(cleared.request())
    assert cleared.count == count_request(cleared.request(), dialect="plain")


SENTENCE = "walrus words here"
ITEM_FIELDS = [
    ("function_call", "output"),
    *(("function_call", key) for key in ("id", "status", "input")),
    *(("function_call_output", key) for key in ("id", "status", "name", "arguments")),
    *(("custom_tool_call", key) for key in ("id", "arguments")),
    *(("custom_tool_call_output", key) for key in ("status", "name")),
]


@pytest.mark.parametrize(("kind", "key"), ITEM_FIELDS)
@pytest.mark.parametrize("thought", [False, True], ids=["alone", "behind a thought"])
def test_an_item_of_texts_alone_costs_the_texts_that_its_kind_has_no_word_for(
    kind: str, key: str, thought: bool
) -> None:
    """Such an item passed for read whole, whichever of its texts its reader took."""
    custom = kind.startswith("custom")
    block = {"type": "custom_tool_call", "input": "x"} if custom else {"type": "function_call", "arguments": "{}"}
    call: Dict = {**block, "call_id": "a", "name": "search"}
    answer: Dict = {"type": f"{block['type']}_output", "call_id": "a", "output": "found"}
    reasoning: Dict = {"type": "reasoning", "id": "rs", "summary": []}

    def count(**more: str) -> Any:
        items = [{**item, **(more if item["type"] == kind else {})} for item in (call, answer)]
        history = [USER, *([reasoning] if thought else []), *items]
        tools = [{"type": "custom", "name": "search"}] if custom else TOOLS
        built = Assembler(dialect="openai_responses").add_capability(tools).add_messages(history).build()
        assert built.count == count_request(built.request(), dialect="openai_responses")
        return built.count

    for text in (SENTENCE, "海象"):
        assert count(**{key: text}).upper == count().upper + len(text.encode())
