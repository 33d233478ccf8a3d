"""The README's example with every kind of tool: four regions in, one request that fits out. Runs offline."""

from typing import Literal

from pydantic import BaseModel, Field

from assembler import Assembler, TrimOldest
from budgets import Budget


def search_orders(customer: str, status: Literal["open", "shipped", "returned"] = "open") -> str:
    """Find a customer's orders.

    Args:
        customer: The mail address that the orders were placed with.
        status: Only orders in this state.
    """
    raise NotImplementedError("the library reads the signature; only your own loop calls it")


class RefundTool(BaseModel):
    """Pay an order back, in part or in full."""

    order: str
    amount: float = Field(gt=0, description="Euros.")


lookup = {
    "name": "lookup",
    "description": "Look a word up in the company's glossary.",
    "parameters": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
}

history = [
    {"role": "user", "content": "Hi! Where is my order, and can I still send the headphones back?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "search_orders", "arguments": '{"customer": "yuki@example.com"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": '[{"order": "A-1093", "due": "2026-11-24"}]'},
    {"role": "assistant", "content": "Order A-1093 arrives on 24 November, and yes: returns are open for 30 days."},
    {"role": "user", "content": "Great. What time is it there when your support opens?"},
]

assembler = Assembler(budget=Budget.for_model("gpt-4o", max_output_tokens=1_000), on_overflow=TrimOldest())
assembler.set_instruction("You are a helpful assistant.")
assembler.set_tools([search_orders, RefundTool, lookup])
assembler.add_knowledge("The user lives in Tokyo.", type="entity", source="crm.json", trusted=False)
assembler.set_messages(history)

context = assembler.build()
system, messages, tool_classes = context  # unpacks to the three; what was not shortened is the very object that came in

request = context.request()
# client.chat.completions.create(model="gpt-4o", max_completion_tokens=context.max_output_tokens, **request)
print(context.report)
