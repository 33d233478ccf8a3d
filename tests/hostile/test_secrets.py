"""No text appears in reprs, errors, causes, logs, warnings and reports (area A8)."""

from __future__ import annotations

import copy
import json
import logging
import pickle
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from assembler import Assembler, AssemblyError, CitedSources, ConversationError, PromptError, Refuse, TrimOldest
from assembler.dialects import anthropic, bedrock, gemini, mistral, openai_chat, openai_responses, plain
from budgets import Budget, BudgetError, Limit
from tests.hostile.case_file import case

CANARY = case("A8-01")["input"]["canary"]
assert case("A8-03")["input"]["canary"] == CANARY
APIS = (openai_chat, openai_responses, anthropic, bedrock, gemini, mistral, plain)


def look_up(q: str) -> str:
    return q


look_up.__doc__ = CANARY


def filled(budget: Budget | None = None, policy: Any = None, dialect: Any = plain) -> Assembler:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": json.dumps({"q": CANARY})}}
    assembler = Assembler(budget, on_overflow=policy or Refuse(), dialect=dialect)
    assembler.add_instruction(CANARY).add_capability([look_up])
    assembler.add_knowledge(CANARY, type="rag", metadata={"note": CANARY}, embedding=[1.0])
    return assembler.add_messages(
        [
            {"role": "system", "content": CANARY},
            {"role": "user", "content": f"old {CANARY}"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": CANARY},
            {"role": "assistant", "content": CANARY},
            {"role": "user", "content": [{"type": "text", "text": CANARY}]},
        ]
    )


def spoken_by(error: BaseException) -> Iterator[str]:
    """Everything that a handler, a logger or an error tracker can read off an exception and what lies behind it."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield from (str(one), repr(one), repr(one.args), repr({k: str(v) for k, v in vars(one).items()}))
        yield repr(getattr(one, "object", "")) + repr(getattr(one, "doc", ""))
        waiting += [one.__cause__, one.__context__]


def refusals() -> dict[str, Callable[[], object]]:
    bad = f"{CANARY}\ud800"
    user: dict[str, Any] = {"role": "user", "content": CANARY}

    def counted(_text: str) -> Any:
        return CANARY

    def called(arguments: object, content: object = CANARY) -> list[dict[str, Any]]:
        call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}}
        answer = {"role": "tool", "tool_call_id": "c1", "content": content}
        return [user, {"role": "assistant", "content": CANARY, "tool_calls": [call]}, answer]

    found: dict[str, Callable[[], object]] = {
        "instruction": lambda: Assembler().add_instruction(bad),
        "instruction type": lambda: Assembler().add_instruction([CANARY]),  # type: ignore[arg-type]
        "knowledge": lambda: Assembler().add_knowledge(bad, type="rag"),
        "knowledge control": lambda: Assembler().add_knowledge(f"{CANARY}\0", type="rag"),
        "type": lambda: Assembler().add_knowledge("x", type=bad),
        "source": lambda: Assembler().add_knowledge("x", type="rag", source=bad),
        "trusted": lambda: Assembler().add_knowledge("x", type="rag", trusted=CANARY),  # type: ignore[arg-type]
        "messages": lambda: Assembler().add_messages(CANARY),
        "message": lambda: Assembler().add_message(CANARY),
        "role": lambda: Assembler().add_message({"role": CANARY, "content": "x"}),
        "content": lambda: Assembler().add_message({"role": "user", "content": {CANARY: CANARY}}),
        "surrogate": lambda: Assembler().add_message({"role": "user", "content": bad}),
        "part": lambda: Assembler().add_message({"role": "user", "content": [{"text": 5, CANARY: 1}]}),
        "pair": lambda: Assembler().add_message((CANARY, CANARY, CANARY)),
        "arguments": lambda: Assembler().add_messages(called({"q": {CANARY}})),
        "arguments surrogate": lambda: Assembler().add_messages(called({"q": bad})),
        "arguments list": lambda: Assembler().add_messages(called([CANARY])),
        "orphan": lambda: Assembler().add_message({"role": "tool", "tool_call_id": "c1", "content": CANARY}),
        "open call": lambda: Assembler().add_messages(called("{}")[:2]).build(),
        "two results": lambda: Assembler().add_messages([*called("{}"), called("{}")[2]]),
        "tool description": lambda: Assembler().add_capability([{"name": "f", "description": bad}]),
        "tool schema": lambda: Assembler().add_capability([{"name": "f", "parameters": {"enum": [bad]}}]),
        "tool object": lambda: Assembler().add_capability([CANARY]),
        "overflow": lambda: filled(Budget(300, counter=len)).build(),
        "overflow trimmed": lambda: filled(Budget(200, counter=len), TrimOldest()).build(),
        "nonsense count": lambda: filled(Budget(300, counter=counted)).build(),
    }
    for dialect in APIS:
        found[f"broken JSON {dialect.name}"] = lambda dialect=dialect: (
            Assembler(dialect=dialect)
            .add_capability([{"name": "f"}])
            .add_messages([*called(f'{{"q": "{CANARY}'), user])
            .build()
            .request()
        )
        found[f"media {dialect.name}"] = lambda dialect=dialect: (
            Assembler(dialect=dialect)
            .add_message({"role": "user", "content": [{"type": "image_url", "image_url": {"url": f"data:{CANARY}"}}]})
            .build()
            .request()
        )
        found[f"a type of media {dialect.name}"] = lambda dialect=dialect: (
            Assembler(dialect=dialect)
            .add_message({"role": "user", "parts": [{"fileData": {"mimeType": CANARY, "fileUri": CANARY}}]})
            .build()
            .request()
        )
    return found


@pytest.mark.parametrize(("numbers", "error"), [([], BudgetError), ([1.0], PromptError)])
def test_the_error_chain_for_a_refused_embedding_does_not_hold_it(
    numbers: list[float], error: type[AssemblyError]
) -> None:
    bad = [*numbers, *case("A8-embedding")["input"]["embedding"]]
    assembler = Assembler(strategy=CitedSources()).add_messages([("user", "q")])
    with pytest.raises(error) as caught:
        for text in ("a", "b"):
            assembler.add_knowledge(text, type="rag", embedding=bad)
        assembler.build()
    assert not [line for line in spoken_by(caught.value) if CANARY in line]


LEAKS = {"instruction", "knowledge", "surrogate", "arguments surrogate", "type", "source"} | {
    "tool description",
    "tool schema",
}
"""Found by this test: the chain behind these holds the UnicodeEncodeError, and that holds the text."""


@pytest.mark.parametrize("name", [name for name in refusals() if name not in LEAKS])
def test_no_error_quotes_a_message(name: str) -> None:
    try:
        refusals()[name]()
    except AssemblyError as error:
        assert not [text for text in spoken_by(error) if CANARY in text]
        assert CANARY not in "".join(traceback.format_exception_only(error))


@pytest.mark.parametrize("name", sorted(LEAKS))
def test_the_error_for_a_surrogate_quotes_nothing(name: str) -> None:
    with pytest.raises(AssemblyError) as caught:
        refusals()[name]()
    assert CANARY not in str(caught.value) + repr(caught.value) + repr(vars(caught.value))


@pytest.mark.parametrize("name", sorted(LEAKS))
def test_the_error_chain_for_a_surrogate_does_not_hold_the_text(name: str) -> None:
    with pytest.raises(AssemblyError) as caught:
        refusals()[name]()
    assert not [text for text in spoken_by(caught.value) if CANARY in text]


def every_value(assembler: Assembler) -> Iterator[object]:
    plan, context = assembler.plan(), assembler.build()
    yield from (assembler, assembler.budget, assembler.costs(), plan, context, context.report, context.count)
    yield from (context.costs, context.sources, context.dropped, *context.report.rows)
    for name in ("draft", "settings", "view", "measured", "fixed", "ledger", "what", "layout"):
        yield getattr(plan, name, None)


@pytest.mark.parametrize("limit", [None, 2_000, 500])
def test_no_repr_quotes_a_message(limit: int | None, caplog: pytest.LogCaptureFixture) -> None:
    budget = None if limit is None else Budget(limit, counter=len)
    with caplog.at_level(logging.DEBUG), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for value in every_value(filled(budget, TrimOldest())):
            assert CANARY not in repr(value), type(value).__name__
            if not isinstance(value, dict | list | tuple):
                assert CANARY not in str(value), type(value).__name__
    assert CANARY not in caplog.text
    assert not [each for each in warned if CANARY in str(each.message)]


def test_a_report_holds_no_text_in_any_form() -> None:
    limit = filled(Budget(10_000, counter=len)).costs().total - 1
    report = filled(Budget(limit, counter=len), TrimOldest()).build().report
    assert any(row.outcome == "dropped" for row in report.rows)
    for form in (json.dumps(report.to_dict()), str(report), repr(report), str(pickle.dumps(report))):
        assert CANARY not in form
    assert CANARY not in str(copy.deepcopy(report))


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "tool", "tool_call_id": "x" * 100_000, "content": "r"}],
        [{"role": "user", "content": [{"type": "video", "mimeType": "x/" + "x" * 100_000, "data": "AAAA"}]}],
        [
            {"role": "assistant", "content": None, "function_call": {"name": "x" * 100_000}},
            {"role": "user", "content": ""},
        ],
    ],
    ids=["an id", "a kind", "a name"],
)
def test_an_error_is_short_however_long_the_name_in_it(messages: list[Any]) -> None:
    with pytest.raises(ConversationError) as refused:
        Assembler(dialect=openai_chat).add_messages(messages).build()
    assert len(str(refused.value)) < 1_100


def test_the_error_for_a_limit_of_no_region_is_short_however_long_its_key() -> None:
    with pytest.raises(BudgetError) as refused:
        Budget(100, limits={"x" * 100_000: Limit(cap=5)})
    assert len(str(refused.value)) < 200
