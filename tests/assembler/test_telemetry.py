"""Logs and spans of a build hold numbers and names under the library's own name, and cost nothing if unused."""

from __future__ import annotations

import json
import logging
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from assembler import Assembler, ContextLengthError, MissingExtraError, TrimOldest, Truncate
from assembler.dialects import plain
from assembler.report.logs import find_listening_logger
from assembler.telemetry import NAMESPACE, Value, attributes, fields, set_attributes
from budgets import Budget
from tests.interpreter import ran

CANARY = "xyzzy"


def gathered(turns: int, window: int = 400, policy: Any = None) -> Assembler:
    made = Assembler(
        Budget(window, counter=len, model="gpt-4o"), dialect=plain, on_overflow=policy or TrimOldest(note=CANARY)
    )
    made.add_instruction(f"You are {CANARY}.").add_knowledge(CANARY, type="rag", source=f"https://{CANARY}")
    made.add_capability([{"name": "find", "description": CANARY}])
    return made.add_messages([("user", f"{CANARY} " * 5) for _ in range(turns)])


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    logger = logging.getLogger("assembler")
    before = logger.level
    yield
    logger.setLevel(before)


class Span:
    """A span that remembers."""

    def __init__(self) -> None:
        self.noted: dict[str, Value] = {}

    def set_attributes(self, attributes: Mapping[str, Value], /) -> None:
        self.noted |= attributes


# ── attributes


def test_attributes_are_the_numbers_of_the_context() -> None:
    context = gathered(20).build()
    assert context.dropped
    found = attributes(context)
    figures = {name.removeprefix(NAMESPACE): value for name, value in found.items()}
    assert figures["tokens.total"] == context.count.tokens
    assert {name: figures[f"tokens.{name}"] for name in context.costs.to_dict()} == context.costs.to_dict()
    assert figures["messages.dropped"] == len(context.dropped)
    assert figures["messages.kept"] == 20 - len(context.dropped)
    assert (figures["input_limit"], figures["model"], figures["dialect"]) == (400, "gpt-4o", "plain")
    assert (figures["documents.kept"], figures["documents.dropped"], figures["tools"]) == (1, 0, 1)
    assert figures["policies"] == ["TrimOldest"]
    assert attributes(gathered(20).plan()) == found


def test_a_shortened_message_is_neither_kept_nor_dropped() -> None:
    long = gathered(1, window=300, policy=Truncate(60)).add_messages([("user", "word " * 100)])
    found = attributes(long.build())
    shares = [found[f"{NAMESPACE}messages.{outcome}"] for outcome in ("kept", "shortened", "dropped")]
    assert shares == [0, 1, 0]


def test_without_a_budget_telemetry_states_none() -> None:
    found = attributes(Assembler().add_messages([("user", "hi")]).build())
    assert f"{NAMESPACE}input_limit" not in found
    assert f"{NAMESPACE}policies" not in found


def test_telemetry_of_an_overflow_states_its_arithmetic() -> None:
    with pytest.raises(ContextLengthError) as caught:
        gathered(1, window=150).build()
    found = attributes(caught.value)
    assert found[f"{NAMESPACE}required"] == caught.value.required
    assert found[f"{NAMESPACE}excess"] == caught.value.excess
    assert found[f"{NAMESPACE}context_window"] == 150


def test_no_attribute_is_text_and_none_is_the_providers_own() -> None:
    with pytest.raises(ContextLengthError) as caught:
        gathered(1, window=150).build()
    for subject in (gathered(20).build(), gathered(20, window=2_000).build(), caught.value):
        found = attributes(subject)
        assert CANARY not in json.dumps(found)
        conventional = {"gen_ai.request.model", "gen_ai.provider.name"}
        assert all(name.startswith("context_assembler.") or name in conventional for name in found)
        assert all(type(value) in (str, int, float, bool, list) for value in found.values())


# ── spans


def test_a_span_gets_the_attributes() -> None:
    span, context = Span(), gathered(20).build()
    set_attributes(context, span=span)
    assert span.noted == attributes(context)


def test_without_a_span_it_is_the_current_one(monkeypatch: pytest.MonkeyPatch) -> None:
    span = Span()
    trace = types.ModuleType("opentelemetry.trace")
    trace.get_current_span = lambda: span  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "opentelemetry", types.ModuleType("opentelemetry"))
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", trace)
    set_attributes(gathered(3).build())
    assert span.noted[f"{NAMESPACE}messages.kept"] == 3


def test_without_opentelemetry_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    with pytest.raises(MissingExtraError, match=r"context-assembler\[opentelemetry\]"):
        set_attributes(gathered(3).build())


# ── logs


def test_a_cut_is_logged_as_information_with_every_number_a_field(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="assembler")
    context = gathered(20).build()
    [record] = caplog.records
    assert (record.name, record.levelno) == ("assembler", logging.INFO)
    own = [(name, value) for name, value in attributes(context).items() if name.startswith(NAMESPACE)]
    assert [(name, vars(record)[name.replace(".", "_")]) for name, _ in own] == own
    assert record.getMessage().startswith(f"built a request of {context.count.tokens} tokens")
    assert CANARY not in str(vars(record))


def test_a_build_that_drops_nothing_is_logged_at_debug_level_only(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="assembler")
    gathered(3).build()
    assert not caplog.records
    caplog.set_level(logging.DEBUG, logger="assembler")
    gathered(3).build()
    assert [record.levelno for record in caplog.records] == [logging.DEBUG]


def test_no_log_handler_is_installed_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    logging.getLogger("assembler").setLevel(logging.WARNING)
    assert find_listening_logger() is None
    monkeypatch.delitem(sys.modules, "logging")
    assert find_listening_logger() is None


def test_building_loads_neither_logging_nor_opentelemetry() -> None:
    code = (
        "import sys; from assembler import Assembler; from budgets import Budget;"
        "Assembler(Budget(100, counter=len)).add_messages([('user', 'hi')]).build();"
        "print([name for name in ('logging', 'opentelemetry', 'assembler.telemetry') if name in sys.modules])"
    )
    done = ran(code)
    assert done.strip() == "[]"


def test_attributes_of_another_value_are_refused_by_name() -> None:
    with pytest.raises(TypeError, match="ContextLengthError, got int"):
        attributes(5)  # type: ignore[arg-type]


def test_a_refused_build_is_a_record_with_what_it_lacked(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="assembler")
    with pytest.raises(ContextLengthError) as caught:
        gathered(3, window=20).build()
    record: Any = caplog.records[-1]
    assert record.context_assembler_excess == caught.value.excess
    assert CANARY not in caplog.text


def test_no_name_is_both_an_attribute_and_a_namespace() -> None:
    context = gathered(30).build()
    with pytest.raises(ContextLengthError) as caught:
        gathered(3, window=20).build()
    for subject in (context, caught.value):
        names = attributes(subject).keys()
        assert not [name for name in names if any(other.startswith(f"{name}.") for other in names)]


def test_a_fit_is_noted_on_the_span_of_a_framework_that_records(monkeypatch: pytest.MonkeyPatch) -> None:
    from assembler.integrations.fitting import Asked, Fitting

    class Span(dict[str, Value]):
        def is_recording(self) -> bool:
            return True

        def set_attributes(self, found: Mapping[str, Value]) -> None:
            self.update(found)

    span, trace = Span(), types.ModuleType("opentelemetry.trace")
    trace.get_current_span = lambda: span  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", trace)
    fitting = Fitting(Assembler(Budget(60, counter=len), dialect=plain, on_overflow=TrimOldest()))
    fitting.fit([("user", "q")], Asked())
    assert span[f"{NAMESPACE}tokens.total"] == 1
    with pytest.raises(ContextLengthError):
        fitting.fit([("user", "q" * 99)], Asked())
    assert span[f"{NAMESPACE}excess"] == 39
    assert not [name for name in span if name.startswith("gen_ai.")]  # the framework says them


def test_the_model_and_the_provider_have_the_names_of_the_conventions() -> None:
    asked = Assembler(Budget(4_000, model="claude-sonnet-4-5"), dialect="anthropic").add_messages([("user", "hi")])
    found = attributes(asked.build())
    assert (found["gen_ai.request.model"], found["gen_ai.provider.name"]) == ("claude-sonnet-4-5", "anthropic")
    assert "gen_ai.provider.name" not in attributes(gathered(1).build())  # nobody's API


def test_a_structured_logger_gets_the_fields_of_the_record(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "assembler")
    context = gathered(20).build()
    record = vars(caplog.records[-1])
    found = fields(context)
    assert found == {name: value for name, value in record.items() if name.startswith("context_assembler_")}
    assert all(name.isidentifier() for name in found)
