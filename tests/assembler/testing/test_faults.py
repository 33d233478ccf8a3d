"""A broken conversation breaks the rule that it names, and no other."""

from __future__ import annotations

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from assembler.testing import broken_conversations
from assembler.testing.faults import BREACHES
from assembler.verify import rules, verify
from tests.scaled import scaled

CASES = [(dialect, rule) for dialect, breaches in BREACHES.items() for rule in breaches]

search = settings(max_examples=20, deadline=None, database=None, phases=[Phase.generate, Phase.shrink])

NOT_OF_A_HISTORY = {
    "openai_chat": {"S2", "O8", "O9", "T3", "T4"},
    "openai_responses": {"S2", "L0", "T1", "T2", "T3", "T4"},
    "anthropic": {"S2", "L0", "T1", "T2", "T3", "T4", "A11", "A15", "A16"},
    "gemini": {"S2", "S3", "S4", "G8", "L0", "T1", "T2", "T3"},
    "bedrock": {"S2", "S3", "L0", "T1", "T2", "T3", "T4", "N8", "B6"},
    "mistral": {"S2", "L0", "T1", "T2", "T3"},
    "plain": {"S2", "S4", "L0", "T1", "T2", "T3", "N6", "N8", "N9"},
}
"""Rules without a breach: of tools (L0, T1 to T4), of what JSON carries (S2), of one model (A11, A15, A16, B6, G8),
those that no other dialect could tell from another rule (S3, S4), and of marks and thinking in the neutral spelling."""


SHARED = {rule.id for rule in rules("plain")} | {"S1", "S2", "S3", "S4", "S5", "T4"}
"""Rules that no API owns: those of an API need a breach in its folder, these are broken in other spellings too."""


@pytest.mark.parametrize(("dialect", "rule"), CASES)
@scaled(0.1)
@given(data=st.data())
def test_exactly_the_named_rule_is_broken(dialect: str, rule: str, data: st.DataObject) -> None:
    broken = data.draw(broken_conversations(dialect, rule=rule))
    assert (broken.rule, broken.dialect) == (rule, dialect)
    assert {violation.rule for violation in verify(broken.request, dialect=dialect)} == {rule}
    assert any(broken.messages is value for value in broken.request.values())


@pytest.mark.parametrize("dialect", BREACHES)
def test_each_rule_of_a_history_has_its_breach(dialect: str) -> None:
    known = {rule.id for rule in rules(dialect)}
    assert set(BREACHES[dialect]) >= known - NOT_OF_A_HISTORY.get(dialect, SHARED)
    assert set(BREACHES[dialect]) <= known - NOT_OF_A_HISTORY.get(dialect, set())


@scaled(0.3)
@given(broken_conversations())
def test_without_a_rule_any_of_them_is_broken(broken: object) -> None:
    assert getattr(broken, "rule") in BREACHES["openai_chat"]  # noqa: B009 - an object for the type checker


def test_a_broken_conversation_shrinks_to_a_question_and_the_breach() -> None:
    broken = find(broken_conversations(rule="O2"), lambda _: True, settings=search)
    assert [message["role"] for message in broken.messages] == ["user", "assistant"]


def test_an_unknown_rule_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'A1' is known for openai_chat; known: O0, O1"):
        broken_conversations(rule="A1")
