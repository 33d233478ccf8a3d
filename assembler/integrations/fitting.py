"""One base assembler, many model calls: each conversation goes on from its last build."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from assembler.assembler import Assembler
from assembler.context import Context, emit
from assembler.integrations.own_objects import instructed
from assembler.pipeline.planned import Planned
from assembler.report.report import Report
from budgets import BudgetError

REMEMBERED = 64
"""Conversations that are gone on with. One that comes back after that many others is read anew: that costs time, and a
new summary where `Summarize` is used, and changes nothing else."""


@attrs.frozen
class _Known:
    """A conversation as it was fitted last: what was gathered, and what came of it."""

    system: str | None
    tools: Sequence[Any] | None
    messages: Sequence[object]
    assembler: Assembler
    context: Context


class Fitting:
    """Fits call after call of any number of conversations, each told by its `run`. Safe to share between threads.

    The base assembler is forked here and for each call, so that what is added to it later is not seen.
    """

    def __init__(self, assembler: Assembler) -> None:
        if not isinstance(assembler, Assembler):
            raise BudgetError(f"expected an Assembler, got {type(assembler).__name__}; pass Assembler(budget=…)")
        self.assembler = assembler.fork()
        _, settings = self.assembler.inside
        self.dialect = settings.dialect.name
        self.last_context: Context | None = None
        """What was built last, for whichever conversation."""
        self._known: dict[Hashable, _Known] = {}
        """The one that was called last stands last."""

    @property
    def report(self) -> Report | None:
        """What the last build kept and dropped, and why; None before the first."""
        return None if self.last_context is None else self.last_context.report

    def context_of(self, run: Hashable) -> Context | None:
        """What was built last for one conversation; None for one that is not, or no longer, known."""
        known = self._known.get(run)
        return None if known is None else known.context

    def fit(
        self,
        messages: Sequence[object],
        *,
        system: str | None,
        tools: Sequence[Any] | None,
        run: Hashable = None,
    ) -> tuple[Planned, Context]:
        """The plan and the context of one call. Raises what `build` raises, and then remembers nothing of it.

        `system` is the framework's own prompt: the base's instruction and knowledge follow it. `tools` are all that the
        framework sends, whatever the base holds; None where it does not tell, and the base does. `messages` may be made
        anew for each call: those that equal the ones of the last call are taken for the same.
        """
        known = self._known.get(run)
        assembler = (self.assembler if known is None else known.assembler).fork()
        if known is None or (known.system, known.tools) != (system, tools):
            instruction = instructed(self.assembler, system).instruction
            assembler.add_instruction(instruction or "")
            if tools is not None:
                assembler.add_capability(tools)
        same = _recognised(messages, () if known is None else known.messages)
        plan = assembler.add_messages(same).plan().inside
        context = emit(plan)
        self._remember(run, _Known(system, tools, same, assembler, context))
        return plan, context

    def _remember(self, run: Hashable, known: _Known) -> None:
        # Each step is one of the dict's own, so that there is no lock that a forked child could inherit closed.
        self._known.pop(run, None)
        self._known[run] = known
        for oldest in list(self._known)[:-REMEMBERED]:
            self._known.pop(oldest, None)
        self.last_context = known.context


class LastCall:
    """What an adapter says of its last call, for the classes that keep their `Fitting` as `_fitting`."""

    if TYPE_CHECKING:  # each class has its own: some frameworks read the annotations of a class as its fields
        _fitting: Fitting

    @property
    def last_context(self) -> Context | None:
        """What was built last, for whichever conversation; None before the first."""
        return self._fitting.last_context

    @property
    def report(self) -> Report | None:
        """What the last call kept and dropped, and why; None before the first."""
        return self._fitting.report


def _recognised(messages: Sequence[object], before: Sequence[object]) -> list[object]:
    """`messages`, with the earlier objects in place of those that equal them: what is known of them is found again."""
    both = [old if old == new else new for old, new in zip(before, messages, strict=False)]
    return [*both, *messages[len(both) :]]


def priced_tools(tools: Sequence[Mapping[str, Any]], assembler: Assembler) -> list[Mapping[str, Any]]:
    """The definitions that have a price. One that runs at the provider has none, and no schema to read.

    It is passed over where the budget's `overhead` keeps room for it, or there is no budget; else it stays, and is
    refused as a tool without a schema.
    """
    budget = assembler.budget
    if budget is not None and not budget.overhead:
        return list(tools)
    return [tool for tool in tools if "function" in tool or "parameters" in tool or "input_schema" in tool]
