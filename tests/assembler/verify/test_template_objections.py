"""A chat template's objections are read from its text in one pass, whatever the text is."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assembler.verify import verify

SYSTEM = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
TWICE = [{"role": "user", "content": "u"}, {"role": "user", "content": "v"}]

# The rule in one expression each: right, and far too slow for a text that somebody else wrote.
ALTERNATES = re.compile(r"raise_exception\([^)]*\balternate\b", re.IGNORECASE)
NO_SYSTEM = re.compile(r"raise_exception\([^)]*\bsystem\b[^)]*(?:\bnot\b|n't|\bun)[^)]*support", re.IGNORECASE)

SAID = ["raise_exception(", "System ", "not ", "support", "alternate ", ")"]
WORDS = ["raise_exception(", "system", "not ", "n't", " un", "support", "alternate", ")", " ", "x", "System "]


def broken(messages: list[dict[str, str]], template: str) -> set[str]:
    found = verify({"messages": messages, "chat_template": template}, dialect="chat_template")
    return {violation.rule for violation in found}


@given((st.permutations(SAID) | st.lists(st.sampled_from(WORDS), max_size=12)).map("".join))
@example("raise_exception('System role not supported')")
@example("raise_exception('roles must alternate')")
@example("raise_exception(raise_exception( system) not support")
def test_a_template_objects_where_one_of_its_exceptions_says_so(template: str) -> None:
    assert ("H2" in broken(SYSTEM, template)) == (NO_SYSTEM.search(template) is not None)
    assert ("H1" in broken(TWICE, template)) == (ALTERNATES.search(template) is not None)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "template",
    ["raise_exception(" * 40_000, "raise_exception(" + "system not " * 40_000, "raise_exception(" + "system " * 90_000],
    ids=["never closed", "a long complaint", "no complaint"],
)
def test_a_template_that_never_closes_its_exceptions_is_read_in_one_pass(template: str) -> None:
    assert not broken(SYSTEM, template)
