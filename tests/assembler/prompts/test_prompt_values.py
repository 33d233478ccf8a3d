"""A `Prompt` is a text whose provenance survives every operation that preserves it."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, QuestionChunks
from assembler.prompts import Prompt
from assembler.prompts.marked_text import Marked
from tests.assembler.drawn import STRATEGIES


@st.composite
def prompts(draw):
    text = draw(st.text(alphabet=" ab\n", max_size=12))
    edges = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
    spans = tuple(zip(edges[::2], edges[1::2], strict=False))
    return Prompt(text, name="n", source="s", values=spans)


def colours(prompt):
    """Oracle: the set of values each character belongs to, computed one by one."""
    return [any(start <= i < stop for start, stop in prompt.values) for i in range(len(prompt))]


def test_a_prompt_is_its_text():
    prompt = Prompt("text", name="n", source="s")
    assert isinstance(prompt, str)
    assert prompt == "text"
    assert hash(prompt) == hash("text")
    assert f"{prompt}" == "text"
    assert type(str(prompt)) is type(prompt.text) is str
    assert repr(prompt) == "Prompt(name='n', source='s', 4 characters)"


@given(prompts())
def test_a_copy_is_the_same_prompt(prompt):
    for other in (copy.copy(prompt), copy.deepcopy(prompt), pickle.loads(pickle.dumps(prompt))):
        assert other == prompt
        assert (other.name, other.source, other.values) == (prompt.name, prompt.source, prompt.values)


@given(prompts(), st.integers(-14, 14), st.integers(-14, 14))
def test_a_slice_keeps_the_provenance_of_every_character(prompt, start, stop):
    cut = prompt[start:stop]
    assert str(cut) == str(prompt)[start:stop]
    assert colours(cut) == colours(prompt)[start:stop]


@given(prompts(), prompts(), st.text(max_size=4))
def test_a_sum_keeps_the_provenance_of_every_character(left, right, plain):
    assert str(left + right) == str(left) + str(right)
    assert colours(left + right) == colours(left) + colours(right)
    assert colours(plain + left + plain) == [False] * len(plain) + colours(left) + [False] * len(plain)


@given(prompts())
def test_stripping_keeps_the_provenance_of_every_character(prompt):
    for name in ("strip", "lstrip", "rstrip"):
        assert str(getattr(prompt, name)()) == getattr(str(prompt), name)()
    lead = len(prompt) - len(str(prompt).lstrip())
    stripped = prompt.strip()
    assert colours(stripped) == colours(prompt)[lead : lead + len(stripped)]
    assert str(prompt.strip("a")) == str(prompt).strip("a")


def test_spans_in_a_list_are_kept_as_pairs():
    prompt = Prompt("ab", values=[[0, 1]])  # type: ignore[arg-type]
    assert (prompt + prompt).values == ((0, 1), (2, 3))
    assert prompt.values == ((0, 1),)


def test_an_empty_value_at_the_edge_of_a_slice_stays():
    prompt = Prompt("ab", values=((1, 1),))
    assert prompt[1:].values == ((0, 0),)
    assert prompt[:1].values == ((1, 1),)


def test_an_operation_that_loses_provenance_returns_a_plain_str():
    prompt = Prompt("abc", values=((0, 1),))
    for other in (prompt[::2], prompt[0], prompt.upper(), prompt * 2, "".join([prompt, "x"])):
        assert type(other) is str


def test_a_prompt_is_frozen():
    prompt = Prompt("abc")
    with pytest.raises(AttributeError):
        prompt.values = ()
    with pytest.raises(AttributeError):
        del prompt.name
    with pytest.raises(TypeError):
        prompt + 1
    with pytest.raises(TypeError):
        1 + prompt


@pytest.mark.parametrize("values", [((-1, 1),), ((0, 4),), ((2, 1),), ((0, 2), (1, 3))])
def test_spans_outside_the_text_are_refused(values):
    with pytest.raises(ValueError, match="span"):
        Prompt("abc", values=values)


@given(prompts())
def test_the_marks_of_a_prompt_are_its_provenance(prompt):
    assert [mark == 1 for mark in Marked.of(prompt).mask] == colours(prompt)


# ── in a report


def built(strategy, instruction, knowledge):
    assembler = Assembler(strategy=strategy).add_instruction(instruction).add_knowledge(knowledge, type="rag")
    return pickle.loads(pickle.dumps(assembler.add_message(("user", "q")))).build()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_report_names_the_prompt_of_a_text_and_nothing_else_changes(strategy):
    rules, facts = Prompt("Be brief.", name="rules", source="prompts/rules.md"), Prompt("Cats purr.", name="facts")
    named, plain = built(strategy, rules, facts), built(strategy, str(rules), str(facts))
    assert named.request() == plain.request()
    assert named.costs == plain.costs
    names, unnamed = ([row.name for row in context.report.rows] for context in (named, plain))
    assert "instruction (rules, prompts/rules.md)" in names
    assert "instruction" in unnamed
    if strategy != QuestionChunks():
        assert any("facts" in name for name in names)
    assert not any("rules" in name or "facts" in name for name in unnamed)


@pytest.mark.parametrize(
    ("name", "source", "shown"),
    [
        (None, None, "instruction"),
        ("a", "a", "instruction (a)"),
        ("a\n b", None, "instruction (a b)"),
        ("", "", "instruction"),
    ],
)
def test_the_repr_of_a_prompt_is_one_line(name, source, shown):
    context = Assembler().add_instruction(Prompt("x", name=name, source=source)).build()
    assert context.report.rows[0].name == shown
    assert Assembler().add_instruction(Prompt("", name="n")).build().system is None
