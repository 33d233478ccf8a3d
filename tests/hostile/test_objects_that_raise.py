"""An object whose methods raise is accepted or refused with the library's error, which does not quote its exception."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from assembler import (
    Assembler,
    CitedSources,
    FittedTemplate,
    TrimOldest,
    calibrate,
    count_request,
    fit_request,
    overflow_of,
    repair,
    verify,
)
from assembler.batch import BatchAssembler
from assembler.dialects import DIALECTS
from assembler.greedy import Config, PromptBuilder
from assembler.greedy.config import Generator
from assembler.rag import Order, RetrievalResult, citation_report
from assembler.rag import PromptBuilder as RagPromptBuilder
from assembler.testing import assert_fits, assert_valid
from budgets import AssemblyError, Budget, BudgetError, Count, Grade, Limit
from tests.hostile.mappings import Fields

CANARY = "what a method was asked for"
MESSAGE = {"role": "user", "content": "Where is it?"}
SCHEMA = {"type": "object", "properties": {}}
TOOL = {"name": "look", "description": "Looks.", "parameters": SCHEMA}


class StrangeError(Exception):
    """What no library raises."""


def raising(kind: type[Any], method: str) -> Any:
    """A subclass with one method that raises."""

    def fail(*_: object) -> Any:
        raise StrangeError(CANARY)

    return type(f"{kind.__name__}Raising", (kind,), {method: fail})


def assembler() -> Assembler[Any]:
    return Assembler(Budget(2_000, model="gpt-4o"), on_overflow=TrimOldest())


def used(made: Assembler[Any]) -> None:
    context = made.build()
    context.request()
    str(context.report)
    made.add_message(("assistant", "Here.")).add_message(("user", "Thanks.")).build().request()


def asked(made: Assembler[Any]) -> None:
    used(made.add_message(MESSAGE))


def cited(**fields: Any) -> None:
    made = Assembler(Budget(2_000, model="gpt-4o"), strategy=CitedSources(order=Order.STABLE))
    asked(made.add_knowledge("One.", type="t", **fields).add_knowledge("Two.", type="t", **fields))


def called_with(call_id: str, arguments: Any) -> None:
    """A step whose results stand together, for every API: some write the id anew, which asks for its length."""
    call = {"id": call_id, "type": "function", "function": {"name": "look", "arguments": arguments}}
    history = [MESSAGE, {"role": "assistant", "content": None, "tool_calls": [call]}]
    for name in DIALECTS:
        made = Assembler(dialect=name).set_tools([TOOL]).set_messages(history)
        made.add_message({"role": "tool", "tool_call_id": call_id, "content": "x"}).build().request()


Door = Callable[[Any], object]
MAPPINGS: dict[str, Door] = {
    "a message": lambda kind: used(assembler().add_message(kind(MESSAGE))),
    "messages": lambda kind: used(assembler().set_messages([kind(MESSAGE)])),
    "a part": lambda kind: used(
        assembler().add_message({"role": "user", "content": [kind({"type": "text", "text": "x"})]})
    ),
    "a tool": lambda kind: asked(assembler().set_tools([kind(TOOL)])),
    "parameters": lambda kind: asked(assembler().set_tools([{**TOOL, "parameters": kind(SCHEMA)}])),
    "metadata": lambda kind: cited(metadata=kind({"document_id": "d"})),
    "a schema": lambda kind: asked(assembler().add_output_schema(kind(SCHEMA), name="answer")),
    "a state": lambda kind: assembler().restore(kind(assembler().add_message(MESSAGE).build().state())),
    "a bill": lambda kind: calibrate(assembler().add_message(MESSAGE).build(), kind({"prompt_tokens": 12})),
    "a refusal": lambda kind: overflow_of(kind({"error": {"message": "maximum context length is 10 tokens"}})),
    "limits": lambda kind: Budget(2_000, limits=kind({})),
    "a body to count": lambda kind: count_request(kind({"messages": [MESSAGE]}), dialect="openai_chat", model="gpt-4o"),
    "a body to fit": lambda kind: fit_request(kind({"messages": [MESSAGE]}), assembler=assembler()),
    "messages to repair": lambda kind: repair([kind(MESSAGE)]),
    "the texts of sources": lambda kind: citation_report("So it is [1].", kind({1: "It is."})),
}
TEXTS: dict[str, Door] = {
    "a content": lambda kind: used(assembler().add_message({"role": "user", "content": kind("x")})),
    "a field that no API reads": lambda kind: used(assembler().add_message({**MESSAGE, "mood": kind("x")})),
    "a sender": lambda kind: used(assembler().add_message({**MESSAGE, "name": kind("ann")})),
    "the id of a call": lambda kind: called_with(kind("c1"), "{}"),
    "a long id of a call": lambda kind: called_with(kind("c" * 99), "{}"),
    "an argument": lambda kind: called_with("c1", {"q": kind("x")}),
    "a role": lambda kind: used(assembler().add_message({"role": kind("user"), "content": "x"})),
    "an instruction": lambda kind: asked(assembler().add_instruction(kind("x"))),
    "knowledge": lambda kind: cited(source=kind("x")),
    "a tool's name": lambda kind: asked(assembler().set_tools([{**TOOL, "name": kind("look")}])),
    "a model": lambda kind: Budget.for_model(kind("gpt-4o")),
    "a dialect to verify by": lambda kind: verify({"messages": [MESSAGE]}, dialect=kind("gpt-4o")),
    "the names of a count": lambda kind: count_request(
        {"messages": [MESSAGE]}, dialect=kind("openai_chat"), model=kind("gpt-4o")
    ),
}
LISTS: dict[str, Door] = {
    "messages": lambda kind: used(assembler().set_messages(kind([MESSAGE]))),
    "a content": lambda kind: used(
        assembler().add_message({"role": "user", "content": kind([{"type": "text", "text": "x"}])})
    ),
    "tools": lambda kind: asked(assembler().set_tools(kind([TOOL]))),
    "a vector": lambda kind: cited(embedding=kind([1.0, 2.0])),
    "policies": lambda kind: Assembler(on_overflow=kind([TrimOldest()])),
    "messages to count": lambda kind: count_request(
        {"messages": kind([MESSAGE])}, dialect="openai_chat", model="gpt-4o"
    ),
    "messages to repair": lambda kind: repair(kind([MESSAGE])),
}
OBJECTS: dict[str, Door] = {
    "a window": Budget,
    "a limit": lambda given: Limit(cap=given),
    "a number of turns": lambda given: TrimOldest(keep_turns=given),
    "a window to try": lambda given: assembler().add_message(MESSAGE).plan().what_if(context_window=given),
    "tokens to hold": lambda given: assembler().hold(given),
    "tokens of a count": Count,
    "a dialect": lambda given: Assembler(dialect=given),
    "a dialect to write for": lambda given: assembler().add_message(MESSAGE).build().request(given),
    "a dialect to verify by": lambda given: verify({"messages": [MESSAGE]}, dialect=given),
    "a selection": lambda given: CitedSources(selection=given),
    "fields of documents": lambda given: FittedTemplate("{{ documents }}", fields=given),
    "a vector": lambda given: cited(embedding=given),
    "a billed context": lambda given: calibrate(given, 12),
    "a policy": lambda given: Assembler(on_overflow=given),
    "a message": lambda given: assembler().add_message(given),
    "columns": lambda given: BatchAssembler(assembler())(given),
    "a tokenizer": lambda given: PromptBuilder(Config(Generator(512)), given),
}
METHODS = (
    "__len__",
    "__getitem__",
    "__eq__",
    "__iter__",
    "__contains__",
    "__bool__",
    "__hash__",
    "__str__",
    "__repr__",
)
OF_MAPPINGS = (*METHODS, "keys", "items", "get")
OF_TEXTS = (*METHODS, "encode", "isascii", "strip", "startswith", "lower", "replace", "__format__", "__add__")


def is_typed(door: Door, kind: Any) -> None:
    """The object is taken, because the method is not needed, or refused in our own words."""
    try:
        door(kind)
    except AssemblyError as error:
        seen: BaseException | None = error
        while seen is not None:
            assert CANARY not in str(seen)
            seen = seen.__cause__ or seen.__context__


@pytest.mark.parametrize("method", OF_MAPPINGS)
@pytest.mark.parametrize("kind", [dict, Fields])
@pytest.mark.parametrize("door", MAPPINGS)
def test_a_mapping_whose_method_raises_is_taken_or_refused_with_an_error_of_this_library(
    door: str, kind: type[Any], method: str
) -> None:
    is_typed(MAPPINGS[door], raising(kind, method))


@pytest.mark.parametrize("method", OF_TEXTS)
@pytest.mark.parametrize("door", TEXTS)
def test_a_text_whose_method_raises_is_taken_or_refused_with_an_error_of_this_library(door: str, method: str) -> None:
    is_typed(TEXTS[door], raising(str, method))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("door", LISTS)
def test_a_list_whose_method_raises_is_taken_or_refused_with_an_error_of_this_library(door: str, method: str) -> None:
    is_typed(LISTS[door], raising(list, method))


@pytest.mark.parametrize("door", OBJECTS)
def test_an_object_that_raises_for_any_attribute_is_refused_with_an_error_of_this_library(door: str) -> None:
    """A proxy of a request that has ended, for one."""
    with pytest.raises(AssemblyError) as refused:
        OBJECTS[door](raising(object, "__getattr__")())
    assert CANARY not in str(refused.value)


def test_a_mapping_is_sent_as_what_it_was_recognised_as_whatever_its_own_get_answers() -> None:
    """A part with a made-up type from `get` was taken for a new item, and sent to Responses as the part that it is."""

    class Lying(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            return "made_up" if key == "type" else super().get(key, default)

    for name in DIALECTS:
        with pytest.raises(AssemblyError, match="put the block into a message"):
            Assembler(dialect=name).set_messages([MESSAGE, Lying(type="text", text="x"), MESSAGE]).build()
        message = Lying(role="user", content=[Lying(type="text", text="x")])
        assert "made_up" not in str(Assembler(dialect=name).set_messages([message]).build().request())


def types_in(value: Any) -> set[type[Any]]:
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return {type(value)}.union(*({type(key)} | types_in(held) for key, held in pairs))
    return {type(value)}


def test_what_is_sent_holds_keys_texts_and_numbers_of_pythons_own_types() -> None:
    text, number = type("Text", (str,), {}), type("Number", (int,), {})
    arguments = {text("q"): text("x"), "n": number(1), "really": True}
    call = {"id": text("c1"), "type": text("function"), "function": {"name": text("look"), "arguments": arguments}}
    answer = {"role": text("tool"), "tool_call_id": text("c1"), "content": [{"type": text("text"), "text": text("y")}]}
    history = [MESSAGE, {text("role"): text("assistant"), "content": None, "tool_calls": [call]}, answer]
    for name in DIALECTS:
        request = Assembler(dialect=name).set_tools([TOOL]).set_messages(history).build().request()
        assert types_in(request) <= {dict, list, str, int, bool, type(None)}


def test_a_bound_without_a_truth_value_is_refused_with_an_error_of_this_library() -> None:
    with pytest.raises(BudgetError, match="expected whole tokens and an upper bound, got int and ndarray"):
        Count(1, Grade.EXACT, np.array([1, 2]))  # type: ignore[arg-type]


@pytest.mark.parametrize("method", OF_MAPPINGS)
@pytest.mark.parametrize("kind", [dict, Fields])
def test_verify_reports_an_object_that_raises_like_any_that_json_cannot_carry(kind: type[Any], method: str) -> None:
    """Its documentation says that other values are violations, never errors."""
    made = raising(kind, method)
    for body in (made({"messages": [MESSAGE]}), {"messages": [made(MESSAGE)]}):
        assert {one.rule for one in verify(body, dialect="openai_chat")} <= {"S1", "S2"}


def test_the_message_names_the_argument_and_the_exception() -> None:
    with pytest.raises(AssemblyError, match=r"^tools: a method of its own raised StrangeError; pass plain dicts"):
        assembler().set_tools([raising(Fields, "__iter__")(TOOL)])


@pytest.mark.parametrize("body", [None, 5, "a text", [MESSAGE]])
def test_an_assertion_refuses_a_value_that_is_not_a_body_with_an_error_of_the_library(body: Any) -> None:
    """It was a bare TypeError."""
    with pytest.raises(AssemblyError, match="the body of the API's call"):
        assert_fits(body, model="gpt-4o")
    with pytest.raises(AssemblyError, match="the body of the API's call"):
        assert_valid(body, dialect="openai_chat")
    with pytest.raises(AssemblyError, match="assert_fits needs model="):
        assert_fits({"messages": [MESSAGE]})


def test_documents_can_be_ordered_by_an_id_of_any_length() -> None:
    """Python writes no integer of more than 4,300 digits, so ordering by id raised ValueError."""
    made = Assembler(Budget(2_000, model="gpt-4o"), strategy=CitedSources(order=Order.STABLE))
    for text, document_id in (("One.", 10**5_000), ("Two.", 7)):
        made.add_knowledge(text, type="t", metadata={"document_id": document_id})
    system = made.add_message(MESSAGE).build().system
    assert [system.count(text) for text in ("One.", "Two.")] == [1, 1]


UNWRITABLE = raising(object, "__str__")()
RESULTS: dict[str, Callable[[], Any]] = {
    "an id": lambda: {"content": "It is.", "document_id": UNWRITABLE},
    "a file's name": lambda: RetrievalResult("It is.", document_filename=UNWRITABLE),
    "a title of a section": lambda: RetrievalResult("It is.", section_title=UNWRITABLE),
    "a path of sections": lambda: {"content": "It is.", "metadata": {"section_path": [UNWRITABLE]}},
    "a score": lambda: {"content": "It is.", "score": raising(object, "__float__")()},
    "a property": lambda: type("Hit", (), {"content": "It is.", "score": property(lambda _: UNWRITABLE.__str__())})(),
}


@pytest.mark.parametrize("result", RESULTS)
def test_a_retrieval_result_that_raises_is_refused_with_an_error_of_the_library(result: str) -> None:
    is_typed(lambda made: RagPromptBuilder().build_prompt("Is it?", [made]), RESULTS[result]())


def test_metadata_that_raises_for_any_attribute_is_only_a_type_in_a_manifest() -> None:
    made = assembler().add_knowledge("One.", type="t", metadata={"hit": raising(object, "__getattr__")()})
    is_typed(lambda built: built.build().manifest(), made.add_message(MESSAGE))


def test_a_document_id_that_raises_is_refused_where_ids_set_the_order() -> None:
    def build(document_id: object) -> None:
        made = Assembler(Budget(2_000, model="gpt-4o"), strategy=CitedSources(order=Order.STABLE))
        made.add_knowledge("One.", type="t", metadata={"document_id": document_id}).add_message(MESSAGE).build()

    is_typed(build, UNWRITABLE)
