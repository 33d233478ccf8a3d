"""`check_dialect` finds faults in how messages of an API's own form are edited and answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from assembler.conversation.messages import Call, Message, Part, spelling
from assembler.conversation.messages.spelling import DictSpelling
from assembler.dialects import DIALECTS
from assembler.testing import check_dialect
from assembler.testing.conformance.checking import ContractError
from assembler.testing.conformance.own_messages import OwnMessages

_FOUND = spelling.spelling_with("gemini")
assert _FOUND is not None
GEMINI: DictSpelling = _FOUND


DECLARED = spelling._load_spellings()


def put(faulty: DictSpelling, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = tuple(faulty if each is GEMINI else each for each in DECLARED)
    monkeypatch.setattr(spelling, "_load_spellings", lambda: declared)


def with_given_alone(fields: dict[str, Any], old: Sequence[Part], new: Sequence[Part | None]) -> Sequence[Part | None]:
    """Writes the object of a call, which a shortened call does not have."""
    written = [attrs.evolve(part, arguments="{}") if isinstance(part, Call) else part for part in new]
    return GEMINI.edit(fields, old, written)


def without_results(fields: dict[str, Any], old: Sequence[Part], new: Sequence[Part | None]) -> Sequence[Part | None]:
    return GEMINI.edit(fields, old, [part if type(part) in (str, Call) else before for before, part in zip(old, new)])  # noqa: B905


def unable(fields: dict[str, Any], old: Sequence[Part], new: Sequence[Part | None]) -> Sequence[Part | None]:
    raise KeyError("parts")


def promised(fields: dict[str, Any], old: Sequence[Part], new: Sequence[Part | None]) -> Sequence[Part | None]:
    """Says that it wrote what it did not write."""
    return new


def answered_for_another(call: Call, message: Message, text: str) -> dict[str, Any]:
    return GEMINI.answer(attrs.evolve(call, id="another"), message, text)


def answered_without_words(call: Call, message: Message, text: str) -> dict[str, Any]:
    return GEMINI.answer(call, message, "")


FAULTS = {
    "the object of a call alone is written": (
        r"another Call is lost.*json\.loads\(call\.arguments\)",
        with_given_alone,
    ),
    "a new result is not written": ("another Result is lost.*its new parts", without_results),
    "an edit raises": ("another str raised KeyError", unable),
    "an edit writes nothing": ("another str is lost", promised),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_seeded_fault_of_an_edit_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    breach, edit = FAULTS[fault]
    put(attrs.evolve(GEMINI, edit=edit), monkeypatch)
    with pytest.raises(ContractError, match=f"an edited message of its API reads back.*{breach}"):
        check_dialect("gemini", max_examples=1)


@pytest.mark.parametrize("answer", [answered_for_another, answered_without_words])
def test_a_seeded_fault_of_an_answer_is_found(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    put(attrs.evolve(GEMINI, answer=answer), monkeypatch)
    with pytest.raises(ContractError, match=r"a call in a message of its API can be answered.*the id of the call"):
        check_dialect("gemini", max_examples=1)


@pytest.mark.parametrize("name", DIALECTS)
def test_messages_of_the_library_s_own_dialects_can_be_edited_and_answered(name: str) -> None:
    OwnMessages(name, DIALECTS[name]).check()
