"""Every argument of every public function takes values of every wrong type, or raises the library's own error.

`arguments.json` says what each argument takes: which of `ODD` may pass. Whatever else is given is refused at the door
with an error of the library's that names its type (or the number) and shows nothing of what it holds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import assembler.rag as rag
from assembler import (
    Assembler,
    CacheMarks,
    ChatRegions,
    CitedSources,
    Placement,
    bill,
    calibrate,
    count_request,
    fits,
    overflow_of,
    repair,
    verify,
    without_invisible,
)
from assembler.batch import BatchAssembler, Columns, assemble_batch
from assembler.dialects import anthropic, plain
from assembler.greedy import Config
from assembler.greedy import PromptBuilder as GreedyBuilder
from assembler.greedy.config import Generator
from assembler.policies import BM25, ClearReasoning, ClearToolResults, Cosine, TrimOldest, TrimSteps, Truncate
from assembler.pricing.media import read_media
from assembler.prompts import Prompt, PromptFormatter, PromptLibrary, ValidatedPromptTemplate, read_prompt
from assembler.regions.tools import Defer, ToolSearch
from assembler.report.cache import marked
from assembler.session import session_html
from assembler.telemetry import attributes, set_attributes
from assembler.testing import assert_fits, assert_valid, conversations
from budgets import (
    AssemblyError,
    Budget,
    BudgetError,
    Count,
    Limit,
    approximate_counter,
    memoised,
    provider_counter,
    tiktoken_counter,
)
from budgets.models import dialect_of, encoding_of, facts, family_of

CANARY = "xyzzy"


class Foreign:
    def __repr__(self) -> str:
        return CANARY


ODD: dict[str, Any] = {
    "none": None,
    "five": 5,
    "zero": 0,
    "below": -1,
    "huge": 10**30,
    "share": 0.5,
    "nan": math.nan,
    "inf": math.inf,
    "bool": True,
    "empty": "",
    "text": CANARY,
    "bytes": CANARY.encode(),
    "list": [],
    "texts": [CANARY],
    "nones": [None],
    "dict": {},
    "fields": {CANARY: CANARY},
    "set": {CANARY},
    "object": Foreign(),
    "class": Foreign,
    "function": len,
}
DATA: dict[str, Any] = json.loads((Path(__file__).parent / "arguments.json").read_text("utf-8"))
TAKES = {name: set(labels.split()) for name, labels in DATA["takes"].items()}

USER = {"role": "user", "content": "hi"}
HERE = Path(__file__).parent


def asked() -> Assembler:
    return Assembler(Budget(1_000, counter=len), dialect=plain).add_messages([USER])


def with_document(**fields: Any) -> Any:
    given: dict[str, Any] = {"text": "x", "type": "rag", **fields}
    limited = Budget(1_000, counter=len, limits={"knowledge": Limit(cap=60)})
    for made in (Assembler(limited, dialect=plain), Assembler(dialect=plain, strategy=CitedSources())):
        made.add_messages([USER]).add_knowledge("y", type="rag", score=0.5, embedding=[1.0])
        made.add_knowledge(given["text"], **{name: value for name, value in given.items() if name != "text"}).build()


def with_result(**fields: Any) -> Any:
    results = [rag.RetrievalResult("y", embedding=[1.0]), rag.RetrievalResult(**{"content": "x", **fields})]
    return rag.PromptBuilder(MANAGER).build_prompt("q", results)


def template(**fields: Any) -> Any:
    given: dict[str, Any] = {"name": "n", "prompt_template": "{question}", **fields}
    return ValidatedPromptTemplate(**given).format(question="q")


class Tokenizer:
    special_tokens_map: ClassVar[dict[str, str]] = {}


CONTEXT = asked().build()
PRICED = Assembler(Budget.for_model("gpt-4o")).add_messages([USER]).build()
MANAGER = rag.TokenBudgetManager(100_000, 10, counter=len)
OPTIMIZER = rag.ContextOptimizer(counter=len)
RESULT = rag.RetrievalResult("x", score=0.5)
PARTS = rag.PromptBuilder(MANAGER).build_prompt("q", [RESULT])

DOORS: dict[str, Callable[..., Any]] = {
    "Assembler": lambda **given: Assembler(**{"dialect": plain, **given}),
    "BM25": lambda **given: BM25()(*{"question": "q", "texts": ["a"], **given}.values()),
    "Context.session_html": lambda texts: session_html([CONTEXT], texts=texts),
    "Cosine": lambda **given: Cosine(lambda texts: [[1.0]] * len(texts))(
        *{"question": "q", "texts": ["a"], **given}.values()
    ),
    "Defer": lambda **given: Defer(**{"threshold": 5, **given}),
    "Report.text": lambda width: CONTEXT.report.text(width),
    "ToolSearch's query": lambda query: ToolSearch([{"name": "f"}])(query),
    "attributes": attributes,
    "bill": lambda on: bill(PRICED, on=on),
    "cache.marked": lambda **given: marked(
        **{"request": CONTEXT.request(), "dialect": anthropic, "marks": CacheMarks(), **given}
    ),
    "fits": lambda **given: fits(**{"assembler": asked(), "models": ["gpt-4o"], **given}),
    "hold": lambda tokens: asked().hold(tokens),
    "held count": lambda tokens: asked().hold(Count(tokens)),
    "output schema": lambda **given: asked().add_output_schema(**{"schema": {"type": "object"}, **given}),
    "overflow_of": lambda refusal: (overflow_of(refusal), overflow_of({"error": {"message": refusal}})),
    "set_attributes": lambda span: set_attributes(CONTEXT, span=span),
    "Assembler.anchor": lambda calibration: Assembler().anchor(calibration),
    "BatchAssembler.made_by": lambda **given: BatchAssembler.made_by(**{"make": asked, **given}),
    "Best": rag.Best,
    "Budget.available": lambda used: Budget(10).available(used),
    "Budget.for_model": lambda **given: Budget.for_model(**{"name": "gpt-4o", **given}),
    "CacheMarks": CacheMarks,
    "ChatRegions": ChatRegions,
    "CitedSources": CitedSources,
    "Columns": Columns,
    "Config": lambda generator: Config(generator),
    "Config.read": Config.read,
    "Context.first_changed": CONTEXT.first_changed,
    "Context.served_after": CONTEXT.served_after,
    "ContextOptimizer": rag.ContextOptimizer,
    "ContextOptimizer.optimize": lambda **given: OPTIMIZER.optimize(
        **{"retrieval_results": [RESULT], "context_budget": 500, **given}
    ),
    "ContextOptimizer.stats": lambda **given: OPTIMIZER.get_optimization_stats(
        **{"original_results": [RESULT], "optimized_results": [RESULT], **given}
    ),
    "Diverse": rag.Diverse,
    "GreedyBuilder": lambda **given: GreedyBuilder(**{"cfg": Config(Generator(99)), "tokenizer": len, **given}),
    "GreedyBuilder.build": lambda **given: GreedyBuilder(Config(Generator(999)), len).build(
        **{"question": "q", "accepted_chunks": ["x"], **given}
    ),
    "Limit": Limit,
    "MergeNeighbours": rag.MergeNeighbours,
    "PlainSources": rag.PlainSources,
    "Prompt": lambda **given: Prompt(**{"text": "x", **given}),
    "PromptBuilder": rag.PromptBuilder,
    "PromptBuilder.build_prompt": lambda **given: rag.PromptBuilder(MANAGER).build_prompt(
        **{"query": "q", "retrieval_results": [RESULT], **given}
    ),
    "PromptBuilder.preview_prompt": lambda **given: rag.PromptBuilder.preview_prompt(
        **{"prompt_components": PARTS, **given}
    ),
    "PromptFormatter": lambda **given: PromptFormatter(**{"tokenizer": Tokenizer(), **given}),
    "PromptFormatter.format_prompt": lambda prompt: PromptFormatter(Tokenizer(), True).format_prompt(prompt),
    "PromptLibrary": lambda **given: PromptLibrary(**{"root": HERE, **given}).read("cases.json"),
    "QuestionTemplate": lambda **given: rag.QuestionTemplate(
        **{"opening": "o\n", "question": "q\n", "closing": "c", **given}
    ),
    "RetrievalResult": with_result,
    "Settings": rag.Settings,
    "SourceFormatter.format_source": lambda **given: rag.SourceFormatter.format_source(
        **{"source_number": 1, "content": "x", **given}
    ),
    "SourceFormatter.format_sources": lambda **given: rag.SourceFormatter.format_sources(
        **{"contents": ["x"], **given}
    ),
    "TokenBudgetManager": lambda **given: rag.TokenBudgetManager(
        **{"model_max_tokens": 1_000, "max_output_tokens": 1, **given}
    ),
    "TokenBudgetManager.budget_for": MANAGER.budget_for,
    "TokenBudgetManager.calculate_budget": lambda **given: MANAGER.calculate_budget(
        **{"query": "q", "system_prompt": "s", **given}
    ),
    "TokenBudgetManager.count_tokens": MANAGER.count_tokens,
    "TokenBudgetManager.truncate_to_budget": lambda **given: MANAGER.truncate_to_budget(
        **{"texts": ["x"], "scores": [1.0], "budget": 9, **given}
    ),
    "TrimOldest": TrimOldest,
    "Truncate": lambda **given: Truncate(**{"max_tokens": 9, **given}),
    "ValidatedPromptTemplate": template,
    "add_knowledge": with_document,
    "approximate": lambda text: approximate_counter()(text),
    "assemble_batch": lambda **given: assemble_batch(
        **{"batch": {"messages": [[USER]]}, "assembler": asked(), **given}
    ),
    "assert_fits": lambda **given: assert_fits(
        **{"request": CONTEXT.request(), "budget": Budget(99), "dialect": plain, **given}
    ),
    "assert_valid": lambda **given: assert_valid(**{"request": CONTEXT.request(), "dialect": plain, **given}),
    "calibrate": lambda **given: calibrate(**{"context": CONTEXT, "usage": 5, **given}),
    "calibrated count": lambda context: calibrate(CONTEXT, 5).count(context),
    "calibrated note": lambda context: calibrate(CONTEXT, 5).note(context),
    "citation_report": lambda **given: rag.citation_report(
        **{"answer": 'x [Source 1] "quoted words here".', "prompt": {1: "x"}, **given}
    ),
    "conversations": conversations,
    "count_request": lambda **given: count_request(**{"request": CONTEXT.request(), "dialect": plain, **given}),
    "dialect_of": dialect_of,
    "encoding_of": encoding_of,
    "facts": facts,
    "family_of": family_of,
    "marked": lambda marks: asked().build().request(cache_marks=marks),
    "memoised": lambda **given: memoised(**{"counter": len, **given}),
    "memoised count": lambda text: memoised(len)(text),
    "parse_citations": lambda **given: rag.parse_citations(**{"answer": "x [Source 1]", **given}),
    "provider_counter": lambda **given: provider_counter(**{"endpoint": len, **given}),
    "read_media": read_media,
    "read_prompt": lambda **given: read_prompt(**{"path": HERE / "cases.json", **given}),
    "read_results": rag.read_results,
    "repair": repair,
    "tiktoken count": lambda text: tiktoken_counter()(text),
    "verify": lambda **given: verify(**{"request": CONTEXT.request(), "dialect": "plain", **given}),
    "without_invisible": without_invisible,
}

ROWS = [(door, argument, takes) for door, arguments in DATA["doors"].items() for argument, takes in arguments.items()]


def names(odd: Any) -> list[str]:
    """What an error may call a thing: its type, the number that it is, a class by its name, or what a list holds."""
    held = [type(each).__name__ for each in odd] if isinstance(odd, list | dict | set | bytes) else []
    shown = [str(odd)] if isinstance(odd, int | float) else [odd.__name__] if isinstance(odd, type) else []
    return [type(odd).__name__, *shown, *held]


def refused(door: str, argument: str, takes: str) -> Iterator[str]:
    """What is wrong with how a function takes odd arguments, one line each."""
    for label, odd in ODD.items():
        try:
            DOORS[door](**{argument: odd})
        except AssemblyError as error:
            message = str(error)
            if label not in TAKES[takes] and (CANARY in message or not any(each in message for each in names(odd))):
                yield f"{label}: {message}"
        except Exception as error:
            if label in TAKES[takes] or type(error).__name__ not in DATA["documented"].get(f"{door}.{argument}", ""):
                yield f"{label}: {error!r}"
        else:
            if label not in TAKES[takes]:
                yield f"{label}: taken"


@pytest.mark.parametrize(("door", "argument", "takes"), ROWS, ids=[f"{door}-{argument}" for door, argument, _ in ROWS])
def test_a_wrong_argument_is_refused_by_its_type_and_not_shown(
    door: str, argument: str, takes: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert list(refused(door, argument, takes)) == []


def test_every_public_function_has_a_row() -> None:
    assert set(DOORS) == set(DATA["doors"])


def test_a_numpy_integer_is_accepted_by_every_function() -> None:
    two = np.int64(2)
    policies = [TrimOldest(keep_turns=two), Truncate(two), TrimSteps(two), ClearToolResults(two), ClearReasoning(two)]
    assert policies == [TrimOldest(keep_turns=2), Truncate(2), TrimSteps(2), ClearToolResults(2), ClearReasoning(2)]
    assert "int64" not in repr(policies)
    assert Assembler().hold(two) == Assembler().hold(2)


def test_none_is_an_empty_conversation_and_the_state_of_no_build() -> None:
    assert repair(None) == repair([]) == ([], [])
    assert Assembler().restore(None) == Assembler()
    assert Assembler().add_messages(None) == Assembler()


@pytest.mark.parametrize("number", [np.float32(0.5), np.float64(0.5), np.int64(3), 0.5, 3, -1])
def test_a_score_of_any_numeric_type_is_kept_as_a_number(number: Any) -> None:
    context = Assembler(dialect=plain).add_knowledge("x", type="rag", score=number).add_messages([USER]).build()
    score = context.sources[0].score
    assert score == float(number)
    assert isinstance(score, int | float)


@pytest.mark.parametrize("score", [np.bool_(True), 10**400, np.array([0.5, 0.5]), "0.5"])
def test_a_score_that_is_not_a_finite_number_leaves_the_assembler_unchanged(score: Any) -> None:
    made = Assembler(dialect=plain).add_messages([USER])
    with pytest.raises(BudgetError, match=r"knowledge\[0\]\.score: expected a finite number or None"):
        made.add_knowledge("x", type="rag", score=score)
    assert made.build().sources == ()


def test_a_wrong_field_of_a_later_document_is_named_by_its_place() -> None:
    made = Assembler().add_knowledge("x", type="rag")
    with pytest.raises(BudgetError, match=r"knowledge\[1\]\.metadata: expected a mapping \(dict\) or None, got list"):
        made.add_knowledge("y", type="rag", metadata=[1])  # type: ignore[arg-type]
    with pytest.raises(BudgetError, match=r"knowledge\[1\]\.embedding: expected a list of numbers or None, got str"):
        made.add_knowledge("y", type="rag", embedding="1, 2")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("embedding", "found"),
    [
        ([[1.0, 0.0]], "a list; of several vectors pass the one of this document"),
        (["1.0", "0.0"], "a str"),
        ([None], "a NoneType"),
    ],
)
def test_a_vector_that_begins_with_no_number_is_refused_at_its_document(embedding: Any, found: str) -> None:
    made = Assembler().add_knowledge("x", type="rag", embedding=[1, 2.0])
    with pytest.raises(BudgetError) as refused:
        made.add_knowledge("y", type="rag", embedding=embedding)
    where = "knowledge[1].embedding: expected a list of numbers or None, got one that begins with"
    assert str(refused.value) == f"{where} {found}"


def test_passing_a_class_in_place_of_a_value_is_recognised() -> None:
    with pytest.raises(AssemblyError, match="got the class CacheMarks: call it"):
        Assembler(dialect=anthropic, cache_marks=CacheMarks)  # type: ignore[arg-type]
    with pytest.raises(AssemblyError, match="got the class Placement: call it"):
        ChatRegions(placement=Placement)  # type: ignore[arg-type]
