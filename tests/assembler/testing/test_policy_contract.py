"""The check of policies finds every seeded fault, and the library's policies pass it."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest
from hypothesis import strategies as st

from assembler.conversation.messages import Message, Result, edited, read_message, user_message
from assembler.policies import Change, Cut, KeepsAll, KeepsChosen, KeepsNewest, Passage, Policy, Traits, with_parts
from assembler.pricing.ledger import Ledger
from assembler.testing import ContractError, check_policy
from budgets import BudgetError
from tests.assembler.policies.examples import EVERY, HISTORIES, examples_of

ticks = itertools.count()
UNSAID = Traits()


@attrs.frozen
class Odd:
    """Cuts and declares what a test gives it."""

    answer: Callable[[Ledger, int], Any]
    traits: Traits = UNSAID

    def cut(self, ledger: Ledger, room: int, /) -> Cut:
        answer: Cut = self.answer(ledger, room)
        return answer


@attrs.frozen
class Editor:
    """Rewrites as a test says."""

    answer: Callable[[Passage], Iterator[Any]]
    traits: Traits = UNSAID

    def rewrites(self, passage: Passage, /) -> Iterator[Change]:
        yield from self.answer(passage)


def fitting(ledger: Ledger, room: int) -> Cut:
    return Cut(ledger.newest_that_fit(room, 1), "older turns go")


def one_less(ledger: Ledger, room: int) -> Cut:
    starts = [start for start, _ in ledger.turns()]
    first = fitting(ledger, room).first_kept
    return Cut(max((s for s in starts if s <= first), default=first) if first == starts[0] else starts[0], "less")


def oldest_goes(ledger: Ledger, room: int) -> Cut:
    starts = sorted(start for start, _ in ledger.turns())
    fits = fitting(ledger, room).first_kept
    return Cut(min((s for s in starts if s > fits), default=starts[-1]), "one more than must")


def contrary(ledger: Ledger, room: int) -> Cut:
    starts = sorted(start for start, _ in ledger.turns())
    fits = starts.index(fitting(ledger, room).first_kept)
    return Cut(starts[fits if room % 2 else -1], "odd rooms hold more")


def by_the_call(ledger: Ledger, room: int) -> Cut:
    return Cut(ledger.newest_turns(1 + next(ticks) % 2), "now and then")


def noted_at_length(ledger: Ledger, room: int) -> Cut:
    return Cut(ledger.newest_turns(1), "noted", user_message("gone " * 9_000))


def scribbling(passage: Passage) -> Iterator[Change]:
    for _, message in passage:
        raw: Any = message.raw
        raw["seen_by"] = "odd"
    yield from ()


def first_words(passage: Passage, kept: Callable[[str], str]) -> Iterator[Change]:
    for index, message in passage:
        if any(isinstance(part, str) for part in message.parts) and message.role == "assistant":
            parts = [kept(part) if isinstance(part, str) else part for part in message.parts]
            yield Change({index: edited(message, parts)}, "fewer words")


def as_the_user(passage: Passage) -> Iterator[Change]:
    for index, message in passage:
        if message.role == "assistant":
            yield Change({index: read_message({"role": "user", "content": "."}, 0)}, "spoken by another")


def without_results(passage: Passage) -> Iterator[Change]:
    for index, message in passage:
        if message.result_ids:
            yield Change({index: None}, "results go")


def by_rank(passage: Passage) -> Iterator[Change]:
    for rank, turn in enumerate(list(passage.turns())[:-1]):
        if rank % 2 == 0:
            yield Change(dict.fromkeys(turn), "every other turn")


def without_end(passage: Passage) -> Iterator[Change]:
    for index, message in itertools.cycle(list(passage)):
        yield Change({index: message}, "again")


def without_questions(passage: Passage) -> Iterator[Change]:
    for turn in passage.turns():
        if turn[0] < passage.newest and len(turn) > 1 and not passage.current(turn[-1]).result_ids:
            yield Change({turn[-1]: None}, "the end of an older turn goes")


def without_media(passage: Passage, kind: str, placeholder: Callable[[], str]) -> Iterator[Change]:
    """Write a text in place of each image or document of the older turns."""
    for index, message in passage:
        shown = [getattr(part, "kind", None) == kind for part in message.parts]
        if index < passage.newest and any(shown):
            parts = [placeholder() if of_kind else part for of_kind, part in zip(shown, message.parts, strict=True)]
            yield Change({index: edited(message, parts)}, f"{kind} replaced")


@attrs.define
class Remembering:
    """Gives each ledger the answer that it got first."""

    answers: list[tuple[Ledger, Cut]] = attrs.field(factory=list)

    def cut(self, ledger: Ledger, room: int, /) -> Cut:
        for known, answer in self.answers:
            if known is ledger:
                return answer
        self.answers.append((ledger, fitting(ledger, room // 2 if len(self.answers) % 2 else room)))
        return self.answers[-1][1]


def last_words(ledger: Ledger) -> str:
    return next((part for part in ledger.reading(ledger.length - 1).parts if isinstance(part, str)), "")


FAULTS: dict[str, tuple[str, Policy]] = {
    "a reason quotes": (
        "quote no message",
        Odd(lambda ledger, room: Cut(fitting(ledger, room).first_kept, f"not {ledger.reading(ledger.first).parts}")),
    ),
    "a reason quotes the first words": (
        "quote no message",
        Odd(lambda ledger, room: Cut(fitting(ledger, room).first_kept, f"not {last_words(ledger)[:20]}…")),
    ),
    "it cuts a turn short and declares that it drops whole ones": (
        "only whole turns",
        Editor(without_questions, Traits(keeps=KeepsChosen())),
    ),
    "it never acts": ("in some case.*nothing was checked; pass texts", Editor(lambda _: iter(()))),
    "it never cuts, and does not declare that": (
        "in some case",
        Odd(lambda ledger, _: Cut(ledger.first, "kept")),
    ),
    "it answers as it did at first": ("same ledger and tokens left", Remembering()),
    "it raises": ("raises nothing; raised KeyError", Odd(lambda _ledger, _room: {}["x"])),
    "it counts its calls": ("same ledger and tokens left", Odd(by_the_call)),
    "it cuts inside of a turn": ("lawful", Odd(lambda ledger, _: Cut(ledger.length - 1, "the last message"))),
    "it drops the newest turn": ("lawful", Odd(lambda ledger, _: Cut(ledger.length, "nothing"))),
    "it returns an index": ("lawful", Odd(lambda ledger, _: ledger.first)),
    "a note is longer than what went": ("nothing grow", Odd(noted_at_length)),
    "it gives up too soon": (
        "least that it keeps",
        Odd(lambda ledger, room: Cut(ledger.first if room else ledger.newest_turns(1), "all or nothing")),
    ),
    "it always drops one more": ("idempotent", Odd(oldest_goes)),
    "it keeps less than it declares": ("2 newest turns", Odd(fitting, Traits(keeps=KeepsNewest(2)))),
    "it drops, and declares that it does not": ("KeepsAll", Odd(fitting, Traits(keeps=KeepsAll()))),
    "more tokens left keep less": ("never keep less|as many|idempotent", Odd(contrary, Traits(keeps=KeepsNewest()))),
    "it keeps less than fits": (
        "as many turns",
        Odd(lambda ledger, _: Cut(ledger.newest_turns(1), "the newest"), Traits(keeps=KeepsNewest())),
    ),
    "it writes into messages": ("changes nothing", Editor(scribbling)),
    "it writes other words each time": (
        "same ledger and tokens left",
        Editor(lambda passage: first_words(passage, lambda text: str(next(ticks)))),
    ),
    "it shortens what it shortened": (
        r"idempotent; asked again it rewrote message (\d+)\b.*; first it rewrote message \1\b",
        Editor(lambda passage: first_words(passage, lambda text: text[: len(text) // 2 or 1])),
    ),
    "it chooses turns by their rank": (
        r"idempotent; asked again it dropped message \d+.*; first it dropped message \d",
        Editor(by_rank),
    ),
    "it writes another text for an image each time": (
        "same ledger and tokens left",
        Editor(lambda passage: without_media(passage, "image", lambda: f"An image was here. {next(ticks)}")),
    ),
    "it replaces a document and declares that it drops whole turns": (
        "only whole turns",
        Editor(lambda p: without_media(p, "document", lambda: "A file was here."), Traits(keeps=KeepsChosen())),
    ),
    "it changes who speaks": ("the role, the calls or the results", Editor(as_the_user)),
    "results go without their calls": ("lawful", Editor(without_results)),
    "it never ends": ("proposals end", Editor(without_end)),
    "it rewrites what it keeps": (
        "newest turns stay",
        Editor(lambda passage: first_words(passage, lambda text: text[:3]), Traits(keeps=KeepsNewest(9))),
    ),
}


QUICK = (
    "a reason quotes",
    "a reason quotes the first words",
    "it never acts",
    "it raises",
    "it cuts inside of a turn",
    "it drops the newest turn",
    "it writes into messages",
    "it never ends",
    "it chooses turns by their rank",
    "it writes another text for an image each time",
    "it replaces a document and declares that it drops whole turns",
)
"""Found by few examples; the others are looked for by `make slow`."""


@pytest.mark.usefixtures("unshrunk")
@pytest.mark.parametrize(
    "fault", [*QUICK, *(pytest.param(each, marks=pytest.mark.slow) for each in FAULTS if each not in QUICK)]
)
def test_a_seeded_fault_of_a_policy_is_found(fault: str) -> None:
    breach, policy = FAULTS[fault]
    with pytest.raises(ContractError, match=breach) as raised:
        check_policy(policy, max_examples=30)
    assert raised.value.subject in {"Odd", "Editor", "Remembering"}


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(policy, marks=pytest.mark.slow) if policy in examples_of(type(policy))[1:] else policy
        for policy in EVERY
    ],
    ids=lambda policy: type(policy).__name__,
)
def test_the_library_s_own_policies_keep_the_contract(policy: Policy) -> None:
    check_policy(policy, histories=HISTORIES.get(type(policy), ()), max_examples=5)


def test_a_policy_that_declares_nothing_keeps_the_contract() -> None:
    check_policy(Odd(fitting), max_examples=5)


@pytest.mark.parametrize("kind", ["image", "document"])
def test_a_policy_that_replaces_nothing_but_media_is_shown_some(kind: str) -> None:
    check_policy(Editor(lambda passage: without_media(passage, kind, lambda: f"The {kind} is gone.")), max_examples=4)


@pytest.mark.parametrize("role", ["tool", "user"])
def test_a_few_examples_show_a_policy_old_results_in_both_spellings(role: str) -> None:
    """Results as messages of their own, and as parts of user messages: thirty random examples had only one kind."""
    seen: list[Message] = []

    def look(passage: Passage) -> Iterator[Change]:
        seen.extend(message for index, message in passage if index < passage.newest and message.result_ids)
        return first_words(passage, lambda text: text[:3])

    check_policy(Editor(look), max_examples=10)
    assert any(message.role == role for message in seen)


def of_tables(passage: Passage) -> Iterator[Change]:
    """Cuts tables of a form that the check does not draw, one character shorter each time."""
    for index, message in passage:
        parts = [part[:-1] if isinstance(part, str) and part.startswith("%%") else part for part in message.parts]
        if parts != [*message.parts]:
            yield Change({index: edited(message, parts)}, "table cut")


TABLE = "%% " + "cell | " * 9
TALK = [("user", "Show it."), ("assistant", TABLE), ("user", "Thanks. Again, please.")]


@pytest.mark.usefixtures("unshrunk")
@pytest.mark.parametrize("given", [{"texts": [TABLE]}, {"histories": [TALK]}], ids=lambda given: next(iter(given)))
def test_a_fault_with_texts_of_a_form_is_found_in_those_that_are_given(given: dict[str, Any]) -> None:
    with pytest.raises(ContractError, match="nothing was checked"):
        check_policy(Editor(of_tables), max_examples=4)
    with pytest.raises(ContractError, match="idempotent"):
        check_policy(Editor(of_tables), max_examples=30, **given)


def without_log_lines(passage: Passage) -> Iterator[Change]:
    """Keeps the last line of each result that is a log, and changes nothing else."""
    for index, message in passage:
        for place, part in enumerate(message.parts):
            if isinstance(part, Result) and "LOG" in str(part.parts[0]):
                end = str(part.parts[0]).splitlines()[-1]
                yield Change({index: with_parts(message, {place: attrs.evolve(part, parts=(end,), given=None)})}, "cut")


@pytest.mark.parametrize("texts", [["other", "LOG\none\ntwo"], "LOG\none\ntwo", st.just("LOG\none\ntwo")])
def test_a_policy_that_changes_only_results_of_a_form_is_shown_some_whatever_is_drawn(texts: Any) -> None:
    check_policy(Editor(without_log_lines), texts=texts, max_examples=1)
    with pytest.raises(ContractError, match="nothing was checked"):
        check_policy(Editor(without_log_lines), texts=["other"], max_examples=1)


def test_a_failure_shows_the_smallest_case_and_no_frame_of_the_check() -> None:
    with pytest.raises(ContractError) as raised:
        check_policy(Odd(lambda ledger, _: Cut(ledger.length - 1, "the last message")), max_examples=30)
    (note,) = raised.value.__notes__
    assert note.startswith("the smallest case: ")
    assert "'content': 'aaaaaa'" in note
    assert [entry.name for entry in raised.traceback] == [
        "test_a_failure_shows_the_smallest_case_and_no_frame_of_the_check",
        "check_policy",
    ]


def test_an_error_of_the_policys_own_keeps_its_frames() -> None:
    def broken(ledger: Ledger, room: int) -> Cut:
        raise KeyError(room)

    with pytest.raises(ContractError, match="raises nothing; raised KeyError") as raised:
        check_policy(Odd(broken), max_examples=4)
    cause = raised.value.__cause__
    assert isinstance(cause, KeyError)
    assert [frame.name for frame in traceback.extract_tb(cause.__traceback__)] == ["cut", "broken"]


def test_a_class_in_place_of_its_object_is_refused() -> None:
    with pytest.raises(BudgetError, match=r"Odd is a class, not an object of it; call it: check_policy\(Odd\(\)\)"):
        check_policy(Odd)  # type: ignore[arg-type]


@pytest.mark.parametrize("texts", [[""], ["a", 3]])
def test_texts_that_are_blank_or_none_are_refused(texts: Any) -> None:
    with pytest.raises(BudgetError, match=r"texts\[\d\]: expected a text that is not blank"):
        check_policy(Odd(fitting), texts=texts, max_examples=4)
