"""Batches of columns: the same rows from any store, in any process, through a function that pickles."""

from __future__ import annotations

import functools
import json
import multiprocessing
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ContextLengthError, ConversationError
from assembler.batch import BatchAssembler, BatchError, Columns, OnError, Raise, Record, Skip, assemble_batch
from assembler.batch.columns import drop_missing
from assembler.batch.lines import answer
from tests.assembler.batch.made import base, for_a_model, priced_by_a_tokenizer
from tests.assembler.drawn import histories
from tests.scaled import scaled

GOOD = [{"role": "user", "content": "why?"}]


@scaled(0.2)
@given(st.lists(histories(), max_size=3))
def test_a_column_says_what_a_file_of_the_same_rows_says(conversations: list[list[dict[str, Any]]]) -> None:
    out = BatchAssembler(base())({"messages": conversations, "id": list(range(len(conversations)))})
    for number, messages in enumerate(conversations):
        line = json.loads(answer(base(), number, json.dumps({"messages": messages}).encode()))
        assert out["id"][number] == number
        if "error" in line:
            assert out["error"][number] == f"{line['error']['kind']}: {line['error']['message']}"
            assert out["request"][number] is None
        else:
            assert json.loads(out["request"][number]) == line["request"]
            figures = [line[name] for name in ("tokens", "upper", "grade", "dropped")]
            assert [out[name][number] for name in ("tokens", "upper", "grade", "dropped")] == figures


@scaled(0.5)
@given(st.lists(histories(), min_size=2, max_size=5), st.data())
def test_splitting_a_batch_changes_none_of_its_rows(conversations: list[Any], data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(conversations) - 1))
    assemble = BatchAssembler(base())
    first, second = assemble({"messages": conversations[:cut]}), assemble({"messages": conversations[cut:]})
    assert assemble({"messages": conversations}) == {name: first[name] + second[name] for name in first}


def test_no_rows_give_every_column_empty() -> None:
    assert set(map(len, BatchAssembler(base())({"messages": [], "id": []}).values())) == {0}


def test_a_bad_row_is_recorded_skipped_or_raised() -> None:
    batch: dict[str, Any] = {"id": ["a", "b", "c"], "messages": [GOOD, 7, GOOD]}
    recorded = BatchAssembler(base(), on_error=Record())(batch)
    assert recorded["id"] == ["a", "b", "c"]
    assert [error is None for error in recorded["error"]] == [True, False, True]
    assert [text is None for text in recorded["request"]] == [False, True, False]
    skipped = BatchAssembler(base(), on_error=Skip())(batch)
    assert skipped["id"] == ["a", "c"]
    assert {len(column) for column in skipped.values()} == {2}
    with pytest.raises(ConversationError) as caught:
        BatchAssembler(base(), on_error=Raise())(batch)
    assert caught.value.__notes__ == ["row 1 of the batch"]
    assert pickle.loads(pickle.dumps(caught.value)).__notes__ == ["row 1 of the batch"]


def test_an_overflow_that_is_raised_pickles_with_its_arithmetic() -> None:
    with pytest.raises(ContextLengthError) as caught:
        BatchAssembler(base(), on_error=Raise())({"messages": [[("user", "x" * 500)]]})
    assert pickle.loads(pickle.dumps(caught.value)).excess == caught.value.excess > 0


def circular() -> list[Any]:
    holding: list[Any] = []
    holding.append(holding)
    return holding


def nested(levels: int) -> list[Any]:
    return functools.reduce(lambda inner, _: [inner], range(levels), [])


@pytest.mark.parametrize("bad", [circular(), nested(5_000)], ids=["circular", "deep"])
@pytest.mark.parametrize("column", ["messages", "tools", "knowledge"])
def test_an_endlessly_nested_row_is_recorded_and_the_other_rows_are_built(column: str, bad: list[Any]) -> None:
    good = GOOD if column == "messages" else None
    out = assemble_batch({"messages": [GOOD, GOOD], column: [bad, good]}, base())
    assert out["error"][0].startswith("RowError: nested too deeply")
    assert out["error"][1] is None


@pytest.mark.parametrize("on_error", [Record(), Skip()])
def test_a_batch_of_bad_rows_only_is_built(on_error: OnError) -> None:
    out = BatchAssembler(base(), on_error=on_error)({"messages": [7, 7]})
    assert out["request"] == [None, None] * isinstance(on_error, Record)


def test_columns_have_the_names_that_they_are_given() -> None:
    columns = Columns(messages="talk", instruction=None, knowledge="found")
    batch: dict[str, Any] = {"talk": [GOOD], "found": [["One."]], "instruction": ["carried along"]}
    out = BatchAssembler(base(), columns=columns)(batch)
    assert out["instruction"] == ["carried along"]
    assert "talk" not in out
    by_hand = base().add_knowledge("One.", type="document").add_messages(GOOD).build()
    assert json.loads(out["request"][0]) == by_hand.request()


class NAType:
    """Stands for the class of `pandas.NA`, which has no truth value."""

    def __bool__(self) -> bool:
        raise TypeError


@pytest.mark.parametrize("missing", [None, float("nan"), np.float64("nan"), np.float32("nan"), NAType()])
def test_a_cell_that_a_store_calls_missing_keeps_what_the_assembler_has(missing: Any) -> None:
    """pandas 3 writes NaN for a text that is not there: each such row was an error."""
    batch = {region: [missing] for region in ("instruction", "knowledge", "tools")}
    out = BatchAssembler(base().add_knowledge("One.", type="document"))({"messages": [GOOD], **batch})
    by_hand = base().add_knowledge("One.", type="document").add_messages(GOOD).build()
    assert out["error"] == [None]
    assert json.loads(out["request"][0]) == by_hand.request()


WRONG: dict[str, tuple[Columns, dict[str, Any], str]] = {
    "no region": (
        Columns(),
        {"talk": [GOOD]},
        "no column instruction or tools or knowledge or messages; the batch has",
    ),
    "no such column": (Columns(knowledge="found"), {"messages": [GOOD]}, "no column found; the batch has messages"),
    "no column but a number": (Columns(), {"messages": 5}, "column messages: expected a list of values, got int"),
    "no column but a text": (Columns(), {"messages": "[]"}, "column messages: expected a list of values, got str"),
    "lengths beside": (Columns(), {"messages": [GOOD], "id": [1, 2]}, "messages 1, id 2"),
    "lengths": (Columns(), {"messages": [GOOD], "tools": [None, None]}, "different lengths"),
    "our own": (Columns(), {"messages": [GOOD], "tokens": [5]}, "a column tokens, which is written here"),
    "empty": (Columns(), {}, "the batch has none"),
}


@pytest.mark.parametrize("case", WRONG)
def test_columns_that_cannot_be_read_are_refused(case: str) -> None:
    columns, batch, expected = WRONG[case]
    with pytest.raises(BatchError, match=expected) as caught:
        BatchAssembler(base(), columns=columns)(batch)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


class Broken(dict[str, Any]):
    """A mapping, a column or a cell of a store whose own methods raise."""

    def __iter__(self) -> Any:
        raise RuntimeError("a text that nobody may read")

    def tolist(self) -> Any:
        raise RuntimeError("a text that nobody may read")


@pytest.mark.parametrize("batch", [Broken(messages=[]), {"messages": Broken()}])
def test_a_batch_whose_own_methods_raise_is_refused_by_an_error_of_ours(batch: Any) -> None:
    with pytest.raises(BatchError, match="a method of its own raised RuntimeError") as caught:
        BatchAssembler(base())(batch)
    assert "nobody" not in str(caught.value)


def test_a_cell_whose_own_methods_raise_is_a_bad_row() -> None:
    found = BatchAssembler(base())({"messages": [[("user", "hi")], Broken()]})
    assert found["error"] == [
        None,
        "BatchError: batch: a method of its own raised RuntimeError; pass plain dicts, lists and texts",
    ]


def test_a_function_is_refused_as_an_assembler() -> None:
    with pytest.raises(BatchError, match="made_by"):
        BatchAssembler(base)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", ["skip", True, None, Skip])
def test_an_unknown_way_to_treat_bad_rows_is_refused_before_any_row_is_read(wrong: Any) -> None:
    with pytest.raises(BatchError, match=r"Record\(\), Skip\(\) or Raise\(\)"):
        BatchAssembler(base(), on_error=wrong)


def test_columns_as_a_dict_and_rows_as_a_list_are_refused_by_name() -> None:
    with pytest.raises(BatchError, match=r"columns: expected Columns\(messages=…\), got dict"):
        BatchAssembler(base(), columns={"messages": "chat"})  # type: ignore[arg-type]
    with pytest.raises(BatchError, match="names to columns, got list"):
        BatchAssembler(base())([GOOD])  # type: ignore[arg-type]


def test_later_changes_of_the_assembler_do_not_reach_a_batch() -> None:
    shared = base()
    assemble = BatchAssembler(shared)
    shared.add_instruction("Other.")
    assert "Be kind." in assemble({"messages": [GOOD]})["request"][0]


def test_arguments_may_be_passed_along() -> None:
    batch = {"talk": [GOOD]}
    assert assemble_batch(batch, base(), Columns(messages="talk"), Skip()) == BatchAssembler(
        base(), columns=Columns(messages="talk"), on_error=Skip()
    )(batch)


# ── what stores hand over


def test_arrays_in_a_column_are_read_as_lists() -> None:
    messages = np.empty(2, dtype=object)
    messages[0] = np.array([{"role": "user", "content": "why?"}], dtype=object)
    messages[1] = GOOD
    out = BatchAssembler(base())({"messages": messages, "id": np.array([1, 2])})
    assert out["request"][0] == out["request"][1]
    assert out["id"] == [1, 2]


def test_keys_of_another_row_do_not_enter_a_message() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}", "strict": None}}
    stored = [
        {"role": "user", "content": "why?", "tool_calls": None, "name": None, "tool_call_id": None},
        {"role": "assistant", "content": None, "tool_calls": [call], "name": None, "tool_call_id": None},
        {"role": "tool", "content": "so", "tool_calls": None, "name": None, "tool_call_id": "c"},
    ]
    meant = [
        {"role": "user", "content": "why?"},
        {"role": "assistant", "content": None,
         "tool_calls": [{**call, "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "content": "so", "tool_call_id": "c"},
    ]  # fmt: skip
    assemble = BatchAssembler(base())
    assert assemble({"messages": [stored]}) == assemble({"messages": [meant]})
    assert drop_missing(stored) == meant


def test_a_null_among_a_models_own_words_stays() -> None:
    part = {"type": "tool_use", "id": "c", "name": "f", "input": {"a": None}, "text": None}
    assert drop_missing([part]) == [{k: v for k, v in part.items() if k != "text"}]


# ── other processes


@pytest.mark.parametrize("make", [base, for_a_model])
def test_a_pickle_is_small_the_same_every_time_and_holds_no_memory(make: Callable[[], Assembler]) -> None:
    assemble = BatchAssembler(make())
    before = pickle.dumps(assemble)
    first = assemble({"messages": [GOOD]})
    assert pickle.dumps(assemble) == pickle.dumps(pickle.loads(before)) == before
    assert len(before) < 10_000
    assert pickle.loads(before) == assemble
    assert pickle.loads(before)({"messages": [GOOD]}) == first


def test_a_tokenizer_is_not_pickled_with_the_batch() -> None:
    lazy = BatchAssembler.made_by(priced_by_a_tokenizer)
    before = pickle.dumps(lazy)
    lazy({"messages": [GOOD]})
    assert pickle.dumps(lazy) == before
    assert len(before) < 500 < len(pickle.dumps(BatchAssembler(priced_by_a_tokenizer())))


def test_an_assembler_is_made_once_in_a_process() -> None:
    made: list[Assembler] = []

    def make() -> Assembler:
        made.append(base())
        return made[-1]

    for assemble in (BatchAssembler.made_by(make), BatchAssembler.made_by(make)):
        assemble({"messages": [GOOD]})
    assert len(made) == 1


def test_a_pool_of_spawned_processes_gives_what_one_gives() -> None:
    batches = [{"messages": [[("user", f"{batch} {row}")] for row in range(3)] + [7]} for batch in range(4)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for assemble in (BatchAssembler(base()), BatchAssembler.made_by(priced_by_a_tokenizer)):
            assert pool.map(assemble, batches) == list(map(assemble, batches))
