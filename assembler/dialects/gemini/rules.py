"""Gemini generateContent: rules G0 to G9.

Half of G8 cannot be checked in one request: a thought signature must be unchanged. Only its presence is checked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from assembler.dialects.gemini.rules_of_parts import (
    KINDS,
    Content,
    read_contents,
    setting_under,
    value_under,
    wrong_contents,
    wrong_parts,
    wrong_tools,
)
from assembler.verify.checker import Checker
from assembler.verify.definitions import L0, T1, T2, T3
from assembler.verify.encoded import wrong_base64
from assembler.verify.pairing import N2, N3, find_repeated, refs
from assembler.verify.place import Place
from assembler.verify.violation import Violation, count_noun, rules_in, shown

RULE = rules_in(__name__)
RULES = (*RULE.values(), N2, N3, L0, T1, T2, T3)

BYTES_UNDER = frozenset({"data", "thought_signature", "thoughtSignature"})
"""Keys under which the SDK takes bytes and writes base64 itself (google-genai 3.4.0, types.Blob and types.Part)."""


_SIGNING = re.compile(r"gemini-(?:[3-9]|\d\d)")
"""Gemini 3 and later refuse a call of the current turn without its thought signature (G8)."""


def check(request: Place, model: str | None) -> Iterator[Violation]:
    """Every breach in a request; G8 only for a Gemini 3 model. Linear."""
    contents = request.at("contents")
    yield from wrong_contents(contents)
    if contents.empty:
        yield RULE["G0"].broken(contents.path, "no contents at all")
    turns = read_contents(contents)
    yield from _wrong_system(request)
    yield from wrong_tools(request)
    for turn in turns:
        yield from _wrong_turn(turn)
    yield from _wrong_order(turns)
    yield from find_repeated(refs(call.at("id") for turn in turns for call in turn.calls), N3)
    inline = (value_under(part, "inline_data") for turn in turns for part in turn.parts)
    yield from wrong_base64((each.at("data") for each in inline), RULE["G9"])
    if turns and turns[-1].role == "model":
        yield RULE["G7"].broken(turns[-1].place.path, "the last content is the model's")
    if model is not None and _SIGNING.search(model.lower()):
        yield from _wrong_signatures(turns)


def _wrong_system(request: Place) -> Iterator[Violation]:
    """G2 of the system instruction: a string, a content, a part, or a list of either."""
    system = setting_under(request, "system_instruction")
    for place in system.each() or [system]:
        parts = place.at("parts")
        for part in parts.each() or [place]:
            text = part if part.text is not None else part.at("text")
            if text.text == "":
                yield RULE["G2"].broken(text.path, "an empty text")
        if not parts.absent and not parts.size:
            yield RULE["G2"].broken(parts.path, "a content without parts")


def _wrong_turn(turn: Content) -> Iterator[Violation]:
    role = turn.place.at("role")
    if role.text is not None and role.text not in ("user", "model"):
        wrong = RULE["G1"].broken(role.path, f"role {shown(role.text)} is neither user nor model")
        yield wrong.as_accepted() if role.text == "function" else wrong  # as in 82 recordings, read 2026-11
    if not turn.parts:
        yield RULE["G2"].broken(turn.place.path, "a content without parts")
    yield from wrong_parts(turn, RULE["G2"])
    if turn.calls and turn.role == "user":
        yield RULE["G1"].broken(turn.place.path, "a function call in a user turn")
    if turn.responses and turn.role == "model":
        yield RULE["G1"].broken(turn.place.path, "a function response in a model turn")
    others = len(turn.parts) - len(turn.responses)
    if turn.responses and others:
        yield RULE["G6"].broken(turn.place.path, f"{count_noun(others, 'other part')} next to the function responses")


def _wrong_order(turns: list[Content]) -> Iterator[Violation]:
    before: Content | None = None
    for turn in turns:
        if turn.calls and (before is None or before.role == "model"):
            place = "first in the history" if before is None else "after another model turn"
            yield RULE["G3"].broken(turn.place.path, f"a turn of function calls {place}")
        if turn.responses and (before is None or not before.calls):
            yield RULE["G5"].broken(
                turn.place.path, "a turn of function responses without a turn of calls directly before it"
            )
        elif before is not None and before.calls:
            yield from _wrong_answers(before, turn)
        before = turn


def _wrong_answers(asked: Content, turn: Content) -> Iterator[Violation]:
    if len(asked.calls) != len(turn.responses):
        calls, responses = count_noun(len(asked.calls), "call"), count_noun(len(turn.responses), "response")
        yield RULE["G4"].broken(turn.place.path, f"{responses} for {calls}")
        return
    # An id is optional; without ids on both sides, the names decide.
    ids = all(place.at("id").text is not None for place in (*asked.calls, *turn.responses))
    key = "id" if ids else "name"
    open_calls = Counter(call.at(key).text for call in asked.calls)
    for response in turn.responses:
        word = response.at(key)
        if word.text is not None and not open_calls[word.text] and not open_calls[None]:
            wrong = N2.broken(word.path, f"answers the {key} {shown(word.text)}, which no open call of that turn has")
            yield wrong if ids else wrong.as_accepted()  # the order decides (160 recordings, read 2026-11)
        open_calls[word.text] -= 1


def _wrong_signatures(turns: list[Content]) -> Iterator[Violation]:
    """G8: the first call of each model turn since the user last spoke carries a signature."""
    for turn in reversed(turns):
        if turn.role == "user" and not turn.responses:
            return
        if turn.calls:
            part = next(part for part in turn.parts if not value_under(part, "function_call").absent)
            signature = value_under(part, "thought_signature")
            if signature.nothing:
                yield RULE["G8"].broken(signature.path, "the first function call of this turn has no thought signature")


CHECKER = Checker(
    check,
    RULES,
    bytes_under=BYTES_UNDER,
    words=frozenset(
        (
            *("function_call", "thought", "thought_signature", "thoughtSignature", "functionCall"),
            *("functionResponse", "function_response", "inline_data", "inlineData", "fileData"),
        )
    ),
    turns="contents",
    kinds=KINDS,
)
