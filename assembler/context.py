"""The finished request: what was decided, spelled for an API. Knows the plan; decides nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import attrs

from assembler.dialects import Dialect
from assembler.knowledge import Document
from assembler.plan import Dropped, Plan
from budgets import Count, RegionCosts, Tokens

if TYPE_CHECKING:
    from assembler.report import Report


@attrs.frozen(repr=False)
class Context:
    """One request that fits: unpacks to `system, messages, tool_classes`.

    `system` is the instruction with the knowledge, or None; `messages` and `tool_classes` hold the caller's very
    objects. Equal contexts say the same.
    """

    system: str | None
    messages: list[object]
    tool_classes: list[object]
    _plan: Plan = attrs.field(eq=False, alias="plan")

    def __iter__(self) -> Iterator[Any]:
        return iter((self.system, self.messages, self.tool_classes))

    @property
    def costs(self) -> RegionCosts:
        """Tokens by region: instruction, capability, knowledge, conversation, framing; their sum is `count.tokens`."""
        return self._plan.costs

    @property
    def count(self) -> Count:
        """Tokens of the whole request, the grade of that number, and the upper bound that was checked."""
        return self._plan.count

    @property
    def dropped(self) -> list[Dropped]:
        """What was left out, oldest first, with stable ids: offer it back, or file it away."""
        return self._plan.dropped

    @property
    def report(self) -> Report:
        """Every item kept or dropped, its tokens, and why. `print(context.report)`."""
        return self._plan.report

    @property
    def sources(self) -> tuple[Document, ...]:
        """The documents that went in, in the order in which they are read: number 1 first, where they are numbered."""
        return self._plan.measured.rendered.sources

    @property
    def max_output_tokens(self) -> Tokens | None:
        """What may be asked of the model: the budget's reserve, or all that is left where it reserves nothing.

        Never more than the window leaves; None without a budget.
        """
        budget = self._plan.terms.budget
        if budget is None:
            return None
        left = max(0, budget.context_window - budget.reasoning_tokens - self.count.upper)
        return min(budget.max_output_tokens, left) if budget.max_output_tokens else left

    @property
    def prefix_hash(self) -> str:
        """SHA-256 of everything before the newest turn, as it is sent: the same hash, the same cacheable prefix."""
        newest, _ = self._plan.sight.newest_turn()
        later = sum(1 for index, _ in self._plan.standing if index >= newest)
        messages = self._plan.layout.messages
        prefix = attrs.evolve(self._plan.layout, messages=messages[: len(messages) - later])
        text = json.dumps(self._plan.terms.dialect.emit(prefix), ensure_ascii=False, sort_keys=True, default=repr)
        return hashlib.sha256(text.encode()).hexdigest()

    def request(self, dialect: Dialect | None = None) -> dict[str, Any]:
        """The keyword arguments of the API's call that carry the regions: plain dicts and lists of your own.

        Without an argument it is what was priced. With another dialect it is the same conversation in that spelling,
        which may cost otherwise. Raises `UnsupportedContentError` for what the dialect cannot express.
        """
        return (self._plan.terms.dialect if dialect is None else dialect).emit(self._plan.layout)

    def __repr__(self) -> str:
        return (
            f"Context(tokens={self.count.tokens}, grade={self.count.grade}, messages={len(self.messages)}, "
            f"tools={len(self.tool_classes)}, left_out={len(self.dropped)})"
        )


def emit(plan: Plan) -> Context:
    """The context of a plan. O(messages that stay). Raises what the dialect cannot express."""
    layout = plan.layout
    _ = plan.notes
    return Context(
        system=layout.system,
        messages=plan.objects,
        tool_classes=list({id(tool.raw): tool.raw for tool in layout.tools}.values()),
        plan=plan,
    )
