"""Conversations drawn by number, each built at several windows, and a line for what each build says.

`python -m tests.assembler.recorded` writes the lines anew. The difference shows which builds a change touches: read it
before it is committed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from assembler import Assembler, ChatRegions, CitedSources, Context, ConversationError, Placement, calibrate, first_user
from assembler.dialects import DIALECTS, Dialect
from assembler.policies import (
    ClearReasoning,
    ClearToolResults,
    KeepRelevant,
    Offload,
    Policy,
    Refuse,
    Summarize,
    TrimOldest,
    TrimSteps,
    Truncate,
)
from assembler.strategies import REMINDER, Strategy
from budgets import AssemblyError, Budget, ContextLengthError, Limit, RegionCosts
from tests.assembler.one_price import APIS, GATEWAYS, TOOLS, Api

RECORDS = Path(__file__).with_name("test_recorded_builds.txt")
SCENARIOS = 200
TEMPLATES = [Api(f"template {name}", None) for name in ("chatml", "llama", "alternating", "no system")]

WORDS = (
    "the",
    "order",
    "was",
    "late",
    "and",
    "a",
    "refund",
    "of",
    "second",
    "parcel",
    "is",
    "on its way",
    "since",
    "Monday",
)
PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SHOWN = ("low_water", "keep_turns", "pins", "note", "keep", "exclude", "max_tokens", "where")
NOTE = "Older turns were left out."
Message = dict[str, Any]


class Draw(random.Random):
    """Draws what a conversation is made of. The same number gives the same conversation in every Python."""

    def words(self, most: int = 12) -> str:
        return " ".join(self.choice(WORDS) for _ in range(self.randint(1, most)))

    def text(self) -> str:
        return self.words(self.choice([2, 6, 12, 60]))

    def once_in(self, times: int) -> bool:
        return not self.randrange(times)


# ── conversations


def steps(draw: Draw, tag: str) -> Iterator[Message]:
    """A step of an agent in Chat's form: calls and their results, which seldom come in another order."""
    calls = [
        {
            "id": f"{tag}{place}",
            "type": "function",
            "function": {"name": draw.choice(["search", "refund"]), "arguments": json.dumps({"q": draw.words(5)})},
        }
        for place in range(draw.choice([1, 1, 2, 3]))
    ]
    answer: Message = {"role": "assistant", "content": draw.words() if draw.once_in(3) else None, "tool_calls": calls}
    if draw.once_in(4):
        answer["reasoning_content"] = draw.text()
    yield answer
    if draw.once_in(4):
        draw.shuffle(calls)
    for call in calls:
        found = json.dumps({"found": draw.text()}) if draw.once_in(3) else draw.text()
        yield {"role": "tool", "tool_call_id": call["id"], "content": found}


def blocks(draw: Draw, tag: str) -> Iterator[Message]:
    """The same in Anthropic's form."""
    parts: list[Any] = [{"type": "thinking", "thinking": draw.text(), "signature": "c2ln"}] if draw.once_in(2) else []
    parts += [{"type": "text", "text": draw.words()}] if draw.once_in(3) else []
    calls = [
        {
            "type": "tool_use",
            "id": f"{tag}{place}",
            "name": draw.choice(["search", "refund"]),
            "input": {"q": draw.words(5)},
        }
        for place in range(draw.choice([1, 1, 2, 3]))
    ]
    yield {"role": "assistant", "content": [*parts, *calls]}
    results: list[Any] = [{"type": "tool_result", "tool_use_id": call["id"], "content": draw.text()} for call in calls]
    yield {
        "role": "user",
        "content": [*results, *([{"type": "text", "text": draw.words(4)}] if draw.once_in(6) else [])],
    }


def items(draw: Draw, tag: str) -> Iterator[Message]:
    """The same as items of Responses."""
    if draw.once_in(2):
        yield {"type": "reasoning", "id": f"rs_{tag}", "summary": [{"type": "summary_text", "text": draw.words()}]}
    calls = range(draw.choice([1, 1, 2]))
    for place in calls:
        name, arguments = draw.choice(["search", "refund"]), json.dumps({"q": draw.words(5)})
        yield {"type": "function_call", "call_id": f"{tag}{place}", "name": name, "arguments": arguments}
    for place in calls:
        yield {"type": "function_call_output", "call_id": f"{tag}{place}", "output": draw.text()}


STEPS = {"chat": steps, "blocks": blocks, "items": items}


def conversation(draw: Draw) -> tuple[str, list[Message]]:
    """A conversation that ends in a question, and the form of its steps."""
    form = draw.choice([*STEPS])
    history: list[Message] = []
    if draw.once_in(4):
        history.append({"role": "system", "content": draw.words()})
    if draw.once_in(6):
        history.append({"role": "assistant", "content": draw.choice(["", draw.words()])})
    if draw.once_in(8):
        history.append({"role": "system", "content": draw.words()})
    for turn in range(draw.randint(0, 6)):
        history += asked(draw)
        for step in range(draw.choice([0, 1, 1, 2, 4])):
            history += STEPS[form](draw, f"t{turn}s{step}c")
        if not draw.once_in(4):
            history.append({"role": "assistant", "content": draw.text()})
        if draw.once_in(12):
            history.append({"role": "system", "content": draw.words()})
    history += asked(draw)
    if draw.once_in(3):
        history += STEPS[form](draw, "last")
    return form, history


def asked(draw: Draw) -> Iterator[Message]:
    question: Message = {"role": "user", "content": draw.text()}
    if draw.once_in(10):
        picture = {"type": "image_url", "image_url": {"url": PICTURE}}
        question["content"] = [{"type": "text", "text": draw.words()}, picture]
    if draw.once_in(9):
        question["pinned"] = True
    yield question
    if draw.once_in(10):
        yield {"role": "user", "content": draw.words()}


# ── what is asked of a build


def count_dropped(dropped: Sequence[Any], before: str | None, most: int) -> str:
    return f"{before or 'Before:'} {len(dropped)} messages."[: 4 * most]


@attrs.frozen
class Mine:
    """A policy of the caller's own, which keeps the newest half of the turns."""

    def cut(self, turns: Any, tokens_left: int) -> Any:
        return TrimOldest(keep_turns=1).cut(turns, tokens_left // 2)


def rung(draw: Draw) -> Policy:
    pins: Any = draw.choice([frozenset(), frozenset(), first_user, frozenset({2})])
    return draw.choice(
        [
            TrimOldest(keep_turns=draw.randint(1, 3), pins=pins, note=draw.choice([None, None, NOTE])),
            TrimOldest(low_water=draw.choice([0.3, 0.5, 0.8, "auto"]), pins=pins, note=draw.choice([None, None, NOTE])),
            KeepRelevant(keep_turns=draw.randint(1, 2), pins=pins),
            TrimSteps(keep=draw.randint(0, 2)),
            ClearToolResults(keep=draw.randint(0, 2), exclude=draw.choice([(), ("refund",)])),
            ClearReasoning(keep=draw.randint(0, 1)),
            Truncate(draw.randint(6, 40), where=draw.choice(["ends", "head", "tail"])),
            Summarize(count_dropped, keep_turns=draw.randint(1, 2)),
            Summarize(None),
            Offload({}, min_tokens=20, preview=8),
            Mine(),
            Refuse(),
        ]
    )


def ladder(draw: Draw) -> list[Policy]:
    rungs = [rung(draw) for _ in range(draw.choice([1, 1, 2, 3]))]
    return rungs if draw.once_in(3) else [*rungs, TrimOldest()]


STRATEGIES: list[tuple[str, Strategy]] = [
    ("plain", ChatRegions()),
    ("plain", ChatRegions()),
    ("plain with a reminder", ChatRegions(reminder=REMINDER)),
    ("at the question", ChatRegions(placement=Placement.QUESTION)),
    ("sources", CitedSources()),
    ("sources at the question", CitedSources(placement=Placement.QUESTION)),
    ("sources at the result", CitedSources(placement=Placement.TOOL)),
    ("two sources", CitedSources(top_k=2, compress=lambda text: text[:20])),
]


def limits(draw: Draw) -> dict[str, Limit]:
    if not draw.once_in(3):
        return {}
    some = draw.sample(["instruction", "capability", "knowledge", "conversation"], draw.randint(1, 3))
    return {
        region: draw.choice(
            [
                Limit(cap=draw.randint(10, 200)),
                Limit(cap=draw.choice([0.2, 0.5])),
                Limit(floor=draw.randint(5, 60), priority=draw.randint(0, 1)),
                Limit(share=draw.choice([0.2, 0.4])),
            ]
        )
        for region in some
    }


@attrs.frozen
class Scenario:
    """One drawn conversation, and all that is asked of its builds."""

    api: Api
    dialect: Dialect
    form: str
    history: list[Message]
    ladder: list[Policy]
    strategy: tuple[str, Strategy]
    limits: dict[str, Limit]
    documents: list[tuple[str, float]]
    tools: bool
    options: Mapping[str, Any]
    schema: bool
    billed: int

    @classmethod
    def drawn(cls, number: int) -> Scenario:
        api, draw = cls.api_of(number), Draw(number)
        form, history = conversation(draw)
        facts = [(draw.text(), draw.random()) for _ in range(draw.choice([0, 0, 1, 4]))]
        options = draw.choice([{}, {}, {}, {"max_output_tokens": 30}, {"safety_margin": 7}, {"overhead": 9}])
        return cls(
            api,
            dialect_of(api.dialect),
            form,
            history,
            ladder(draw),
            draw.choice(STRATEGIES) if facts else STRATEGIES[0],
            limits(draw),
            facts,
            form == "blocks" or not draw.once_in(3),
            options,
            draw.once_in(10),
            draw.choice([0, 0, -20, 40, 200]),
        )

    @staticmethod
    def api_of(number: int) -> Api:
        return Draw(f"api {number}").choice([*APIS, *GATEWAYS, *TEMPLATES])

    def __str__(self) -> str:
        model = f"{self.api.dialect} {self.api.model}" if self.api.model else self.api.dialect
        given = [f"{len(self.history)} messages as {self.form}", *map(_named, self.ladder)]
        if self.documents:
            given.append(f"{len(self.documents)} documents {self.strategy[0]}")
        given += [f"{region} {_spelled(limit)}" for region, limit in self.limits.items()]
        given += [f"{name}={value}" for name, value in self.options.items()]
        given += ["a schema"] if self.schema else []
        return f"{model}: {', '.join(given)}"

    def assembler(self, window: int, messages: Iterable[Message], ladder: Sequence[Policy] | None = None) -> Assembler:
        limits = {} if ladder is not None else self.limits
        budget = Budget(window, model=self.api.model, limits=limits, **self.options)
        rungs = self.ladder if ladder is None else ladder
        made = Assembler(budget, dialect=self.dialect, on_overflow=rungs, strategy=self.strategy[1])
        made.add_instruction("Be <brief>, and say what you know of the order.")
        if self.tools:
            made.add_capability(TOOLS)
        for place, (text, score) in enumerate(self.documents):
            made.add_knowledge(text, type="rag", source=f"s{place}", score=score)
        if self.schema:
            made.add_output_schema({"type": "object", "properties": {"sum": {"type": "number"}}}, name="sum")
        return made.add_messages(messages)


def dialect_of(name: str) -> Dialect:
    if name in DIALECTS:
        return DIALECTS[name]
    from tests.assembler.dialects import test_chat_template as templates  # transformers takes seconds to import

    return templates.DIALECTS[name.removeprefix("template ")]


def _named(policy: Policy) -> str:
    """A policy with the options that are not the default."""
    given = attrs.asdict(policy, recurse=False) if attrs.has(type(policy)) else {}
    fields = {field.name: field.default for field in attrs.fields(type(policy))} if given else {}
    shown = [f"{name}={value!r}" for name, value in given.items() if name in SHOWN and value != fields[name]]
    return f"{type(policy).__name__}({', '.join(shown)})"


def _spelled(limit: Limit) -> str:
    return repr(limit).removeprefix("Limit")


# ── what a build says


def lines(number: int) -> Iterator[str]:
    """What a scenario's builds say: at the windows where answers change, and in a session that grows."""
    scenario = Scenario.drawn(number)
    history = scenario.history
    yield f"{number} {scenario}"
    whole = _try_build(lambda: scenario.assembler(1_000_000, history, [Refuse()]).build())
    if not isinstance(whole, Context):
        yield f"  {_describe_answer(whole)}"
        return
    full = whole.count.upper + sum(scenario.options.values())
    least = set[int]()
    for window in (full, full - 1, full * 2 // 3, full // 3):
        answer = _try_build(lambda window=window: scenario.assembler(window, history).build())
        yield f"  {window}: {_describe_answer(answer)}"
        if isinstance(answer, ContextLengthError) and answer.smallest_window is not None:
            least.add(answer.smallest_window)
    for window in sorted(least | {window - 1 for window in least}):
        answer = _try_build(lambda window=window: scenario.assembler(window, history).build())
        yield f"  {window}: {_describe_answer(answer)}"
    yield from _session(scenario, full * 2 // 3)


def _session(scenario: Scenario, window: int) -> Iterator[str]:
    try:
        live = scenario.assembler(window, [])
    except AssemblyError as refusal:
        yield f"  a session: {_describe_answer(refusal)}"
        return
    history = scenario.history
    for start, stop in itertools.pairwise([0, len(history) // 3, len(history) * 2 // 3, len(history)]):
        for message in history[start:stop]:
            live.add_message(message)
        answer = _try_build(live.build)
        yield f"  the first {stop}: {_describe_answer(answer)}"
        if isinstance(answer, Context) and scenario.billed:
            with contextlib.suppress(ConversationError):  # nothing can be sent yet
                live.anchor(calibrate(answer, max(1, answer.by_rule.tokens + scenario.billed)))


def _try_build(build: Callable[[], Context]) -> Context | AssemblyError:
    try:
        return build()
    except AssemblyError as error:
        return error


def _describe_answer(answer: Context | AssemblyError) -> str:
    """What a build sends, what each region costs, and what the policies did; or why there is no build."""
    if isinstance(answer, ContextLengthError):
        beside = " ".join(filter(None, [answer.region, _costs(answer.costs), _digest(str(answer))]))
        return f"{answer.required} > {answer.available} ({beside}) {answer.advice}"
    if isinstance(answer, AssemblyError):
        return f"{type(answer).__name__}: {answer}"
    count, decisions = answer.count, answer.inside.trimmed.decisions
    parts = [
        f"{count.tokens} to {count.upper} = {_costs(answer.costs)}",
        f"keeps {_ranges(answer.inside.kept)}",
        f"request {_request(answer)}",
        f"report {_digest(answer.report.to_dict())}",
        *(f"{one} ({one.saved})" for one in decisions),
    ]
    return "; ".join(parts)


def _request(context: Context) -> str:
    try:
        return _digest(context.request())
    except ConversationError as refusal:  # nothing can be sent yet
        return str(refusal)


def _costs(costs: RegionCosts) -> str:
    return "+".join(map(str, costs.to_dict().values()))


def _ranges(indexes: Iterable[int]) -> str:
    runs = itertools.groupby(enumerate(indexes), key=lambda pair: pair[1] - pair[0])
    spans = [[index for _, index in run] for _, run in runs]
    return ",".join(str(span[0]) if len(span) == 1 else f"{span[0]}-{span[-1]}" for span in spans) or "none"


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:8]


@functools.cache
def recorded() -> dict[int, list[str]]:
    """The recorded lines of each scenario."""
    texts = RECORDS.read_text("utf-8").strip().split("\n\n")
    return {int(text.partition(" ")[0]): text.split("\n") for text in texts}


if __name__ == "__main__":
    RECORDS.write_text("\n\n".join("\n".join(lines(number)) for number in range(SCENARIOS)) + "\n", "utf-8")
