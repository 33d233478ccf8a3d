"""Hints for callers who pass an assembler arguments that it does not have."""

from __future__ import annotations

from budgets import numbers

_IN_THE_BUDGET = "it belongs to the budget: Assembler(Budget(…))"
_MODEL = "name it in the budget: Assembler(Budget.for_model(name))"
_POLICY = "policies are on_overflow=, such as TrimOldest()"
_ARGUMENTS = {
    "api": "the API is dialect=",
    "context_window": _IN_THE_BUDGET,
    "counter": _IN_THE_BUDGET,
    "instruction": "call set_instruction(text)",
    "knowledge": "call add_knowledge(text, type=…) for each document",
    "max_output_tokens": _IN_THE_BUDGET,
    "max_tokens": _IN_THE_BUDGET,
    "messages": "call set_messages(messages)",
    "model": _MODEL,
    "model_name": _MODEL,
    "policies": _POLICY,
    "policy": _POLICY,
    "provider": "the API is dialect=",
    "system": "call set_instruction(text)",
    "tokenizer": _IN_THE_BUDGET,
    "tools": "call set_tools(tools)",
}
"""What to write instead of keywords that people try."""

_MESSAGE = "a message is one argument: add_message((role, text))"
_TYPE = "say what kind of text it is: add_knowledge(text, type='document')"

of_an_assembler = numbers.hints("the API is dialect=, the policies are on_overflow=", **_ARGUMENTS)
of_one_message = numbers.hints(_MESSAGE, message=_MESSAGE, role=_MESSAGE, content=_MESSAGE)
of_one_document = numbers.hints(_TYPE, type=_TYPE)
