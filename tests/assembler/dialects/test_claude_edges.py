"""Claude's texts cost what was billed for them where they meet each other, the prompt or its end."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import Assembler, count_request
from assembler.dialects import anthropic, bedrock
from assembler.dialects.anthropic.dialect import Anthropic
from assembler.dialects.blocks.turns import Ending
from budgets import Budget, claude_counter

SONNET = "claude-sonnet-4-5"
WEATHER = {"name": "weather", "input_schema": {"type": "object", "properties": {}}}


def billed(*messages: dict[str, Any], model: str = SONNET, **fields: Any) -> int:
    return count_request({"messages": [*messages], **fields}, dialect=anthropic, model=model).tokens


def user(*texts: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


# ── what was billed: public test recordings of Mirascope/mirascope, simonw/llm, 2026-11 ──


def test_a_question_in_two_blocks_costs_what_was_billed_for_it() -> None:
    """Recorded by Mirascope/mirascope: "What is " and "5 + 5?" were billed as one text."""
    assert billed(user("What is ", "5 + 5?"), model="claude-haiku-4-5") == 16


def test_a_greeting_that_the_model_goes_on_from_costs_what_was_billed_for_it() -> None:
    """Recorded by simonw/llm."""
    text = "Hello! How are you doing today? Is there anything I can help you with?"
    answer = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    assert billed(user("Hi"), answer, model="claude-sonnet-4-20250514") == 25


def test_a_system_text_that_begins_with_a_brace_and_a_colon_costs_what_was_billed_for_it() -> None:
    """Recorded by patvice/ruby_llm-mcp: a hash of Ruby's as text. Behind a word it costs no more."""
    system, model = '{:type=>"text", :text=>"You are a helpful assistant."}', "claude-3-5-sonnet-20240620"
    assert billed(user("Hello, how are you?"), system=system, model=model) == 31
    of = claude_counter(model)
    plain = billed(user("Hello, how are you?"), system=f"So {system}", model=model)
    assert plain == 7 + of("Hello, how are you?") + of(f"So {system}")


# ── laws ──


@pytest.mark.parametrize("model", [SONNET, "claude-opus-4-7", "claude-sonnet-5"])
def test_texts_of_one_message_cost_together_what_their_whole_costs(model: str) -> None:
    assert billed(user("un", "believ", "able. ", "1", "23"), model=model) == billed(
        user("unbelievable. 123"), model=model
    )


def test_a_cache_mark_between_two_texts_costs_nothing() -> None:
    texts, mark = [{"text": "What is "}, {"text": "5 + 5?"}], {"cachePoint": {"type": "default"}}
    plain, marked = (
        count_request(
            {"messages": [{"role": "user", "content": content}]}, dialect=bedrock, model=f"anthropic.{SONNET}"
        )
        for content in (texts, [texts[0], mark, texts[1]])
    )
    assert plain.tokens == marked.tokens == billed(user("What is 5 + 5?"))


def test_a_result_that_ends_with_an_exclamation_mark_costs_as_much_as_with_a_full_stop() -> None:
    """Recorded by crmne/ruby_llm and lmnr-ai/lmnr-python: the mark and the tag after it are one token."""

    def answered(text: str) -> int:
        call = {"type": "tool_use", "id": "t1", "name": "weather", "input": {}}
        result = {"type": "tool_result", "tool_use_id": "t1", "content": text}
        turns = {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}
        return billed(user("q"), *turns, tools=[WEATHER])

    of = claude_counter(SONNET)
    assert of("Sunny!") == of("Sunny.")
    assert answered("Sunny!") == answered("Sunny.") - 1 + (of(".<") - of("."))


@pytest.mark.parametrize(
    ("model", "tools", "blanks", "saved"),
    [
        (SONNET, [], "    ", 0),
        (SONNET, [WEATHER], "    ", 1),
        ("claude-sonnet-4-6", [], "    ", 1),
        ("claude-sonnet-5", [], "    ", 0),
        ("claude-sonnet-5", [], "", 1),  # 7 recordings of tidyverse/ellmer (MIT)
        ("claude-opus-4-7", [WEATHER], "    ", 0),  # one of 0xPlaygrounds/rig (MIT)
    ],
)
def test_a_line_break_after_a_system_text_joins_the_one_before_the_next_section(
    model: str, tools: list[Any], blanks: str, saved: int
) -> None:
    of, asked = claude_counter(model), {"tools": tools} if tools else {}
    text = f"Be terse.\n{blanks}"
    ended, plain = (billed(user("q"), model=model, system=one, **asked) for one in (text, "Be terse."))
    assert plain - ended == of("Be terse.") - of(text) + saved


def test_a_build_that_ends_with_the_assistant_is_priced_like_its_request() -> None:
    history = [{"role": "user", "content": "Answer in JSON."}, {"role": "assistant", "content": "{"}]
    built = Assembler(Budget(10_000, model=SONNET), dialect=Anthropic(ending=Ending.ANY)).add_messages(history).build()
    counted = count_request(built.request(), dialect=anthropic, model=SONNET)
    assert built.count == counted
    assert counted.tokens == billed(user("Answer in JSON."), {"role": "assistant", "content": "{"})


def test_a_definition_is_written_with_escapes_of_all_that_is_not_ascii() -> None:
    """As patvice/ruby_llm-mcp and Mirascope/mirascope were billed: a surrogate pair is two escapes."""
    of = claude_counter(SONNET)
    as_character, as_escape = (billed(user("q"), tools=[{**WEATHER, "description": text}]) for text in ("🧮 Adds.", ""))
    written = '{"description": "\\ud83e\\uddee Adds.", "name": "weather"', '{"name": "weather"'
    assert as_character - as_escape == of(written[0]) - of(written[1])


@pytest.mark.parametrize(
    ("model", "shown"), [("claude-3-5-sonnet-20241022", True), ("claude-3-7-sonnet-latest", True), (SONNET, False)]
)
@pytest.mark.parametrize("text", ["Be terse. ", "\n    Be terse.\n    ", "\n    Say that all of it is known.\n  "])
def test_claude_3_is_shown_a_system_text_without_blanks_around_it(model: str, shown: bool, text: str) -> None:
    """Recorded by tidyverse/ellmer and DataDog/dd-trace-py."""
    padded, bare = (billed(user("q"), model=model, system=one, tools=[WEATHER]) for one in (text, text.strip()))
    assert (padded == bare) is shown


def test_a_build_for_claude_3_counts_a_padded_system_text_as_it_is_billed() -> None:
    model = "claude-3-5-sonnet-20241022"
    built = Assembler(Budget(10_000, model=model)).add_instruction("\n  Be terse.\n ").add_message(user("q")).build()
    assert built.count == count_request(built.request(), dialect=anthropic, model=model)


@pytest.mark.parametrize(("model", "more"), [(SONNET, 0), ("claude-sonnet-4-6", 1)])
def test_an_answer_format_alone_costs_one_more_since_claude_4_6(model: str, more: int) -> None:
    """Recorded by tidyverse/ellmer: 211 tokens for Claude 4.6."""
    shown = {"type": "string", "description": "Name of the author"}, {"type": "string", "description": "Content title"}
    properties = dict(zip(("author", "title"), shown, strict=True))
    schema = {"type": "object", "description": "", "properties": properties, "required": ["title", "author"]}
    schema["additionalProperties"] = False
    asked = {"format": {"type": "json_schema", "schema": schema}}
    apples = user("Apples are tasty. By Hadley Wickham.")
    assert billed(apples, model=model, output_config=asked) == 210 + more


CALLED = [
    {"role": "user", "content": "Is it warm?"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "weather", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "20 degrees"}]},
]


@pytest.mark.parametrize(("model", "saved"), [(SONNET, 1), ("claude-sonnet-4-0", 1), ("claude-sonnet-5", 0)])
def test_results_at_the_end_cost_no_more_before_a_call_of_any_tool(model: str, saved: int) -> None:
    """Recorded by Mirascope/mirascope and pydantic/pydantic-ai."""

    def more(*messages: Any) -> int:
        prices = (
            billed(*messages, model=model, tools=[WEATHER], tool_choice={"type": kind}) for kind in ("any", "auto")
        )
        return next(prices) - next(prices)

    answered = [*CALLED, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "And now?"}]
    assert more(*CALLED[:1]) == more(*answered) == more(*CALLED) + saved


@pytest.mark.parametrize(("model", "more"), [("claude-3-5-haiku-latest", 1), ("claude-3-opus-latest", 1), (SONNET, 0)])
def test_results_at_the_end_cost_one_more_before_a_named_tool_up_to_claude_3_7(model: str, more: int) -> None:
    """Recorded by crewAIInc/crewAI with 3.5 Haiku, at 24 lengths of one loop."""
    forced = {"type": "tool", "name": "weather"}
    answered = [*CALLED, {"role": "assistant", "content": "Yes."}, user("And now?")]
    bills = [
        billed(*messages, model=model, tools=[WEATHER], **({"tool_choice": forced} if named else {}))
        for messages in (CALLED, answered)
        for named in (True, False)
    ]
    assert (bills[0] - bills[1]) - (bills[2] - bills[3]) == more


@pytest.mark.parametrize("dialect", [anthropic, bedrock])
@pytest.mark.parametrize("choice", ["required", "auto", "weather"])
@pytest.mark.parametrize("model", [SONNET, "claude-3-5-haiku-20241022"])
def test_a_build_that_ends_with_results_is_priced_like_its_request(dialect: Any, choice: str, model: str) -> None:
    model = model if dialect is anthropic else f"anthropic.{model}"
    assembler = Assembler(Budget(10_000, model=model), dialect=dialect).add_messages(CALLED[:1])
    assembler.set_tools([WEATHER], choice=choice)
    for message in CALLED[1:]:
        assembler.add_message(message)
    built = assembler.build()
    assert built.count == count_request(built.request(), dialect=dialect, model=model)
    later = assembler.add_message(("user", "Thanks.")).build()  # what the build before it priced is known
    assert later.count == count_request(later.request(), dialect=dialect, model=model)


def test_a_schema_with_an_emoji_is_bounded_as_if_it_was_escaped() -> None:
    def asked(text: str) -> dict[str, Any]:
        schema = {"type": "object", "properties": {"a": {"type": "string", "description": text}}}
        return {"messages": [user("q")], "output_config": {"format": {"type": "json_schema", "schema": schema}}}

    more = claude_counter(SONNET)('"\\ud83e\\uddee"') - claude_counter(SONNET)('"a"')
    plain, emoji = (count_request(asked(text), dialect=anthropic, model=SONNET) for text in ("a", "🧮"))
    assert emoji.upper - plain.upper >= more


def test_a_blank_system_text_costs_claude_3_its_framing_and_not_less() -> None:
    """The blanks were taken off twice, as those before and those behind the text."""
    asked: dict[str, Any] = {"messages": [{"role": "user", "content": "q"}]}
    bare = count_request(asked, dialect=anthropic, model="claude-3-haiku-20240307")
    for blank in (" ", "\n\n", " " * 300):
        blanked = count_request({**asked, "system": blank}, dialect=anthropic, model="claude-3-haiku-20240307")
        assert blanked.tokens >= bare.tokens
