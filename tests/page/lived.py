"""A conversation as it was sent, build by build, with the records that a program would keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assembler import Assembler, ClearToolResults, Context, TrimOldest
from assembler.dialects import openai_chat
from budgets import Budget

TOOLS = [
    {"name": name, "description": f"{name} by number.", "parameters": {"type": "object", "properties": {}}}
    for name in ("find_orders", "track_parcel", "open_return")
]


def conversation(turns: int = 40, window: int = 3_000, **settings: Any) -> Iterator[Context]:
    """The builds of a conversation that outgrows its window: two rungs, and an instruction that changes once."""
    policy = settings.pop("on_overflow", [ClearToolResults(keep=1), TrimOldest(low_water=0.6)])
    budget = Budget(window, max_output_tokens=300, model="gpt-4o")
    assembler = Assembler(budget, dialect=openai_chat, on_overflow=policy, **settings).add_capability(TOOLS)
    assembler.add_instruction("You answer questions about parcels, briefly and with the facts at hand. " * 6)
    assembler.add_knowledge("Parcels take two days. " * 30, type="policy", source="handbook/shipping.md", trusted=True)
    for turn in range(turns):
        if turn == 30:
            assembler.add_instruction("You answer questions about parcels in one sentence. " * 8)
        assembler.add_message(
            {"role": "user", "content": f"Where is order {turn}? " + "Please look. " * (turn % 5 * 4)}
        )
        if turn % 3 == 0:
            call = {"id": f"c{turn}", "type": "function", "function": {"name": "find_orders", "arguments": "{}"}}
            assembler.add_message({"role": "assistant", "content": None, "tool_calls": [call]})
            text = f"parcel {turn} on its way; " * 25
            assembler.add_message({"role": "tool", "tool_call_id": f"c{turn}", "content": text})
        yield assembler.build()
        assembler.add_message({"role": "assistant", "content": f"It is on its way, parcel {turn}." * (1 + turn % 2)})
