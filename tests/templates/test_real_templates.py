"""Real tokenizers with tool-aware templates: the priced prompt is what transformers renders; text stays text."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerFast

from assembler import Assembler, ConversationError, TrimOldest, UnsupportedContentError, count_request
from assembler.dialects import Dialect, chat_template
from assembler.dialects.chat_template.dialect import ControlText
from assembler.verify import verify
from budgets import Budget, Grade, approximate_counter
from tests.assembler.drawn import texts, words
from tests.templates.fetched import folders

DATE = {"date_string": "26 Jul 2024"}
"""What a template that writes the date is given, so that a test begun before midnight ends as it began."""

TOKENIZERS: dict[str, Any] = {
    name: PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True) for name, folder in folders().items()
}
PUBLISHED = {
    "qwen3": "Qwen/Qwen3-8B",
    "llama3_2": "meta-llama/Llama-3.2-3B-Instruct",
    "mistral_nemo": "mistralai/Mistral-Nemo-Instruct-2407",
}
"""The names under which the weights of these tokenizers are published."""
DIALECTS: dict[str, Dialect] = {name: chat_template(made, variables=DATE) for name, made in TOKENIZERS.items()}
NEUTRAL: dict[str, Dialect] = {
    name: chat_template(made, variables=DATE, control_text=ControlText.NEUTRALISE) for name, made in TOKENIZERS.items()
}
CONTROL = {
    name: sorted(str(token) for token in made.added_tokens_decoder.values() if token.special)
    for name, made in TOKENIZERS.items()
}
"""Every special token of each; the first and the last few stand for the rest where there are hundreds."""

every_tokenizer = pytest.mark.parametrize("name", sorted(TOKENIZERS))
few = settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow], deadline=None)

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "search",
            "description": "Find a page by its words.",
            "parameters": {
                "type": "object",
                "properties": {"q": {"type": "string", "description": "The words."}, "n": {"type": "integer"}},
                "required": ["q"],
            },
        },
    },
    {
        "type": "function",
        "function": {"name": "now", "description": "", "parameters": {"type": "object", "properties": {}}},
    },
]


def applied(name: str, messages: list[Any], tools: list[Any] | None) -> list[int]:
    """The ids that transformers renders for itself."""
    made = TOKENIZERS[name]
    found = made.apply_chat_template(
        messages, tools=tools, add_generation_prompt=True, tokenize=True, return_dict=False, **DATE
    )
    return list(found)


def is_plain(name: str, text: str) -> bool:
    return bool(text.strip()) and not any(token in text for token in CONTROL[name])


@st.composite
def conversations(draw: st.DrawFn, name: str) -> list[dict[str, Any]]:
    """What every one of these templates takes: turns that alternate, one call at a time, ids of nine characters."""
    contents = texts.filter(lambda text: is_plain(name, text)) | words.filter(str.strip)
    history: list[dict[str, Any]] = []
    if draw(st.booleans()):
        history.append({"role": "system", "content": draw(contents)})
    for turn in range(draw(st.integers(1, 3))):
        history.append({"role": "user", "content": draw(contents)})
        for step in range(draw(st.sampled_from([0, 0, 1, 2]))):
            call_id = f"call{turn}{step:04}"
            function = {"name": "search", "arguments": {"q": draw(contents), "n": draw(st.integers(0, 9))}}
            history += [
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"id": call_id, "type": "function", "function": function}],
                },
                {"role": "tool", "tool_call_id": call_id, "name": "search", "content": draw(contents)},
            ]
        history.append({"role": "assistant", "content": draw(contents)})
    return history[:-1]


@every_tokenizer
@few
@given(data=st.data())
def test_the_priced_count_is_the_number_of_ids_that_transformers_renders(name: str, data: st.DataObject) -> None:
    history = data.draw(conversations(name))
    count = count_request({"messages": history, "tools": TOOLS}, dialect=DIALECTS[name])
    assert count.grade is Grade.EXACT
    assert count.tokens == count.upper == len(applied(name, history, TOOLS))


@every_tokenizer
@few
@given(data=st.data())
def test_the_bound_of_a_models_name_holds_for_what_its_template_renders(name: str, data: st.DataObject) -> None:
    history = data.draw(conversations(name))
    asked = [message["content"] for message in history if message["role"] == "user"]
    assume(name != "mistral_nemo" or asked.count(asked[-1]) == 1)
    tools = data.draw(st.sampled_from([None, TOOLS[:1], TOOLS]))
    body = {"messages": [_with_json_arguments(message) for message in history], **({"tools": tools} if tools else {})}
    count = count_request(body, dialect="openai_chat", model=PUBLISHED[name])
    assert count.upper >= len(applied(name, history, tools))


def test_nemo_repeats_its_tools_before_a_question_that_equals_the_last_and_no_bound_of_its_name_includes_it() -> None:
    history = [{"role": "user", "content": "Go on."}, {"role": "assistant", "content": "1"}]
    once, again = [*history, {"role": "user", "content": "Next."}], [*history, history[0]]
    assert len(applied("mistral_nemo", again, TOOLS)) > len(applied("mistral_nemo", once, TOOLS)) + 50
    assert count_request({"messages": again, "tools": TOOLS}, dialect=DIALECTS["mistral_nemo"]).grade is Grade.EXACT


def _with_json_arguments(message: dict[str, Any]) -> dict[str, Any]:
    """The message as Chat Completions has it: the templates take arguments as an object."""
    if not (calls := message.get("tool_calls")):
        return message
    function = {**calls[0]["function"], "arguments": json.dumps(calls[0]["function"]["arguments"])}
    return {**message, "tool_calls": [{**calls[0], "function": function}]}


@every_tokenizer
@few
@given(data=st.data())
def test_the_request_that_is_sent_costs_what_the_build_priced(name: str, data: st.DataObject) -> None:
    history = data.draw(conversations(name))
    assembler = Assembler(dialect=DIALECTS[name]).add_capability(TOOLS).add_messages(history)
    context = assembler.build()
    request = context.request()
    assert request["prompt_token_ids"] == applied(name, history, TOOLS)
    assert context.count.tokens == len(request["prompt_token_ids"])
    assert TOKENIZERS[name].encode(request["prompt"], add_special_tokens=False) == request["prompt_token_ids"]
    assert verify(request, dialect=DIALECTS[name]) == []


@every_tokenizer
def test_a_definition_is_rendered_and_paid_for(name: str) -> None:
    request = {"messages": [{"role": "user", "content": "q"}]}
    bare = count_request(request, dialect=DIALECTS[name]).tokens
    one = count_request({**request, "tools": TOOLS[:1]}, dialect=DIALECTS[name]).tokens
    both = count_request({**request, "tools": TOOLS}, dialect=DIALECTS[name]).tokens
    assert bare + 30 < one < both


@every_tokenizer
def test_a_trimmed_prompt_fits_and_is_rendered_whole(name: str) -> None:
    history = [
        {"role": role, "content": f"{role} {n}: " + "some words to fill a window with " * 9}
        for n in range(30)
        for role in ("user", "assistant")
    ][:-1]
    for limit in (400, 1_000, 2_500):
        budget = Budget(limit, counter=approximate_counter())
        assembler = Assembler(budget, dialect=DIALECTS[name], on_overflow=TrimOldest())
        context = assembler.add_instruction("Be brief.").add_messages(history).build()
        ids = applied(name, [{"role": "system", "content": "Be brief."}, *context.messages], None)
        assert context.request()["prompt_token_ids"] == ids
        assert len(ids) <= limit
        assert context.dropped


LEAVES = {
    "a user's text": lambda text: {"messages": [{"role": "user", "content": f"a {text} b"}]},
    "a part of a text": lambda text: {"messages": [{"role": "user", "content": [{"type": "text", "text": text}]}]},
    "an instruction": lambda text: {
        "messages": [{"role": "system", "content": text}, {"role": "user", "content": "q"}]
    },
    "a description": lambda text: {
        "messages": [{"role": "user", "content": "q"}],
        "tools": [{**TOOLS[0], "function": {**_FUNCTION, "description": text}}],
    },
    "a key of a schema": lambda text: {
        "messages": [{"role": "user", "content": "q"}],
        "tools": [{**TOOLS[0], "function": {**_FUNCTION, "parameters": {"type": "object", "properties": {text: {}}}}}],
    },
    "an argument": lambda text: {"messages": _asked({"q": text}, "found"), "tools": TOOLS},
    "a key of an argument": lambda text: {"messages": _asked({text: "q"}, "found"), "tools": TOOLS},
    "a result": lambda text: {"messages": _asked({"q": "q"}, text), "tools": TOOLS},
}
_FUNCTION: dict[str, Any] = json.loads(json.dumps(TOOLS[0]["function"]))


def _asked(arguments: dict[str, Any], found: str) -> list[dict[str, Any]]:
    call = {"id": "call00000", "type": "function", "function": {"name": "search", "arguments": arguments}}
    return [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call00000", "name": "search", "content": found},
    ]


def emitted(name: str, dialect: Dialect, request: dict[str, Any]) -> Counter[int]:
    """How often each special id stands in the prompt of a request."""
    special = set(TOKENIZERS[name].convert_tokens_to_ids(CONTROL[name]))
    ids = dialect.emit(dialect.parse(request)).request["prompt_token_ids"]
    return Counter(each for each in ids if each in special)


@every_tokenizer
@pytest.mark.parametrize("leaf", LEAVES)
def test_control_text_in_any_leaf_adds_no_special_id(name: str, leaf: str) -> None:
    try:
        harmless = emitted(name, DIALECTS[name], LEAVES[leaf]("harmless"))
    except ConversationError:
        pytest.skip("this template takes no text in parts")
    for token in [*CONTROL[name][:6], *CONTROL[name][-6:]]:
        with pytest.raises((UnsupportedContentError, ConversationError)):
            count_request(LEAVES[leaf](token), dialect=DIALECTS[name])
        try:
            spelled = emitted(name, NEUTRAL[name], LEAVES[leaf](token))
        except (UnsupportedContentError, ConversationError):
            continue  # what a blank inside it does not help against is refused
        assert spelled == harmless
