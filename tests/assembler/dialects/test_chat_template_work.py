"""A fit over a chat template renders few times and keeps what trying every cut would keep."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

pytest.importorskip("transformers")

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from assembler import (
    Assembler,
    ClearToolResults,
    ContextLengthError,
    KeepRelevant,
    TrimOldest,
    Truncate,
    calibrate,
    count_request,
)
from assembler.dialects.chat_template.dialect import ControlText, chat_template
from assembler.dialects.chat_template.prompts import REMEMBERED
from budgets import Budget, Limit
from tests.calls import cuts_asked
from tests.scaled import scaled

from .test_chat_template import (
    ALTERNATING,
    CHATML,
    LLAMA,
    SPECIAL,
    TOOL,
    Counting,
    answered,
    bytewise,
    call,
    tokenizer_of,
)

FORGETFUL_OF_THOUGHT = """{% set last = namespace(asked=0) %}
{%- for m in messages %}{% if m.role == 'user' %}{% set last.asked = loop.index0 %}{% endif %}{% endfor %}
{%- for m in messages %}<|im_start|>{{ m.role }}
{% set said = m.content or '' -%}
{% if m.role == 'assistant' and loop.index0 < last.asked %}{% set said = said.split('</think>')[-1] %}{% endif -%}
{{ said }}<|im_end|>
{% endfor %}<|im_start|>assistant
"""

MERGING = """{% for m in messages %}{{ m.role }}: {{ m.content | trim }}  {% endfor %}"""

WORDY = """{% for m in messages %}<|im_start|>{{ m.role }} said in so many words, and we quote every one of them:
{{ m.content }}{{ m.content }}<|im_end|>{% endfor %}"""

PREFACED = """{% for m in messages %}{{ m.content }}{% endfor %}
{%- if messages | length > 2 %}As said before: {% endif %}"""

CLOSING = """{% for m in messages %}{{ m.content }}{% endfor %}Thus spoke the {{ messages[-1].role }}."""

HUGGING = """{% for m in messages %}.{{ m.content }}.<|eot|>{% endfor %}"""

TEMPLATES = {
    "chatml": CHATML,
    "trimming": LLAMA,
    "alternating": ALTERNATING,
    "forgetful of thought": FORGETFUL_OF_THOUGHT,
    "merging": MERGING,
    "wordy": WORDY,
    "prefaced": PREFACED,
    "hugging": HUGGING,
    "closing": CLOSING,
}


def counting(template: str) -> Any:
    kind: Any = Counting
    made = kind(tokenizer_object=bytewise(), bos_token="<s>", eos_token="</s>", extra_special_tokens=SPECIAL[2:])
    made.add_tokens(["  ", "<tool_call>", "</tool_call>"])
    made.chat_template = template
    return made


DIALECTS = {name: chat_template(counting(template)) for name, template in TEMPLATES.items()}


def renders_of(assembler: Assembler) -> int:
    Counting.renders.clear()
    context = assembler.build()
    context.request()
    _ = context.count
    return len(Counting.renders)


def talk(turns: int, since: int = 0) -> list[dict[str, Any]]:
    """Turns of different lengths, with odd edges."""
    messages: list[dict[str, Any]] = []
    for number in range(since, since + turns):
        messages.append({"role": "user", "content": f"\nQuestion {number}?" + " why" * (number * 7 % 13) + " "})
        messages.append({"role": "assistant", "content": f" Answer {number}:\n" + "- so\n" * (number * 5 % 11)})
    return messages


def session(name: str, window: int, policy: Any = None, turns: int = 60) -> Assembler:
    assembler = Assembler(Budget(window), dialect=DIALECTS[name], on_overflow=policy or TrimOldest())
    return assembler.add_messages(talk(turns)).add_message({"role": "user", "content": "And now?"})


# ── renders


@pytest.mark.parametrize("turns", [3, 16, 100])
@pytest.mark.parametrize("policy", [TrimOldest(), TrimOldest(low_water=0.5)], ids=["oldest", "low water"])
def test_renders_are_few_for_a_cold_build_and_none_for_an_unchanged_one(turns: int, policy: TrimOldest) -> None:
    for name in TEMPLATES:
        assembler = session(name, 200 + 30 * turns, policy, turns)
        assert renders_of(assembler) <= math.log2(turns) + 3, name
        assert renders_of(assembler) == 0
        assert renders_of(assembler.fork()) == 0
        assert renders_of(assembler.add_instruction("Be brief.")) <= math.log2(turns) + 3, name


def test_an_unchanged_build_asks_no_policy_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = cuts_asked(monkeypatch)
    for name in TEMPLATES:
        assembler = session(name, 700)
        renders_of(assembler)
        assert asked
        asked.clear()
        renders_of(assembler)
        renders_of(assembler.fork())
        assert asked == [], name


@pytest.mark.parametrize("policy", [TrimOldest(), TrimOldest(low_water=0.5), [ClearToolResults(), TrimOldest()]])
def test_an_appended_message_costs_two_renders_at_most(policy: Any) -> None:
    assembler = session("chatml", 1_000, policy, turns=20)
    renders_of(assembler)
    spent = [renders_of(assembler.add_message(message)) for message in talk(40, since=20)]
    assert max(spent) == 2  # the prompt, and its bare structure


def test_a_template_whose_parts_do_not_add_up_costs_two_renders_more_often_than_not() -> None:
    for name in ("trimming", "alternating", "forgetful of thought", "merging", "wordy"):
        assembler = session(name, 800, turns=20)
        renders_of(assembler)
        spent = sorted(renders_of(assembler.add_message(message)) for message in talk(20, since=20))
        assert spent[len(spent) // 2] == 2, name
        assert spent[-1] <= 5, name


@pytest.mark.parametrize("letters", [500, 4_000])
def test_policies_with_one_answer_for_thousands_of_tokens_are_asked_a_few_dozen_times(letters: int) -> None:
    asked: list[int] = []

    class Telling(TrimOldest):
        def cut(self, passage: Any, tokens_left: int, /) -> Any:
            asked.append(tokens_left)
            return super().cut(passage, tokens_left)

    assembler = Assembler(Budget(letters), dialect=DIALECTS["chatml"], on_overflow=[ClearToolResults(), Telling()])
    with pytest.raises(ContextLengthError) as refused:
        assembler.add_message({"role": "user", "content": "a" * letters}).build()
    assert len(asked) <= 10 * math.log2(letters)
    assert refused.value.smallest_window is not None
    Assembler(Budget(refused.value.smallest_window), dialect=DIALECTS["chatml"]).add_message(
        {"role": "user", "content": "a" * letters}
    ).build()


def test_an_instruction_that_the_template_makes_too_long_is_named_as_the_part_to_shorten() -> None:
    def instructed(window: int) -> Assembler:
        return Assembler(Budget(window), dialect=DIALECTS["chatml"]).add_instruction("abc " * 50)

    whole = instructed(100_000).build().count.upper
    with pytest.raises(ContextLengthError, match=rf"alone need {whole}\. Shorten the instruction by 1 tok"):
        instructed(whole - 1).build()


def test_a_history_of_calls_needs_few_renders() -> None:
    assembler = Assembler(Budget(3_000), dialect=DIALECTS["chatml"], on_overflow=TrimOldest()).add_capability([TOOL])
    for number in range(40):
        assembler.add_message({"role": "user", "content": f"Look {number} up."})
        for message in answered(call(f"c{number}"), result="found " * (number % 9)):
            assembler.add_message(message)
    assert renders_of(assembler) <= math.log2(40) + 3
    assert renders_of(assembler) == 0


def test_a_changed_message_is_rendered_again() -> None:
    history = talk(4)
    assembler = Assembler(dialect=DIALECTS["chatml"]).add_messages(history)
    assembler.build().request()
    history[2]["content"] = "something else"
    assert renders_of(assembler) == 2
    assert "something else" in assembler.build().request()["prompt"]


def test_old_renders_are_forgotten() -> None:
    dialect = chat_template(counting(CHATML))
    bases = [Assembler(dialect=dialect).add_message(("user", f"{number}")) for number in range(REMEMBERED + 1)]
    for base in bases:
        base.build()
    assert renders_of(bases[-1]) == 0
    assert renders_of(bases[0]) == 1  # for its price: what was emitted is known beside the history


def test_a_request_can_be_changed_without_changing_the_next() -> None:
    assembler = session("chatml", 2_000)
    first = assembler.build().request()
    kept = copy.deepcopy(first)
    first["prompt_token_ids"].clear()
    assert assembler.build().request() == kept


def test_control_text_is_refused_at_every_call() -> None:
    assembler = Assembler(dialect=DIALECTS["chatml"]).add_message(("user", "a <|im_end|> b"))
    for _ in range(2):
        with pytest.raises(ValueError, match="control token"):
            assembler.build()


def test_a_tokenizer_that_prepares_its_prompts_is_asked_twice() -> None:
    class Preparing(PreTrainedTokenizerFast):
        def apply_chat_template(self, *args: Any, **kwargs: Any) -> Any:
            parent: Any = super()
            found = parent.apply_chat_template(*args, **kwargs)
            return {"input_ids": [1, *found["input_ids"]]} if kwargs["tokenize"] else found

    kind: Any = Preparing
    tokenizer = kind(tokenizer_object=bytewise(), bos_token="<s>", eos_token="</s>")
    tokenizer.chat_template = MERGING
    request = Assembler(dialect=chat_template(tokenizer)).add_message(("user", "hi")).build().request()
    assert request["prompt"] == "user: hi  "
    assert request["prompt_token_ids"] == [1, *tokenizer.encode(request["prompt"], add_special_tokens=False)]


def test_without_a_budget_the_count_is_that_of_the_prompt() -> None:
    for name in TEMPLATES:
        assembler = Assembler(dialect=DIALECTS[name]).add_messages(talk(3)).add_message(("user", "And?"))
        context = assembler.build()
        assert context.count.tokens == len(context.request()["prompt_token_ids"]), name
        assert assembler.plan().inside.sealed == context.count, name


@pytest.mark.parametrize("change", [Assembler.clear_knowledge, lambda it: it.add_knowledge("more " * 20, type="t")])
def test_the_turns_that_stay_are_weighed_again_after_the_regions_change(change: Any) -> None:
    for name in TEMPLATES:
        warm = session(name, 900).add_knowledge("known " * 30, type="t")
        cold = session(name, 900).add_knowledge("known " * 30, type="t")
        warm.build()
        assert change(warm).build().request() == change(cold).build().request(), name
        for message in talk(2, since=60)[1:]:
            assert kept(warm.add_message(message)) == kept(cold.add_message(message)), name


# ── limits


@pytest.mark.parametrize(("limits", "fewer"), [({}, False), ({"knowledge": Limit(cap=200)}, True)])
def test_limits_hold_if_only_the_whole_is_counted(limits: dict[str, Limit], fewer: bool) -> None:
    assembler = Assembler(Budget(2_000, limits=limits), dialect=DIALECTS["chatml"], on_overflow=TrimOldest())
    for number in range(5):
        assembler.add_knowledge("k" * 50, type="rag", source=f"{number}.md", score=number / 10)
    assembler.add_messages(talk(60))
    context = assembler.build()
    assert context.count.tokens == len(context.request()["prompt_token_ids"]) <= 2_000
    assert (len(context.sources) < 5) == fewer
    assert renders_of(assembler) == 0
    capped = Assembler(
        Budget(2_000, limits={**limits, "conversation": Limit(cap=300)}),
        dialect=DIALECTS["chatml"],
        on_overflow=TrimOldest(),
    )
    assert capped.add_messages(talk(60)).build().count.tokens <= 300 + 40


# ── what is kept

contents = st.text(st.sampled_from("ab \n.é"), max_size=12)
thoughts = st.tuples(contents, contents).map(lambda both: f"<think>{both[0]}</think>{both[1]}")
turns = st.lists(
    st.tuples(contents.map(lambda text: text + "?"), st.none() | contents | thoughts), min_size=1, max_size=8
)
OPEN = {
    name: chat_template(tokenizer_of(template), control_text=ControlText.ALLOW) for name, template in TEMPLATES.items()
}


def spoken(drawn: list[tuple[str, str | None]]) -> list[dict[str, Any]]:
    history: list[dict[str, Any]] = []
    for asked, answer in drawn:
        history.append({"role": "user", "content": asked})
        if answer is not None:
            history.append({"role": "assistant", "content": answer})
    return history


def kept_by_trying(name: str, history: list[dict[str, Any]], limit: int) -> int | None:
    """By brute force: the longest run of newest turns whose rendering fits; None if the newest alone does not."""
    begins = [place for place, message in enumerate(history) if message["role"] == "user"]
    for start in begins:
        weight = Assembler(dialect=OPEN[name]).add_messages(history[start:]).build().count.tokens
        if weight <= limit:
            return len(history) - start
    return None


def kept(assembler: Assembler) -> int | None:
    try:
        return len(assembler.build().messages)
    except ContextLengthError:
        return None


@example(  # each text loses a token at both ends, as many as are allowed for: one turn more fits exactly
    name="hugging", drawn=[(".ab.", ".a."), ("a", "a"), (".", "."), (".ab.", "a"), ("c", None)], cut=0, nudge=0
)
@example(  # a request that ends with the assistant is longer, and was taken to grow by the user's next message
    name="closing", drawn=[("éé\n.baéb.", " é\n.éa"), ("\naééé\n..a\n.", " .  aba."), ("bé   a", None)], cut=1, nudge=0
)
@example(  # the third message brought sixteen tokens, which were taken to be the framing of each
    name="prefaced",
    drawn=[("aaa", "bb"), ("aaaa", "bbbb"), ("a", "bbbb"), ("aa", "bbbb"), ("a", "bbbb"), ("cc", None)],
    cut=1,
    nudge=0,
)
@given(st.sampled_from(sorted(TEMPLATES)), turns, st.integers(0, 8), st.integers(-2, 2))
@scaled(0.3)
def test_as_many_turns_stay_as_fit_in_whatever_order_the_history_grew(
    name: str, drawn: list[tuple[str, str | None]], cut: int, nudge: int
) -> None:
    history = spoken(drawn)
    begins = [place for place, message in enumerate(history) if message["role"] == "user"]
    edge = history[begins[min(cut, len(begins) - 1)] :]
    limit = max(1, Assembler(dialect=OPEN[name]).add_messages(edge).build().count.tokens + nudge)
    grown = Assembler(Budget(limit), dialect=OPEN[name], on_overflow=TrimOldest())
    for stop, message in enumerate(history, 1):
        expected = kept_by_trying(name, history[:stop], limit)
        assert kept(grown.add_message(message)) == expected
        cold = Assembler(Budget(limit), dialect=OPEN[name], on_overflow=TrimOldest()).add_messages(history[:stop])
        assert kept(cold) == expected


@pytest.mark.parametrize("turns", [1, 2, 3, 9])
def test_nothing_is_dropped_if_everything_fits_only_without_the_note_for_dropped_turns(turns: int) -> None:
    """With one turn less the note made the request larger. The search ended there."""
    history = [*talk(turns), {"role": "user", "content": "And now?"}]
    policy = TrimOldest(note="What was said before is left out, because it did not fit into the window. " * 3)
    for name, dialect in OPEN.items():
        whole = Assembler(dialect=dialect).add_messages(history).build().count.tokens
        fits = Assembler(Budget(whole), dialect=dialect, on_overflow=policy).add_messages(history)
        assert kept(fits) == len(history), name
        tight = Assembler(Budget(whole - 1), dialect=dialect, on_overflow=policy).add_messages(history)
        assert kept(tight) != len(history), name


@pytest.mark.parametrize("ladder", [[ClearToolResults(), TrimOldest()], [Truncate(20), TrimOldest()], [KeepRelevant()]])
def test_a_ladder_drops_nothing_while_the_whole_history_fits(ladder: list[Any]) -> None:
    """Policies were asked as soon as the estimates were too large, by up to a half of the request."""
    history = [
        *talk(6),
        {"role": "user", "content": "Find it."},
        *answered(call("c1")),
        {"role": "user", "content": "?"},
    ]
    for name, dialect in {**OPEN, "calling": chat_template(tokenizer_of(LLAMA.replace("tojson", "length")))}.items():
        whole = Assembler(dialect=dialect).add_messages(history).build()
        fitted = Assembler(Budget(whole.count.upper), dialect=dialect, on_overflow=ladder).add_messages(history)
        assert fitted.build().request() == whole.request(), name
        tight = Assembler(Budget(whole.count.upper - 1), dialect=dialect, on_overflow=ladder).add_messages(history)
        assert tight.build().request() != whole.request(), name


def test_a_word_that_costs_less_after_a_blank_takes_no_place_from_an_older_turn() -> None:
    """Its tokens alone were taken to be the least that it costs, but for one at each end."""
    letters = [*sorted(pre_tokenizers.ByteLevel.alphabet())]
    steps = [("Ġtable"[:end], "Ġtable"[end]) for end in range(1, 6)]
    pieces = dict.fromkeys([*letters, *("".join(step) for step in steps)])
    engine = Tokenizer(models.BPE(vocab={piece: place for place, piece in enumerate(pieces)}, merges=steps))
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    kind: Any = PreTrainedTokenizerFast
    tokenizer = kind(tokenizer_object=engine)
    tokenizer.chat_template = "{% for m in messages %}{{ m.role }} {{ m.content }}\n{% endfor %}"
    dialect = chat_template(tokenizer)
    for turns in range(1, 12):
        newer = [("user", "7"), ("assistant", "8")] * turns
        history = [("user", "table"), ("assistant", "table"), *newer, ("user", "9")]
        whole = Assembler(dialect=dialect).add_messages(history).build().count.upper
        for window in (whole, whole + 1):
            fitted = Assembler(Budget(window), dialect=dialect, on_overflow=TrimOldest()).add_messages(history)
            assert kept(fitted) == len(history)


def firsts(name: str, window: int, policy: Any, history: list[dict[str, Any]]) -> list[int]:
    """Where each build of a session begins."""
    assembler = Assembler(Budget(window), dialect=OPEN[name], on_overflow=policy)
    return [place - left for place, one in enumerate(history, 1) if (left := kept(assembler.add_message(one)))]


@pytest.mark.parametrize("policy", [TrimOldest(0.5), TrimOldest(0.8), TrimOldest("auto")], ids=str)
def test_a_mark_never_moves_back_under_a_template_that_repeats_each_text(policy: Any) -> None:
    """A repeated text was priced once, so the kept messages were too large at each build, and each build cut again."""
    begins = firsts("wordy", 700, policy, talk(40))
    assert begins == sorted(begins)
    assert len(set(begins)) < len(begins) / 2


GROWING = sorted(TEMPLATES.keys() - {"closing"})
"""The templates whose requests never become shorter as a message is added. Else a history may fit that did not."""


@given(st.sampled_from(GROWING), turns, st.sampled_from([0.3, 0.5, 0.8, "auto"]), st.integers(60, 300))
@scaled(0.3)
def test_a_mark_never_moves_back_in_a_session(
    name: str, drawn: list[tuple[str, str | None]], mark: Any, window: int
) -> None:
    begins = firsts(name, window, TrimOldest(mark), spoken(drawn))
    assert begins == sorted(begins)


@pytest.mark.parametrize("name", ["chatml", "merging", "trimming"])
@pytest.mark.parametrize("mark", [0.5, "auto"])
def test_a_mark_never_moves_back_from_the_cut_of_a_billed_request(name: str, mark: Any) -> None:
    """Each bill leaves a different number of tokens, for which a replay of the history would cut elsewhere."""
    assembler = Assembler(Budget(500), dialect=OPEN[name], on_overflow=TrimOldest(mark))
    begins: list[int] = []
    for place, message in enumerate(talk(30), 1):
        context = assembler.add_message(message).build()
        begins.append(place - len(context.messages))
        if place % 2:
            assembler.anchor(calibrate(context, context.count.tokens + 7))
    assert begins == sorted(begins)
    assert len(set(begins)) > 3


@pytest.mark.parametrize("answer", [None, "a"])
def test_a_turn_of_one_letter_stays_under_a_template_that_repeats_each_text(answer: str | None) -> None:
    history = spoken([("?", answer), ("?", answer)])
    limit = Assembler(dialect=OPEN["wordy"]).add_messages(history).build().count.tokens
    assembler = Assembler(Budget(limit), dialect=OPEN["wordy"], on_overflow=TrimOldest())
    assert kept(assembler.add_messages(history)) == len(history)


@example(  # the note goes with the only turn that is not pinned: the whole costs less than what was kept and that turn
    drawn=[
        *[("?", "a" * 11), ("?", "a"), ("aaaaaé?", None), ("?", "")],
        *[("aaaaaa?", "a"), ("?", None), ("aaé?", ""), ("?", None)],
    ],
    keep=1,
    pins={0},
    limit=162,
)
@given(turns, st.integers(1, 3), st.sets(st.integers(0, 3), max_size=2), st.integers(40, 400))
@scaled(0.5)
def test_protected_turns_and_a_note_are_weighed_too(
    drawn: list[tuple[str, str | None]], keep: int, pins: set[int], limit: int
) -> None:
    history = spoken(drawn)
    policy = TrimOldest(keep_turns=keep, pins={pin for pin in pins if pin < len(history)}, note="(left out)")
    settings: dict[str, Any] = {"dialect": OPEN["chatml"], "on_overflow": policy}
    try:
        context = Assembler(Budget(limit), **settings).add_messages(history).build()
    except ContextLengthError:
        return
    assert context.count.tokens == len(context.request()["prompt_token_ids"]) <= limit
    more = [item.index for item in context.dropped]
    if not more:
        return
    begins = [place for place, message in enumerate(history) if message["role"] == "user"]
    next_turn = max(begin for begin in begins if begin <= more[-1])
    wider = sorted({*range(next_turn, len(history)), *(i for i in range(len(history)) if i not in more)})
    noted = [{"role": "user", "content": "(left out)"}] if len(wider) < len(history) else []
    weight = Assembler(dialect=OPEN["chatml"]).add_messages([*noted, *(history[i] for i in wider)]).build().count
    assert weight.tokens > limit


@pytest.mark.parametrize("window", [400, 100_000])
def test_the_count_by_rules_after_a_bill_is_that_of_the_whole_request(window: int) -> None:
    for name, dialect in OPEN.items():
        assembler = Assembler(Budget(window), dialect=dialect, on_overflow=TrimOldest()).add_messages(talk(20))
        for message in talk(3, since=60):
            context = assembler.add_message(message).build()
            assert context.by_rule == count_request(context.request(), dialect=dialect), name
            assembler.anchor(calibrate(context, context.by_rule.tokens + 7))
            again = assembler.build()
            assert again.by_rule == count_request(again.request(), dialect=dialect), name
            assert again.request() != context.request() or again.count.tokens == context.by_rule.tokens + 7
