"""Policies at the exact token, letter and turn where their answer changes, without a build around them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from assembler import Assembler, PlanError
from assembler.conversation.messages.parts import compact_json
from assembler.conversation.summary_request import UnansweredError
from assembler.dialects import plain
from assembler.policies import (
    ClearReasoning,
    ClearToolResults,
    Fetch,
    KeepRelevant,
    KeepsAll,
    KeepsNewest,
    Offload,
    Refuse,
    Summarize,
    Traits,
    TrimOldest,
    TrimSteps,
    Truncate,
    relevance,
)
from assembler.policies.contract import read_changes, verify_cut
from assembler.policies.fetch import MOST_PLACES
from assembler.policies.passage import Change, PassageView
from assembler.policies.relevance import BM25, Cosine, words
from assembler.policies.summarize import HEADING
from assembler.policies.traits import (
    active_rungs,
    asks,
    cuts_only_on_overflow,
    find_trimmer,
    make_briefest,
    rung_of,
    stand_in,
    without_mark,
)
from assembler.policies.truncate import EMPTIED, MARKER, NOTHING_ASKED, cut_json, cut_text
from assembler.pricing.ledger import Cut, Ledger
from budgets import Budget, BudgetError
from tests.assembler.by_hand import History, Tally, auto_cut

from .test_offload import passage_of, talk


def ledger_of(*sizes: int) -> Ledger:
    history: History = [{"role": "user", "content": "x" * size} for size in sizes]
    return Assembler(Budget(10_000, counter=len)).add_messages(history).build().inside.ledger


def test_a_replay_is_kept_with_its_tokens_and_made_once() -> None:
    ledger, policy = ledger_of(*[10] * 20), TrimOldest(low_water=0.5)
    cut = policy.cut(ledger, 100)
    kept = ledger.prices.replays.find(policy)
    assert kept is not None
    assert (kept.policy, kept.limit, kept.first, kept.stop) == (policy, 100, cut.first_kept, 17)
    assert policy.cut(ledger, 100) == cut
    assert ledger.prices.replays.find(policy) is kept


def test_a_cut_says_how_far_it_went_down() -> None:
    ledger = ledger_of(*[10] * 20)
    assert TrimOldest(low_water=0.5).cut(ledger, 100).reason == "cut down to 50% of the tokens left"
    assert TrimOldest(low_water="auto").cut(ledger, 100).reason == "cut down by how full the window was so far"
    assert TrimOldest().cut(ledger, 100).reason == "older turns do not fit"


@pytest.mark.parametrize("share", [None, 1.0])
def test_a_note_takes_its_tokens_from_those_of_the_turns(share: float | None) -> None:
    ledger, policy = ledger_of(*[10] * 20), TrimOldest(low_water=share, note="n" * 10)
    assert [policy.cut(ledger, tokens).first_kept for tokens in (99, 100, 109, 110)] == [12, 11, 11, 10]


def test_texts_are_shortened_the_longest_first_and_of_equal_ones_the_oldest() -> None:
    history: History = [{"role": "user", "content": "x" * size} for size in (30, 20, 40, 30)]
    assert [list(change.messages) for change in Truncate(19).rewrites(passage_of(history))] == [[2], [0], [3], [1]]
    assert [list(change.messages) for change in Truncate(20).rewrites(passage_of(history))] == [[2], [0], [3]]
    assert [list(change.messages) for change in Truncate(40).rewrites(passage_of(history))] == []


@pytest.mark.parametrize(
    ("where", "left"), [("head", "abc" + MARKER), ("tail", MARKER + "xyz"), ("ends", "ab" + MARKER + "z")]
)
def test_the_policy_decides_which_end_of_a_text_stays(where: Any, left: str) -> None:
    history: History = [{"role": "user", "content": "ab" + "c" * 40 + "xyz"}, {"role": "user", "content": "n"}]
    (change,) = Truncate(len(MARKER) + 3, where).rewrites(passage_of(history))
    (message,) = change.messages.values()
    assert message is not None
    assert message.parts == (left,)


def test_a_summarizer_is_not_asked_about_no_turn() -> None:
    asked: list[Any] = []

    def write(*arguments: Any) -> str:
        asked.append(arguments)
        return "s"

    ledger = ledger_of(30, 30, 30)
    for keep in (3, 4):
        cut = Summarize(write, keep).cut(ledger, 80)
        assert (cut.first_kept, cut.reason, asked) == (0, "too few turns to summarise", [])
    with pytest.raises(UnansweredError):
        Summarize(write, 1).cut(ledger, 80)


def test_a_summarizer_that_cannot_be_called_is_refused_with_what_it_takes() -> None:
    with pytest.raises(BudgetError, match=r"cannot be called with three arguments, but with \(a, b\); write"):
        Summarize(lambda a, b: "")  # type: ignore[arg-type, misc]
    assert Summarize(None).summarizer is None


def test_a_text_that_is_too_short_to_cost_too_much_is_not_counted() -> None:
    counted = Tally()
    passage: Any = SimpleNamespace(count=counted)
    found = [Truncate(40)._measure_excess("x" * size, passage) for size in (10, 11, 40, 41)]  # pyright: ignore[reportPrivateUsage]
    assert (found, [len(text) for text in counted.texts]) == ([0, 0, 0, 41], [11, 40, 41])


@pytest.mark.parametrize("where", ["ends", "head", "tail"])
def test_a_text_keeps_as_many_letters_as_its_limit_holds_with_the_marker(where: Any) -> None:
    for size in range(1, 24):
        text = "abcdefghijklmnopqrstuvwx"[:size]
        for limit in range(size + 2):
            kept = limit - len(MARKER)
            head = {"ends": (kept + 1) // 2, "head": kept, "tail": 0}[where]
            cut = text[:head] + MARKER + text[size - (kept - head) :]
            assert cut_text(text, limit, len, where) == (text if size <= limit else None if kept < 0 else cut)


def test_a_mark_that_follows_the_growth_is_where_living_through_the_session_puts_it() -> None:
    for sizes in ([10] * 40, [30, 5, 5, 5] * 10, [3, 60, 1] * 12, list(range(1, 40))):
        ledger = ledger_of(*sizes)
        cuts = [
            TrimOldest(low_water="auto").cut(ledger.until(length), 100).first_kept for length in (9, 25, len(sizes))
        ]
        assert cuts == [auto_cut([[size] for size in sizes[:length]], 100) for length in (9, 25, len(sizes))]


def test_a_score_forgets_all_at_once_if_its_memory_outgrows_its_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relevance, "_REMEMBERED", 4)
    remembered, asked = relevance._Remembered[str](), list[str]()  # pyright: ignore[reportPrivateUsage]

    def find(texts: list[str]) -> list[str]:
        asked.extend(texts)
        return [text.upper() for text in texts]

    for texts, new in (
        (["aa", "aa"], ["aa"]),
        (["aa", "bb"], ["bb"]),  # as much as is remembered
        (["aa", ""], [""]),
        (["c"], ["c"]),  # more: all is forgotten but this
        (["aa"], ["aa"]),
        (["dddd", "c"], ["dddd"]),
        (["", "dddd"], [""]),  # as much as is remembered again
        (["dddd"], []),
        (["eeeee"], ["eeeee"]),
        (["eeeee"], ["eeeee"]),  # too much to be remembered at all
    ):
        asked.clear()
        assert (remembered.of(texts, find), asked) == ([text.upper() for text in texts], new), texts


def test_a_score_forgets_all_vectors_if_short_texts_have_too_many_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relevance, "_NUMBERS", 6)
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[1.0, 2.0] for _ in texts]

    score = Cosine(embed)
    for texts, new in (
        (["a", "b"], ["?", "a", "b"]),  # as much as is remembered
        (["a", "b"], []),
        (["c"], ["c"]),  # more: all is forgotten but this
        (["c"], ["?"]),
        (["c", "a"], ["a"]),
        (["d", "e", "f", "g"], ["d", "e", "f", "g"]),  # too much to be remembered at all
        (["d"], ["?", "d"]),
    ):
        asked.clear()
        assert score("?", texts) == pytest.approx([1.0] * len(texts))
        assert asked == new, texts


def test_the_texts_in_arguments_keep_half_as_much_until_they_fit() -> None:
    asked = {"a": "x" * 200, "b": ["y" * 116, "z" * 117], "c": 7}
    text = json.dumps(asked)
    assert (len(text) // 2, len(text) // 4, len(text) // 8) == (232, 116, 58)
    shorter = {"a": "x" * 58 + MARKER + "x" * 58, "b": ["y" * 116, "z" * 58 + MARKER + "z" * 58], "c": 7}
    limit = len(compact_json(shorter))
    assert json.loads(cut_json(text, limit, len) or "") == shorter
    a, y, z = (letter * 29 + MARKER + letter * 29 for letter in "xyz")
    assert json.loads(cut_json(text, limit - 1, len) or "") == {"a": a, "b": [y, z], "c": 7}
    assert json.loads(cut_json(json.dumps({"a": "x" * 5_000}), 4_200, len) or "")["a"].count("x") == 4_096


@pytest.mark.parametrize("text", ['"a text"', "[1]", '{"a": ', '{"a": NaN}', '{"a": "\\ud800"}', "[" * 100_000])
def test_arguments_that_no_api_can_carry_are_emptied_as_far_as_fits(text: str) -> None:
    assert cut_json(text, len(EMPTIED), len) == EMPTIED
    assert cut_json(text, len(EMPTIED) - 1, len) == NOTHING_ASKED
    assert cut_json(text, len(NOTHING_ASKED), len) == NOTHING_ASKED
    assert cut_json(text, len(NOTHING_ASKED) - 1, len) is None


def test_a_step_is_dropped_though_an_empty_text_came_with_its_results() -> None:
    def step(name: str, text: str) -> History:
        call = {"type": "tool_use", "id": name, "name": "f", "input": {}}
        answer = {"type": "tool_result", "tool_use_id": name, "content": "r"}
        words = [answer, {"type": "text", "text": text}]
        return [{"role": "assistant", "content": [call]}, {"role": "user", "content": words}]

    history: History = [{"role": "user", "content": "q"}, *step("a", ""), *step("b", "!"), *step("c", "")]
    changes = TrimSteps(0).rewrites(passage_of([*history, {"role": "assistant", "content": "done"}]))
    assert [list(change.messages) for change in changes] == [[1, 2], [5, 6]]


@pytest.mark.parametrize("keep", [0, 1, 2])
def test_the_last_step_stays_if_the_model_would_otherwise_speak_last(keep: int) -> None:
    history = [*talk()[:1], {"role": "assistant", "content": "so"}, *talk("a", "b")[1:]]
    ledger = Assembler(Budget(10_000, counter=len)).add_messages(history).build().inside.ledger
    gone: dict[int, Any] = {}
    for change in TrimSteps(keep).rewrites(PassageView(ledger, gone, None, [(0, ledger.length)], 0)):
        gone |= change.messages
    assert list(gone) == [[2, 3], [2, 3], []][keep]


def test_a_result_of_exactly_the_least_size_is_stored_whatever_its_characters_cost() -> None:
    history = talk("\U0001f600" * 5)

    def by_bytes(text: str) -> int:
        return len(text.encode())

    ledger = Assembler(Budget(10_000, counter=by_bytes)).add_messages(history).build().inside.ledger
    passage = PassageView(ledger, {}, None, [(0, ledger.length)], 0)
    assert len(list(Offload({}, min_tokens=20).rewrites(passage))) == 1
    assert not list(Offload({}, min_tokens=21).rewrites(passage))


@pytest.mark.parametrize(
    ("preview", "shown"), [(0, ""), (1, ""), (11, "\nabcde" + MARKER + "hijkl"), (12, "\nabcdefghijkl")]
)
def test_a_preview_shows_a_short_text_whole(preview: int, shown: str) -> None:
    (change,) = Offload({}, min_tokens=1, preview=preview).rewrites(passage_of(talk("abcdefghijkl")))
    (message,) = change.messages.values()
    assert message is not None
    assert message.parts[0].parts[0].partition("gives it back]")[2] == shown  # type: ignore[union-attr]


def test_the_least_relevant_turn_goes_first_and_of_equal_ones_the_older() -> None:
    def score(question: str, texts: Any) -> list[float]:
        assert (question, list(texts)) == ("e", ["a", "b", "c"])
        return [1.0, 0.0, 0.0]

    history: History = [{"role": "user", "content": letter} for letter in "abcde"]
    changes = list(KeepRelevant(score).rewrites(passage_of(history)))
    assert [(list(change.messages), change.reason) for change in changes] == [
        ([1], "turn dropped as less relevant"),
        ([2], "turn dropped as less relevant"),
        ([0], "turn dropped as less relevant"),
    ]
    assert not list(KeepRelevant(score, keep_turns=5).rewrites(passage_of(history)))


@pytest.mark.parametrize(("first", "lawful"), [(-1, False), (0, True), (1, False), (2, True), (3, False), (4, False)])
def test_a_cut_is_lawful_at_the_start_of_a_turn_and_its_error_says_where_it_may_be(first: int, lawful: bool) -> None:
    history: History = [{"role": role, "content": "x"} for role in ("user", "assistant", "user", "assistant")]
    ledger = Assembler(Budget(100, counter=len)).add_messages(history).build().inside.ledger
    cut = Cut(first, "")
    if lawful:
        assert verify_cut(object(), cut, ledger) is cut
        return
    beyond = first not in range(4)
    text = "it must keep from 0 to 3" if beyond else "where no turn begins; cut at the start of a turn"
    with pytest.raises(PlanError, match=f"object keeps from message {first}[;,] {text}"):
        verify_cut(object(), cut, ledger)


@pytest.mark.parametrize("first", [0, 1, 2])
def test_before_any_turn_begins_only_a_cut_at_the_end_is_lawful(first: int) -> None:
    history: History = [{"role": "system", "content": "x"}]
    ledger = Assembler(Budget(100, counter=len)).add_messages(history).plan().inside.ledger
    assert (ledger.first, ledger.length) == (1, 1)
    if first == 1:
        assert verify_cut(object(), Cut(first, ""), ledger).first_kept == 1
    else:
        with pytest.raises(PlanError, match=f"keeps from message {first}"):
            verify_cut(object(), Cut(first, ""), ledger)


def test_the_error_for_an_answer_without_changes_shows_its_type() -> None:
    class Odd:
        def rewrites(self, passage: Any) -> Any:
            return 7

    with pytest.raises(PlanError, match=r"Odd answers rewrites\(\) with int; yield Change values"):
        list(read_changes(Odd(), passage_of(talk())))


def test_a_search_continues_after_the_part_that_it_has_shown() -> None:
    body = "needle" + "." * 100 + "Needle" + "." * 700 + "NEEDLE"
    found = Fetch({"a": body})("a", search="needle").split("\n")
    assert found == [f"[from 0] {body[:206]}", f"[from 612] {body[612:]}"]
    assert (
        Fetch({"a": body})("a", start=1, stop="soon", search="needle")
        == "\n".join(  # type: ignore[arg-type]
            [f"[from 1] {body[1:312]}", f"[from 612] {body[612:]}"]
        )
    )
    assert Fetch({"a": body})("a", stop=6, search="needle.") == "None of these 6 characters hold this text."


def test_a_passage_lists_the_kept_messages_in_either_order() -> None:
    ledger = ledger_of(1, 2, 3, 4, 5, 6)
    message = ledger.reading(0)
    passage = PassageView(ledger, {2: None, 4: message}, None, [(1, 3), (4, 6)], 5)
    assert [index for index, _ in passage] == [1, 4, 5]
    assert [index for index, _ in passage.newest_first()] == [5, 4, 1]
    assert [index for index in range(-1, 8) if passage.holds(index)] == [1, 2, 4, 5]
    assert (passage.current(4), passage.current(2)) == (message, ledger.reading(2))
    assert [passage.price_of(index).upper for index in range(7)] == [0, 2, 0, 0, 1, 6, 0]
    assert (list(passage.turns()), passage.turn_of(4), passage.turn_of(2)) == ([[1], [4], [5]], [4], [])
    assert [passage.turn_from_the_end(number) for number in (1, 2, 9)] == [5, 4, 0]
    gains = passage.gains(Change({1: None, 5: message, 4: None}, ""))
    assert {index: gained.saved for index, gained in gains.items()} == {1: 2, 5: 5, 4: 1}


class Marked:
    """A policy of one's own with a mark, that keeps the newest turns that fit."""

    traits = Traits(keeps=KeepsNewest(2), low_water=0.5, unmarked=TrimOldest())

    def cut(self, ledger: Any, tokens_left: int) -> Cut:
        raise AssertionError("nobody asks it")


def test_the_pipeline_learns_of_a_ladder_what_its_policies_declare() -> None:
    refuse, trim, low, marked = map(rung_of, (Refuse(), TrimOldest(), TrimOldest(low_water=0.5), Marked()))
    clear, chosen, model = map(rung_of, (ClearReasoning(), KeepRelevant(), Summarize(lambda *_: "")))
    assert find_trimmer((trim,)) == (trim, trim.traits.keeps)
    assert [find_trimmer(rungs) for rungs in ((refuse,), (low,), (marked,), (clear,), (trim, clear), ())] == [None] * 6
    assert (active_rungs((refuse, trim)), active_rungs((refuse,)), active_rungs((refuse, refuse))) == (
        (trim,),
        (refuse,),
        (refuse,),
    )
    assert isinstance(refuse.traits.keeps, KeepsAll)
    assert [cuts_only_on_overflow(rungs) for rungs in ((refuse,), (trim,), (low,), (marked,), (clear, low))] == [
        True
    ] * 5
    assert [
        cuts_only_on_overflow(rungs) for rungs in ((clear,), (chosen,), (trim, clear), (chosen, low), (model,))
    ] == [False] * 5
    assert [asks(rung) for rung in (trim, model, stand_in(model))] == [False, True, True]
    assert (stand_in(trim), make_briefest(trim), without_mark(trim)) == (trim, trim, trim)
    assert [stand_in(model).name, make_briefest(model).name, model.name] == [
        "StandingSummary",
        "BriefestSummary",
        "Summarize",
    ]
    assert without_mark(low).policy == TrimOldest()


def test_the_weight_of_a_word_is_that_of_its_formula_for_one_text_and_none() -> None:
    from math import log1p

    assert BM25()("a", ["a b"]) == [pytest.approx(log1p(0.5 / 1.5) * 2.2 / 2.2)]
    assert BM25()("a", ["!", "?"]) == [0.0, 0.0]
    assert BM25()("a", []) == []


def test_texts_of_one_result_are_shortened_as_lines_of_one() -> None:
    answer = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "x" * 20}] * 2}
    history: History = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
        {"role": "user", "content": [answer]},
    ]
    (change,) = Truncate(40).rewrites(passage_of(history))
    (message,) = change.messages.values()
    assert message is not None
    kept = 40 - len(MARKER)
    text = "x" * 20 + "\n" + "x" * 20
    head = (kept + 1) // 2
    assert message.parts[0].parts == (text[:head] + MARKER + text[len(text) - kept + head :],)  # type: ignore[union-attr]
    assert not list(Truncate(41).rewrites(passage_of(history)))


def test_a_cut_with_a_wrong_value_is_refused_by_the_name_of_its_policy() -> None:
    ledger = ledger_of(1, 2)
    failed: Any = ValueError()
    with pytest.raises(PlanError, match=r"^policy object reports ValueError as a failure; report an AssemblyError"):
        verify_cut(object(), Cut(1, "", failure=failed), ledger)
    model = passage_of([*talk("r")]).current(1)
    with pytest.raises(PlanError, match=r"^policy object returns a summary that is not a new user message"):
        verify_cut(object(), Cut(1, "", model), ledger)


@pytest.mark.parametrize(
    ("question", "texts", "named"), [(7, [], "question"), ("a", ["b", 7], r"texts\[1\]"), ("a", 7, "texts")]
)
def test_the_error_for_a_wrong_text_to_score_names_its_place(question: Any, texts: Any, named: str) -> None:
    with pytest.raises(BudgetError, match=rf"^{named}: "):
        BM25()(question, texts)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("truncate", "Truncate"),
        ("Summarise", "Summarize"),
        ("keep_relevant", "KeepRelevant"),
        ("OVERFLOW_POLICY", "TrimOldest"),
        ("qqqq", "TrimOldest"),
    ],
)
def test_a_text_in_place_of_a_policy_is_answered_with_the_policy_it_is_most_like(given: str, meant: str) -> None:
    with pytest.raises(BudgetError, match=f"got str; write `from assembler import {meant}`"):
        rung_of(given)


def test_traits_of_another_type_are_refused_by_that_type() -> None:
    class Odd:
        traits = {"keeps": 1}  # noqa: RUF012

        def cut(self, ledger: Any, tokens_left: int) -> Cut:
            return Cut(0, "")

    with pytest.raises(BudgetError, match=r"traits of Odd are a Traits\(…\), got dict"):
        rung_of(Odd())


def test_a_repeated_result_is_replaced_by_a_pointer_that_shows_none_of_it() -> None:
    offload = Offload({})
    (change,) = offload.rewrites(passage_of(talk("r" * 90, "r" * 90)))
    ((index, message),) = change.messages.items()
    assert message is not None
    (key,) = offload.store
    pointer = f'[the same as an earlier result; fetch_result(id="{key}") gives it back]'
    assert (index, [part.parts for part in message.parts]) == (4, [(pointer,)])  # type: ignore[union-attr]


def test_three_characters_of_a_script_without_blanks_are_two_words_and_two_are_one() -> None:
    found = [list(words(text)) for text in ("漢", "漢字", "漢字仮", "漢字仮名", "Abc_d")]
    assert found == [["漢"], ["漢字"], ["漢字", "字仮"], ["漢字", "字仮", "仮名"], ["abc", "d"]]


@pytest.mark.parametrize(("setting", "lawful"), [((0, 0), True), ((3, 1), True), ((-1, 0.5), False), ((1, 2), False)])
def test_a_weight_is_above_zero_and_the_weight_of_length_at_most_one(setting: Any, lawful: bool) -> None:
    if lawful:
        assert (BM25(*setting).k1, BM25(*setting).b) == setting
        return
    with pytest.raises(BudgetError, match="k1 is 0 or more, and b is between 0 and 1"):
        BM25(*setting)


def test_a_search_shows_so_many_places_and_no_more() -> None:
    text = ("x" * 1_000 + "y") * 40
    shown = Fetch({"1": text})("1", search="Y").splitlines()
    assert len(shown) == MOST_PLACES
    assert all(line.endswith("x" * 200) and "y" in line for line in shown)


THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}


@pytest.mark.parametrize("policy", [ClearToolResults(0), ClearReasoning(1), Truncate(20), Offload({}, min_tokens=20)])
def test_a_policy_does_not_rewrite_its_own_replacement_of_old_messages(policy: Any) -> None:
    history: list[Any] = []
    for name in "abc":
        history += [
            {"role": "user", "content": f"question {name}"},
            {
                "role": "assistant",
                "content": [THOUGHT, {"type": "tool_use", "id": name, "name": "f", "input": {"q": name * 40}}],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": name * 900}]},
            {"role": "assistant", "content": [THOUGHT, {"type": "text", "text": f"answer {name}"}]},
        ]
    ledger = Assembler(Budget(99_999, counter=len), dialect="anthropic").add_messages(history).plan().inside.ledger
    passage = PassageView(ledger, {}, policy, [(0, ledger.length)], ledger.newest_turns(1))
    whole = not isinstance(policy, Truncate)  # which writes its texts once, and puts them into a message each time

    def written() -> list[Any]:
        messages = [message for change in policy.rewrites(passage) for message in change.messages.values()]
        return messages if whole else [part for message in messages for part in message.parts]

    first, second = written(), written()
    assert len(first) >= 2
    assert all(one is other for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize(("where", "kept"), [("head", "aa"), ("tail", "zz"), ("ends", "az")])
def test_texts_in_lists_and_in_fields_are_shortened_at_the_same_end(where: Any, kept: str) -> None:
    text = "a" * 50 + "z" * 50
    found = cut_json(compact_json({"deep": [{"list": [text]}], "field": text, "n": 1}), 160, len, where)
    assert found is not None
    read = json.loads(found)
    assert read["n"] == 1
    assert read["deep"][0]["list"][0] == read["field"]
    head, _, tail = read["field"].partition(MARKER)
    joined = head + tail
    assert (joined[0] + joined[-1], bool(head), bool(tail)) == (kept, where != "tail", where != "head")


def test_the_current_summary_stays_while_the_next_one_is_only_wanted() -> None:
    ladder: list[Any] = [Summarize(None, 1), TrimOldest()]
    messages = [{"role": "user", "content": "x" * 30} for _ in range(5)]
    made = Assembler(Budget(120, counter=len), dialect=plain, on_overflow=ladder).add_messages(messages)
    wanted = made.build().wanted
    assert wanted is not None
    made.add_summary(wanted, "told")
    for _ in range(3):
        made.add_message({"role": "user", "content": "y" * 30})
        context = made.build()
        assert context.messages[0] == {"role": "user", "content": f"{HEADING}told"}
    assert context.wanted is not None
    assert context.wanted.previous == "told"


def test_a_policy_that_drops_nothing_says_so() -> None:
    assert Refuse().cut(ledger_of(3, 4), 0) == Cut(0, "refused to drop anything")
