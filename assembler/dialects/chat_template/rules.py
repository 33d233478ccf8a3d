"""The rules H1 and H2 for a chat template's arguments: `messages`, `tools`, perhaps `chat_template` itself.

Templates differ. If the request holds the template's text, the exceptions in it decide. Without it, H1 is as strict as
the strictest template, and H2 is not checked. Of a rendered `prompt` only the shape is checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assembler.verify import neutral
from assembler.verify.checker import Checker
from assembler.verify.definitions import L0, T1, T2, T3
from assembler.verify.neutral import N1, N4
from assembler.verify.pairing import N2, N3, Turn
from assembler.verify.place import Place, is_list
from assembler.verify.shape import LIST, OBJECT, S1, TEXT, may_be, must_be
from assembler.verify.violation import Violation, rules_in

RULE = rules_in(__name__)
RULES = (*RULE.values(), L0, T1, T2, T3, N1, N2, N3, N4)

_RAISES = re.compile(r"raise_exception\(([^)]*+)", re.IGNORECASE)
"""A template's exception, such as `raise_exception('System role not supported')`, up to the first closing bracket."""

_ALTERNATES = (re.compile(r"\balternate\b", re.IGNORECASE),)
_NO_SYSTEM = tuple(re.compile(words, re.IGNORECASE) for words in (r"\bsystem\b", r"\bnot\b|n't|\bun", "support"))
"""The words of such exceptions, in order."""


def check(request: Place, _model: str | None) -> Iterator[Violation]:
    """Every breach in the arguments. No rule here depends on the model. Linear."""
    if not request.at("prompt").absent and request.at("messages").absent:
        yield from _wrong_prompt(request)
        return
    messages = request.at("messages")
    # A JSON text would be encoded a second time by the template's `tojson`.
    yield from neutral.wrong_messages(messages, OBJECT)
    yield from neutral.wrong_tools(request.at("tools"))
    if is_list(messages.value) and not messages.value:
        yield N1.broken(messages.path, "no messages at all")
    turns = neutral.read_turns(messages)
    yield from neutral.wrong_pairs(turns)
    yield from neutral.empty_contents(turns)
    template = request.at("chat_template").text
    if template is None or _may_raise(template, _ALTERNATES):
        without_system = [turn for turn in turns if turn.role in ("user", "assistant", "tool")]
        yield from _wrong_alternation(without_system if template is None else _drop_turns_with_calls(without_system))
    if template is not None and _may_raise(template, _NO_SYSTEM):
        for turn in turns:
            if turn.role == "system":
                yield RULE["H2"].broken(turn.place.at("role").path, "a system message, which this template refuses")


def _may_raise(template: str, patterns: tuple[re.Pattern[str], ...]) -> bool:
    """Whether an exception of the template has these words in this order. O(template)."""
    return any(_has_in_order(found[1], patterns) for found in _RAISES.finditer(template))


def _has_in_order(text: str, patterns: tuple[re.Pattern[str], ...]) -> bool:
    place = 0
    for words in patterns:
        found = words.search(text, place)
        if found is None:
            return False
        place = found.end()
    return True


def _drop_turns_with_calls(turns: list[Turn]) -> list[Turn]:
    """The turns that must alternate: those without calls and results."""
    return [turn for turn in turns if turn.role != "tool" and not turn.calls and not turn.answers]


def _wrong_alternation(turns: list[Turn]) -> Iterator[Violation]:
    before = "assistant"
    for turn in turns:
        if turn.role == before != "tool":
            first = turn is turns[0]
            problem = "the conversation begins with the assistant" if first else f"a second {before} message in a row"
            yield RULE["H1"].broken(turn.place.path, problem)
        before = turn.role


def _wrong_prompt(request: Place) -> Iterator[Violation]:
    ids = request.at("prompt_token_ids")
    yield from must_be(request.at("prompt"), TEXT)
    yield from may_be(ids, LIST)
    for place in ids.each():
        if not isinstance(place.value, int) or isinstance(place.value, bool) or place.value < 0:
            yield S1.broken(place.path, "a token id is a whole number, 0 or more")


CHECKER = Checker(check, RULES)
