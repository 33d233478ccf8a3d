"""Everything gathered for a request: the four regions, frozen. Each `set_*` and `add_*` makes a new draft."""

from __future__ import annotations

from typing import Any

import attrs

from assembler.conversation.history import History
from assembler.conversation.intake import check_pairs, listed_messages, read_newest, read_whole
from assembler.regions.knowledge import document, provenance
from assembler.regions.regions import Regions
from assembler.text.checked import checked_text
from budgets import Count
from budgets.value import Value


@attrs.define(eq=False, repr=False)
class Draft(Value):
    """Everything that goes into one request, before anything is chosen, priced or cut.

    Input is read when it is added, so that an error points at the call that caused it. `shape` is the shape of the
    API: for some, a history may begin with answers to calls that the server holds.
    """

    regions: Regions = attrs.field(factory=Regions)
    history: History = attrs.field(factory=lambda: History.of(()), repr=False)

    def with_regions(self, **changes: Any) -> Draft:
        """The draft with other regions."""
        return Draft(attrs.evolve(self.regions, **changes), self.history)

    def with_instruction(self, text: str | None) -> Draft:
        """The draft with this instruction, or none."""
        instruction = None if text is None else checked_text(text, field="instruction") or None
        return self.with_regions(instruction=instruction, provenance=provenance(text))

    def with_document(self, text: str, **fields: Any) -> Draft:
        """The draft with one more document. Raises `MarkupError` or `BudgetError`."""
        known = self.regions.documents
        added = document(text, place=f"knowledge[{len(known)}]", **fields)
        return self.with_regions(documents=(*known, added))

    def with_messages(self, messages: object, shape: str | None) -> Draft:
        """The draft with another conversation, or with none. Raises `ConversationError`."""
        history = self.history.replaced([] if messages is None else listed_messages(messages))
        check_pairs(history, read_whole, self.regions.held, shape)
        return Draft(self.regions, history)

    def with_message(self, message: object, shape: str | None) -> Draft:
        """The draft with one more message. O(1). Raises `ConversationError`."""
        history = self.history.appended(message)
        check_pairs(history, read_newest, self.regions.held, shape)
        return Draft(self.regions, history)

    def without_last(self) -> Draft:
        """The draft without its last message. O(1)."""
        return Draft(self.regions, self.history.without_last())

    def holding(self, held: Count | None, shape: str | None) -> Draft:
        """The draft of a request for which the server already holds `held` tokens. Raises `ConversationError`."""
        check_pairs(self.history, read_whole, held, shape)
        return self.with_regions(held=held)
