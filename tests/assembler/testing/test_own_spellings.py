"""The breaches and the rules of foreign keys find their places in the words that an API declares."""

from __future__ import annotations

from typing import Any

import pytest

from assembler.drawn import breach
from assembler.drawn.spelling import Spelling
from assembler.verify.foreign import foreign_keys
from assembler.verify.place import request_place


def unwritten(_: object) -> dict[str, Any]:
    raise AssertionError


def log() -> dict[str, Any]:
    return {
        "log": [
            {"by": "rules", "says": "Be brief."},
            {"by": "human", "blocks": [{"say": "Look."}]},
            {"by": "bot", "blocks": [{"do": "look", "mark": "c1"}]},
            {"by": "human", "blocks": [{"found": "a road", "of": "c1"}]},
            {"by": "human", "blocks": [{"say": "c1 and then?"}]},
        ]
    }


def is_said(entry: dict[str, Any]) -> bool:
    return entry["by"] == "human" and all("say" in block for block in entry["blocks"])


BOTS = Spelling("bots", "log", unwritten, unwritten, asks=is_said, ids=frozenset(["mark", "of"]))


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breach, "_load_spellings", lambda: {"log": (BOTS,), "messages": ()})


def draw_first(strategy: Any) -> Any:
    return strategy.elements[0]


DRAW: Any = draw_first


def test_the_questions_of_a_request_are_those_that_its_spelling_declares() -> None:
    assert breach.questions_in(log()) == [1, 4]


def test_a_message_at_the_front_is_before_the_first_question() -> None:
    request = log()
    breach.first({"by": "bot", "says": "Hi"})(DRAW, request)
    assert [entry["by"] for entry in request["log"][:3]] == ["rules", "bot", "human"]


def test_call_ids_are_renamed_under_the_keys_that_a_spelling_declares_and_nowhere_else() -> None:
    request = log()
    breach.with_ids("c", "d")(DRAW, request)
    assert request["log"][2]["blocks"] == [{"do": "look", "mark": "d1"}]
    assert request["log"][3]["blocks"] == [{"found": "a road", "of": "d1"}]
    assert request["log"][4]["blocks"] == [{"say": "c1 and then?"}]


def test_a_part_is_found_under_any_key_of_a_message() -> None:
    assert breach.pick(DRAW, log(), "found") == 3


@pytest.mark.parametrize(("parts", "found"), [(("blocks",), ["log[1].blocks[0].pinned"]), (("content",), [])])
def test_a_foreign_key_is_found_in_the_parts_that_a_checker_declares(parts: tuple[str, ...], found: list[str]) -> None:
    request = log()
    request["log"][1]["blocks"][0]["pinned"] = True
    violations = foreign_keys(request_place(request), frozenset(), "log", parts)
    assert [violation.where for violation in violations] == found
