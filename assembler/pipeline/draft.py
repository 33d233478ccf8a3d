"""What was gathered: the four regions, frozen. Each add makes the next draft; nothing here is ever changed."""

from __future__ import annotations

import attrs

from assembler.conversation.history import History
from assembler.regions.regions import Regions
from budgets.value import Value


@attrs.frozen(eq=False, repr=False)
class Draft(Value):
    """Everything that goes into one request, before anything is chosen, priced or cut."""

    regions: Regions = attrs.field(factory=Regions)
    history: History = attrs.field(factory=lambda: History.of(()), repr=False)
