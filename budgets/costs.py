"""The cost of a request by region."""

from __future__ import annotations

import attrs

from budgets.apportion import scale_down
from budgets.count import Tokens
from budgets.numbers import whole_tokens
from budgets.value import Value


@attrs.frozen(eq=False, repr=False)
class RegionCosts(Value):
    """Tokens of the four regions, and of the framing that the chat format adds around them. They add up to `total`."""

    instruction: Tokens = 0
    capability: Tokens = 0
    knowledge: Tokens = 0
    conversation: Tokens = 0
    framing: Tokens = 0

    @property
    def total(self) -> Tokens:
        """All five together."""
        return self.instruction + self.capability + self.knowledge + self.conversation + self.framing

    def to_dict(self) -> dict[str, Tokens]:
        """The five by name, in the order of a request."""
        return {
            "instruction": self.instruction,
            "capability": self.capability,
            "knowledge": self.knowledge,
            "conversation": self.conversation,
            "framing": self.framing,
        }

    as_dict = to_dict

    def adding_up_to(self, total: Tokens) -> RegionCosts:
        """The costs adjusted to add up to `total`. If that is more, the difference is framing.

        If it is less, the difference is taken from the conversation, and beyond that from all others in proportion.
        """
        missing = whole_tokens(total, "total") - self.total
        if not missing:
            return self
        if missing > 0:
            return attrs.evolve(self, framing=self.framing + missing)
        left = self.conversation + missing
        if left >= 0:
            return attrs.evolve(self, conversation=left)
        others = attrs.evolve(self, conversation=0)
        return RegionCosts(*scale_down(list(others.to_dict().values()), total))

    def __add__(self, other: RegionCosts) -> RegionCosts:
        return RegionCosts(
            instruction=self.instruction + other.instruction,
            capability=self.capability + other.capability,
            knowledge=self.knowledge + other.knowledge,
            conversation=self.conversation + other.conversation,
            framing=self.framing + other.framing,
        )

    def __str__(self) -> str:
        return ", ".join(f"{region} {tokens}" for region, tokens in self.to_dict().items())
