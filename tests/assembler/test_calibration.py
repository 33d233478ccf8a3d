"""A bill anchors the next count: only new content is priced by rule."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, Context, Overflow, TrimOldest
from assembler.dialects import Api, openai_chat, plain
from assembler.pricing import calibration
from assembler.pricing.calibration import CalibratedCounter, Fingerprint, calibrate, input_tokens
from budgets import Budget, Count, Grade, TokenCountError

texts = st.text("abc de.\n", min_size=1, max_size=60)
histories = st.lists(st.tuples(texts, texts), min_size=1, max_size=5)


def messages(pairs: list[tuple[str, str]], question: str) -> list[dict[str, str]]:
    spoken = [
        {"role": role, "content": text}
        for pair in pairs
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]
    return [*spoken, {"role": "user", "content": question}]


def built(spoken: list[dict[str, str]], system: str = "Be brief.", dialect: Any = openai_chat) -> Context:
    budget = Budget.for_model("gpt-4o")
    return Assembler(budget, dialect=dialect).add_instruction(system).add_messages(spoken).build()


def hidden_bill(context: Context, factor: float = 1.3, preamble: int = 40) -> int:
    """A provider with an unpublished tokenizer: letters, a framing, a preamble. Shares no code with the pricers."""
    request = context.request()
    return preamble + sum(4 + ceil(len(str(message["content"])) * factor) for message in request["messages"])


@given(pairs=histories, question=texts, answer=texts, more=texts, preamble=st.integers(0, 500))
def test_only_what_is_new_can_be_wrong(
    pairs: list[tuple[str, str]], question: str, answer: str, more: str, preamble: int
) -> None:
    spoken = messages(pairs, question)
    first = built(spoken)
    added = [{"role": "assistant", "content": answer}, {"role": "user", "content": more}]
    second = built([*spoken, *added])
    counter = calibrate(first, hidden_bill(first, preamble=preamble))
    wrong = counter.count(second).tokens - hidden_bill(second, preamble=preamble)
    new_billed = hidden_bill(second, preamble=preamble) - hidden_bill(first, preamble=preamble)
    new_counted = second.count.tokens - first.count.tokens
    if counter.billed >= first.count.tokens / 2:
        assert wrong == new_counted - new_billed


@given(pairs=histories, question=texts)
def test_the_request_that_was_billed_costs_its_bill_exactly(pairs: list[tuple[str, str]], question: str) -> None:
    context = built(messages(pairs, question))
    billed = context.count.tokens + 17
    assert calibrate(context, billed).count(built(messages(pairs, question))) == Count(billed)


def test_a_bill_that_the_rule_predicted_changes_nothing() -> None:
    first, second = built(messages([], "Hi")), built(messages([("Hi", "Hello")], "How are you?"))
    assert calibrate(first, first.count.tokens).count(second) == second.count


def test_the_bound_after_an_unexpected_bill_is_graded_bounded_at_best() -> None:
    first, second = built(messages([], "Hi")), built(messages([("Hi", "Hello")], "How are you?"))
    count = calibrate(first, first.count.tokens + 5).count(second)
    below = Fraction(first.count.tokens + 6, first.count.tokens)
    assert count == Count(second.count.tokens + 5, Grade.BOUNDED, upper=ceil(second.count.tokens * below) - 1)


@pytest.mark.parametrize("change", ["system", "first message", "dropped turn"])
def test_a_request_that_begins_otherwise_is_only_scaled(change: str) -> None:
    spoken = messages([("one two three", "four")], "five six seven")
    first = built(spoken)
    others = {
        "system": built(spoken, system="Be verbose."),
        "first message": built([{"role": "user", "content": "One two three"}, *spoken[1:]]),
        "dropped turn": built(spoken[2:]),
    }
    other = others[change]
    count = calibrate(first, ceil(first.count.tokens * 1.2)).count(other)
    assert count.grade is Grade.ESTIMATED
    assert other.count.tokens < count.tokens <= ceil(other.count.tokens * 1.25) + 1
    assert count.upper >= other.count.upper


@given(
    ours=st.integers(1, 10_000), slack=st.integers(0, 500), billed=st.integers(1, 100_000), other=st.integers(1, 9_999)
)
def test_a_scaled_count_stays_within_half_and_twice_and_keeps_its_upper_bound(
    ours: int, slack: int, billed: int, other: int
) -> None:
    counter = CalibratedCounter(Fingerprint("a", 3), Count(ours), billed)
    rule = Count(other, Grade.BOUNDED, upper=other + slack)
    count = counter.correct(rule, Fingerprint("b", 3))
    assert other / 2 <= count.tokens <= 2 * other + 1
    assert count.upper >= max(rule.upper, count.tokens)


@given(ours=st.integers(1, 10_000), billed=st.integers(1, 30_000), added=st.integers(0, 500), slack=st.integers(0, 50))
def test_an_anchored_count_is_never_below_its_bill(ours: int, billed: int, added: int, slack: int) -> None:
    counter = CalibratedCounter(Fingerprint("a", 3), Count(ours, Grade.BOUNDED, upper=ours + 9), billed)
    rule = Count(ours + added, Grade.BOUNDED, upper=ours + added + 9 + slack)
    count = counter.correct(rule, Fingerprint("a", 3))
    assert count.tokens >= billed + added
    believed = max(billed, ceil(Fraction(ours, 2)))
    share = min(max(Fraction(billed, ours), Fraction(1, 2)), Fraction(2))
    below = min(share + Fraction(1, ours), Fraction(2))
    most = ours + added + slack
    assert count.upper == max(believed + added + slack, ceil(most * share), ceil(most * below) - 1)
    if billed * 2 < ours:
        assert (count.grade, count.tokens) == (Grade.ESTIMATED, ceil(ours / 2) + added)


def test_a_request_that_costs_less_than_its_beginning_did_is_a_different_one() -> None:
    counter = CalibratedCounter(Fingerprint("a", 3), Count(100), 110)
    assert counter.correct(Count(90), Fingerprint("a", 3)).grade is Grade.ESTIMATED


def test_a_trimmed_history_is_not_taken_for_its_continuation() -> None:
    spoken = messages([("long " * 80, "answer"), ("next", "answer")], "last")
    first = built(spoken)
    tight = Budget(first.count.tokens - 10, model="gpt-4o")
    cut = Assembler(tight, dialect=openai_chat, on_overflow=TrimOldest())
    trimmed = cut.add_instruction("Be brief.").add_messages(spoken).build()
    assert trimmed.dropped
    assert calibrate(first, first.count.tokens + 20).count(trimmed).grade is Grade.ESTIMATED


def test_the_note_says_the_margin_and_whether_it_holds() -> None:
    spoken = messages([], "Hi")
    first = built(spoken)
    counter = calibrate(first, first.count.tokens + 5)
    second = built([*spoken, {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "So?"}])
    assert f"{first.count.tokens + 5} billed" in counter.note(second)
    assert "(+5, " in counter.note(second)
    assert "as billed" in counter.note(second)
    assert "another request" in counter.note(built(spoken, system="Other."))
    assert "Hello" not in counter.note(second)
    assert "Hi" not in repr(counter)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (812, 812),
        ({"prompt_tokens": 812, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 768}}, 812),
        (SimpleNamespace(prompt_tokens=812, total_tokens=900), 812),
        ({"input_tokens": 812, "input_tokens_details": {"cached_tokens": 768}, "output_tokens": 4}, 812),
        ({"input_tokens": 12, "cache_read_input_tokens": 700, "cache_creation_input_tokens": 100}, 812),
        (SimpleNamespace(input_tokens=812, cache_read_input_tokens=None), 812),
        ({"promptTokenCount": 812, "cachedContentTokenCount": 700}, 812),
        (SimpleNamespace(prompt_token_count=800, tool_use_prompt_token_count=12), 812),
        ({"inputTokens": 12, "cacheReadInputTokens": 800, "outputTokens": 3}, 812),
        ({"billed_units": {"input_tokens": 9.0}, "tokens": {"input_tokens": 812.0, "output_tokens": 4.0}}, 812),
        (SimpleNamespace(tokens=SimpleNamespace(input_tokens=812.0), billed_units=None, cached_tokens=768.0), 812),
        ({"model": "qwen3", "done": True, "prompt_eval_count": 812, "eval_count": 4}, 812),
        (SimpleNamespace(done=True, prompt_eval_count=812), 812),
        ({"native_tokens_prompt": 812, "tokens_prompt": 790, "native_tokens_cached": 0}, 812),
    ],
)
def test_the_usage_of_every_provider_is_understood_with_its_cached_tokens(usage: object, tokens: int) -> None:
    assert input_tokens(usage) == tokens


def test_an_api_may_count_its_input_in_an_object_of_its_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    api = Api(usage=(("meter.in", "meter.cached"),))
    monkeypatch.setattr(calibration, "_APIS", {"acme": api})
    assert input_tokens({"meter": {"in": 700, "cached": 112}}, "acme") == 812
    assert input_tokens(SimpleNamespace(meter={"in": 812}), "acme") == 812
    with pytest.raises(TokenCountError):
        input_tokens({"meter": 812}, "acme")


@pytest.mark.parametrize(
    "usage",
    [
        *(0, -5, None, True, "812", 8.5, float("nan"), {}, {"input_tokens": 0}, {"prompt_tokens": None}, object()),
        *({"tokens": {"input_tokens": 8.5}}, {"tokens": 812}, {"billed_units": {"input_tokens": 9.0}}),
    ],
)
def test_a_usage_without_input_tokens_is_refused(usage: object) -> None:
    with pytest.raises(TokenCountError, match="usage"):
        calibrate(built(messages([], "Hi")), usage)


class Answer:
    usage = None


@pytest.mark.parametrize(
    ("usage", "advised"),
    [
        ({"usage": {"input_tokens": 7}}, "has no input tokens in a dict: pass its .usage"),
        ({"usageMetadata": {"promptTokenCount": 7}}, "pass its .usageMetadata"),
        ({"type": "response.completed", "response": {"usage": {"input_tokens": 7}}}, "pass its .response.usage"),
        ({"type": "message-end", "delta": {"usage": {"tokens": {"input_tokens": 7.0}}}}, "pass its .delta.usage"),
        ({"metadata": {"usage": {"inputTokens": 7}}}, "pass its .metadata.usage"),
        ({"input_tokens": 0}, "has 0 input tokens: pass the response's usage, or the number of its input tokens"),
        (-5, "has -5 input tokens: pass the response's usage, or the number of its input tokens"),
        (Answer(), "has no input tokens in an Answer: pass the response's usage, or the number of its input tokens"),
    ],
)
def test_a_usage_is_refused_with_what_to_pass_in_its_place(usage: object, advised: str) -> None:
    with pytest.raises(TokenCountError) as caught:
        input_tokens(usage)
    assert str(caught.value).endswith(advised)


class Unreadable(dict[str, int]):
    def get(self, *_: Any) -> Any:
        raise RuntimeError("no such row")


def test_a_usage_whose_own_methods_raise_is_refused_as_a_usage() -> None:
    with pytest.raises(TokenCountError, match="usage cannot be read: a method of its own raised RuntimeError"):
        input_tokens(Unreadable(prompt_tokens=7))


def test_a_refusal_that_states_no_limit_keeps_the_one_that_an_earlier_refusal_stated() -> None:
    first = built(messages([], "Hi"))
    stated = attrs.evolve(calibrate(first, first.count.tokens), most=4_000)
    assembler = Assembler(Budget.for_model("gpt-4o")).add_instruction("Be brief.").anchor(stated)
    second = assembler.add_messages(messages([], "Hi")).build()
    assert calibrate(second, Overflow(used=4_500)).most == 4_000


@given(pairs=histories, question=texts, more=texts)
def test_a_fingerprint_up_to_a_message_is_that_of_the_shorter_request(
    pairs: list[tuple[str, str]], question: str, more: str
) -> None:
    spoken = messages(pairs, question)
    longer = {"messages": [*spoken, {"role": "assistant", "content": more}], "tools": [{"name": "t"}]}
    shorter = {"messages": spoken, "tools": [{"name": "t"}]}
    assert Fingerprint.of(longer, turns=len(spoken)) == Fingerprint.of(shorter)
    assert Fingerprint.of(longer) != Fingerprint.of(shorter)
    assert Fingerprint.of(shorter, dialect="a") != Fingerprint.of(shorter, dialect="b")
    assert Fingerprint.of(shorter, dialect="a", model="a") != Fingerprint.of(shorter, dialect="a")
    assert Fingerprint.of({**shorter, "tools": []}) != Fingerprint.of(shorter)


def test_a_request_of_text_alone_and_one_with_bytes_have_fingerprints() -> None:
    assert Fingerprint.of({"prompt": "a"}) != Fingerprint.of({"prompt": "b"})
    image = {"contents": [{"parts": [{"inlineData": {"data": b"\x89PNG"}}]}]}
    other = {"contents": [{"parts": [{"inlineData": {"data": b"\x89PNH"}}]}]}
    assert Fingerprint.of(image) != Fingerprint.of(other)
    assert Fingerprint.of({"prompt": frozenset()}) == Fingerprint.of({"prompt": frozenset()})


def test_the_plain_dialect_is_anchored_too() -> None:
    first = built(messages([], "Hi"), dialect=plain)
    assert calibrate(first, first.count.tokens + 3).count(first) == Count(first.count.tokens + 3)


@pytest.mark.parametrize("wrong", [{"input_tokens": 5}, 5, [5]])
def test_a_bare_usage_is_refused_as_an_anchor(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"calibrate\(context, usage\) returns, got (dict|int|list)"):
        Assembler().anchor(wrong)


@pytest.mark.parametrize("key", ["messages", "contents", "input", "turns"])
def test_a_continued_request_is_recognised_under_every_apis_history_key(key: str) -> None:
    entries = [{"says": "one"}, {"says": "two"}]
    tools = [{"name": "f"}, {"name": "g"}, {"name": "h"}]
    before = Fingerprint.of({key: entries, "tools": tools})
    assert before.turns == 2
    assert Fingerprint.of({key: [*entries, {"says": "three"}], "tools": tools}, turns=2) == before
    assert Fingerprint.of({key: [*entries, {"says": "three"}], "tools": tools[:2]}, turns=2) != before


def test_the_ids_of_a_finished_prompt_are_not_taken_for_turns() -> None:
    assert Fingerprint.of({"prompt": "ab", "prompt_token_ids": [1, 2]}).turns == 0


def test_two_bills_show_a_drift_unless_they_differ_by_more_than_fifty_tokens() -> None:
    spoken, anchor, bounds = messages([], "Hi"), None, list[int]()
    for off in (0, 5, 3, 53, 104):
        context = Assembler(Budget.for_model("gpt-4o")).add_messages(spoken).anchor(anchor).build()
        anchor = calibrate(context, context.by_rule.tokens + off)
        bounds.append(anchor.drift)
    assert bounds == [0, 5, 5, 50, 50]


def test_a_request_that_is_sent_again_may_be_billed_a_drift_higher() -> None:
    drifting = CalibratedCounter(Fingerprint("a", 3), Count(100), 110, drift=7)
    assert drifting.correct(Count(100), Fingerprint("a", 3)) == Count(110, Grade.BOUNDED, upper=117)
    assert [drifting.bound(drifting.tokens_left(limit)) <= limit for limit in (110, 117, 300)] == [True] * 3


def billed_context(ours: int, known: CalibratedCounter | None = None, limit: int | None = None) -> Any:
    """As much of a context as a bill is compared with: what it costs by rule, its limit, and the bill before."""
    return SimpleNamespace(
        unmarked=lambda: dict[str, Any](messages=[]),
        dialect="anthropic",
        model="claude-opus-4-5",
        by_rule=Count(ours),
        input_limit=limit,
        calibration=known,
        inside=SimpleNamespace(recipe="what stayed"),
    )


def known_bill(ours: int, billed: int, dialect: str = "anthropic", **more: Any) -> CalibratedCounter:
    return CalibratedCounter(Fingerprint("d", 1, dialect, "claude-opus-4-5"), Count(ours), billed, **more)


@pytest.mark.parametrize("usage", [150, Overflow(used=150)])
def test_a_bill_and_a_refusal_carry_what_stayed_and_the_drift_and_limit_of_bills_of_the_same_model(usage: Any) -> None:
    known = known_bill(100, 110, most=900, drift=7)
    found = calibrate(billed_context(140, known, limit=1_000), usage)
    assert (found.billed, found.limit, found.most, found.drift, found.kept) == (150, 1_000, 900, 7, "what stayed")
    assert found.request == Fingerprint.of({"messages": []}, dialect="anthropic", model="claude-opus-4-5")
    for other in (None, known_bill(100, 110, "plain", most=900, drift=7)):
        first = calibrate(billed_context(140, other), usage)
        assert (first.billed, first.limit, first.most, first.drift, first.kept) == (150, None, None, 0, "what stayed")


def test_a_refusal_bills_at_least_what_was_counted_and_at_least_one_token() -> None:
    assert calibrate(billed_context(60), Overflow(limit=50, excess=5)).billed == 60
    assert calibrate(billed_context(60), Overflow(limit=50, excess=15)).billed == 65
    assert [calibrate(billed_context(0), refusal).billed for refusal in (Overflow(excess=0), Overflow())] == [1, 1]
    assert input_tokens(1) == 1


def test_a_usage_is_read_by_the_fields_of_its_own_dialect_first() -> None:
    both = {"prompt_tokens": 5, "input_tokens": 7, "inputTokens": 9}
    assert [input_tokens(both, name) for name in ("openai_chat", "anthropic", "bedrock")] == [5, 7, 9]
    context = billed_context(5)
    assert calibrate(context, both).billed == 7
    context.dialect = "openai_chat"
    assert calibrate(context, both).billed == 5


@pytest.mark.parametrize("usage", [None, {}, 0])
def test_a_refused_usage_is_named_with_what_to_pass(usage: Any) -> None:
    with pytest.raises(TokenCountError, match=r"^counter usage has .*: pass the response's usage") as caught:
        calibrate(billed_context(5), usage)
    assert caught.value.counter == "usage"


def test_a_note_states_the_share_of_the_smallest_count() -> None:
    one = Assembler(Budget(100, counter=len), dialect=plain).add_messages([{"role": "user", "content": "x"}]).build()
    assert "3 billed where 1 were counted (+2, +200.0 %)" in calibrate(one, 3).note(one)
