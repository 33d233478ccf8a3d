"""Makes conversations with planted facts from a seed.

One sentence tells a fact, among others about the same subject. So the words of its question are in many turns, and its
answer is in one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from assembler.validation import as_int, at_least_one
from budgets import BudgetError

Message = dict[str, Any]

_SENTENCES = {
    "name": ("Whom do I call about the {subject}?", "{needle} is my contact for the {subject}."),
    "number": ("How much may the {subject} cost?", "The budget of the {subject} is {needle}."),
    "decision": (
        "Which material did we choose for the {subject}?",
        "It is settled: the {subject} will be made with {needle}.",
    ),
    "task": ("What have I still got to do for the {subject}?", "Remind me about the {subject}: I must {needle}."),
    "tool result": ("What did the register say of the {subject}?", "{subject}: {needle}, checked"),
}
"""The question for each kind of fact, and the sentence that tells it."""
KINDS = tuple(_SENTENCES)
"""The kinds of facts."""


@attrs.frozen
class Fact:
    """`needle` is the text that answers `question`. It is in one message of turn `turn`, and nowhere else."""

    kind: str
    turn: int
    question: str = attrs.field(repr=False)
    needle: str = attrs.field(repr=False)


@attrs.frozen
class Planted:
    """A conversation and its facts. You may use your own messages if each needle occurs in them once."""

    messages: Sequence[Message] = attrs.field(repr=False)
    facts: Sequence[Fact]
    turns: int = attrs.field(converter=as_int, validator=at_least_one)


_SUBJECTS = (
    "harbour survey", "night train", "paper mill", "glass roof", "beekeeping course", "tram depot", "museum archive",
    "solar field", "river ferry", "stone bridge", "apple orchard", "radio tower", "school kitchen", "snow plough",
    "opera costumes", "water meter", "cargo bicycle", "lighthouse lamp", "street market", "weather balloon",
)  # fmt: skip
_AT_ONCE = 6
"""The number of subjects in a conversation: a few, so that the words of a question are in many turns."""
_FIRST = ("Mara", "Tomas", "Ines", "Yusuf", "Greta", "Olek", "Priya", "Sven", "Noor", "Luca", "Edda", "Kofi")
_LAST = ("Lindqvist", "Okafor", "Brandt", "Vasquez", "Moreau", "Tanaka", "Petrov", "Haddad", "Silva", "Novak")
_MADE_OF = ("oak", "zinc", "linen", "slate", "copper", "cork", "granite", "birch", "steel", "clay", "wool", "brass")
_DOING = ("repaint", "measure", "insure", "photograph", "label", "invoice", "inspect", "relocate")
_WORDS: tuple[str, ...] = (
    "we", "looked", "at", "the", "plan", "again", "and", "people", "who", "came", "had", "questions", "about", "time",
    "while", "weather", "held", "nobody", "minded", "noise", "because", "work", "went", "on", "as", "it", "should",
    "next", "step", "seems", "clear", "enough", "for", "now", "what", "did", "I", "have", "to", "do", "how", "much",
)  # fmt: skip


def planted(seed: int, *, turns: int = 80, facts: int = 20) -> Planted:
    """Make a conversation of `turns` turns with `facts` facts, spread evenly over all turns but the last, one a turn.

    About every third turn calls a tool. 80 turns have about 20,000 tokens. The same seed gives the same conversation.
    Raises `BudgetError` if there are not more turns than facts.
    """
    if not 0 <= facts < turns:
        raise BudgetError(f"planted: {facts} facts do not fit into {turns} turns: one a turn, none in the last")
    draw = random.Random(seed)
    subjects = draw.sample(_SUBJECTS, _AT_ONCE)
    at = {place * max(turns - 1, 1) // max(facts, 1): place for place in range(facts)}
    messages: list[Message] = []
    stated: list[Fact] = []
    for turn in range(turns):
        subject = draw.choice(subjects)
        sentences = found = None
        if turn not in at:
            looks_up = draw.random() < 0.3
        else:
            fact, sentence = _draw_fact(draw, KINDS[at[turn] % len(KINDS)], turn, subject, at[turn])
            stated.append(fact)
            looks_up = fact.kind == KINDS[-1]
            sentences, found = (None, sentence) if looks_up else (sentence, None)
        messages.append(_ask_about(draw, subject, sentences))
        if looks_up:
            messages += _draw_lookup(draw, turn, subject, found)
        messages.append({"role": "assistant", "content": " ".join(_draw_sentence(draw, subject) for _ in range(5))})
    return Planted(tuple(messages), tuple(stated), turns)


def _draw_fact(draw: random.Random, kind: str, turn: int, subject: str, number: int) -> tuple[Fact, str]:
    match kind:
        case "name":
            needle = f"{draw.choice(_FIRST)} {draw.choice(_LAST)} {number}"
        case "number":
            needle = f"{draw.randrange(10, 99)},{number:03} euros"
        case "decision":
            needle = f"{draw.choice(_MADE_OF)} number {number}"
        case "task":
            needle = f"{draw.choice(_DOING)} it before day {100 + number}"
        case _:
            needle = f"status {draw.randrange(100, 999)}-{number:03}"
    question, sentence = _SENTENCES[kind]
    return Fact(kind, turn, question.format(subject=subject), needle), sentence.format(subject=subject, needle=needle)


def _ask_about(draw: random.Random, subject: str, fact: str | None) -> Message:
    sentences = [_draw_sentence(draw, subject), *([] if fact is None else [fact]), _draw_sentence(draw, subject)]
    return {"role": "user", "content": " ".join(sentences)}


def _draw_lookup(draw: random.Random, turn: int, subject: str, fact: str | None) -> Iterator[Message]:
    call_id = f"call_{turn}"
    function = {"name": "look_up", "arguments": f'{{"subject": "{subject}"}}'}
    yield {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }
    lines = [f"{subject}: row {draw.randrange(10_000)}, {_draw_sentence(draw)}" for _ in range(8)]
    if fact is not None:
        lines.insert(4, fact)
    yield {"role": "tool", "tool_call_id": call_id, "content": "\n".join(lines)}


def _draw_sentence(draw: random.Random, subject: str | None = None) -> str:
    words: list[str] = draw.choices(_WORDS, k=draw.randrange(8, 16))
    if subject is not None:
        words.insert(draw.randrange(len(words)), f"the {subject}")
    return f"{' '.join(words).capitalize()}."
