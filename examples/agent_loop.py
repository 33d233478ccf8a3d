"""An agent at work: ten errands, fifty model calls, and a window that fills, is cut, and fills again.

    python examples/agent_loop.py

The model is scripted and the weather stations are invented, so it runs offline and says the same every time.
What is real is everything in between: each call is assembled, priced and fitted as it would be for gpt-4o.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from assembler import Assembler, TrimOldest
from budgets import Budget

# ── The tools: plain functions. Their signatures and docstrings are what the model is told.

REGIONS = {
    "Alps": ["Arlberg", "Bernina", "Chamonix", "Dachstein"],
    "Baltic": ["Arkona", "Gedser", "Hel", "Ventspils"],
    "Carpathians": ["Babia", "Rysy", "Sniezka"],
    "Dalmatia": ["Hvar", "Lastovo", "Palagruza", "Vis"],
    "Eifel": ["Aremberg", "Nuerburg", "Schneifel"],
}


def list_stations(region: str) -> str:
    """The weather stations of a region, as a JSON list of names.

    Args:
        region: The region's name, as the user wrote it.
    """
    return json.dumps(REGIONS[region])


def read_station(station: str) -> str:
    """The last six hourly readings of one station and the state of its battery, as JSON.

    Args:
        station: A name from list_stations.
    """
    seed = sum(map(ord, station))
    readings = [
        {"hour": hour, "celsius": seed % 17 - hour, "humidity": 40 + seed * hour % 50, "wind_ms": seed % (hour + 7)}
        for hour in range(6)
    ]
    return json.dumps({"station": station, "battery_volts": round(11 + seed % 20 / 10, 1), "readings": readings})


def maintenance_log(station: str, entries: int = 3) -> str:
    """The newest entries of a station's maintenance log, newest first.

    Args:
        station: A name from list_stations.
        entries: How many.
    """
    seed = sum(map(ord, station))
    works = ("panel cleaned", "anemometer greased", "battery tested, slow to charge", "mast checked after the storm")
    return "\n".join(f"{2026 - n}-0{seed % 9 + 1}: {works[(seed + n) % len(works)]}" for n in range(entries))


def file_report(region: str, weak: list[str]) -> str:
    """Put a region's stations with a weak battery on the list of the field crew.

    Args:
        region: The region's name.
        weak: The stations whose battery is below 11.8 volts.
    """
    return json.dumps({"report": f"{region}-{len(weak)}", "state": "filed"})


TOOLS: dict[str, Callable[..., str]] = {
    tool.__name__: tool for tool in (list_stations, read_station, maintenance_log, file_report)
}

# ── The model: it sees the request and nothing else, so what it needs must have survived every cut.


class ScriptedModel:
    """Answers like a chat model that works off an errand in five steps. Its state is the request alone."""

    def reply(self, request: Mapping[str, Any]) -> dict[str, Any]:
        messages: list[dict[str, Any]] = request["messages"]
        asked = max(index for index, message in enumerate(messages) if message["role"] == "user")
        region = next(name for name in REGIONS if name in messages[asked]["content"])
        done = messages[asked + 1 :]
        results = [message["content"] for message in done if message["role"] == "tool"]
        match sum(message["role"] == "assistant" for message in done):
            case 0:
                return self._calls(asked, [("list_stations", {"region": region})])
            case 1:
                return self._calls(asked, [("read_station", {"station": name}) for name in json.loads(results[0])])
            case 2:
                return self._calls(asked, [("maintenance_log", {"station": name}) for name in json.loads(results[0])])
            case 3:
                return self._calls(asked, [("file_report", {"region": region, "weak": self._weak(results)})])
            case _:
                weak = ", ".join(self._weak(results)) or "none"
                return {"role": "assistant", "content": f"{region}: all stations read. Weak batteries: {weak}. Filed."}

    def _weak(self, results: Sequence[str]) -> list[str]:
        readings = [json.loads(text) for text in results if text.startswith('{"station"')]
        return [one["station"] for one in readings if one["battery_volts"] < 11.8]

    def _calls(self, asked: int, calls: Sequence[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
        spelled = [
            {
                "id": f"call_{asked}_{name}_{number}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for number, (name, arguments) in enumerate(calls)
        ]
        return {"role": "assistant", "content": None, "tool_calls": spelled}


# ── The loop: what an application writes. add_message, build, send, add_message.


@attrs.frozen
class ModelCall:
    """What one call of the model was given."""

    errand: int
    prompt_tokens: int
    limit: int
    dropped: int


def play(errands: Sequence[str]) -> tuple[list[ModelCall], list[dict[str, Any]]]:
    """Work off the errands one after the other. Every model call, and the whole history in the end."""
    model = ScriptedModel()
    budget = Budget.for_model("gpt-4o", context_window=5_000, max_output_tokens=500)
    # low_water: a cut goes down to half of the tokens left. Cutting rarely keeps the provider's prompt cache warm.
    assembler = Assembler(budget=budget, on_overflow=TrimOldest(low_water=0.5))
    assembler.set_instruction("You look after weather stations. Read before you judge, file before you answer.")
    assembler.set_tools(list(TOOLS.values()))
    assembler.add_knowledge("A battery below 11.8 volts is weak.", type="manual", source="stations.md", trusted=True)

    calls: list[ModelCall] = []
    history: list[dict[str, Any]] = []

    def say(message: dict[str, Any]) -> None:
        history.append(message)
        assembler.add_message(message)

    for errand, task in enumerate(errands, start=1):
        say({"role": "user", "content": task})
        while True:
            context = assembler.build()
            calls.append(ModelCall(errand, context.count.tokens, budget.input_limit, len(context.dropped)))
            answer = model.reply(context.request())
            say(answer)
            if "tool_calls" not in answer:
                break
            for call in answer["tool_calls"]:
                asked = call["function"]
                result = TOOLS[asked["name"]](**json.loads(asked["arguments"]))
                say({"role": "tool", "tool_call_id": call["id"], "content": result})
    return calls, history


# ── The picture.

WIDTH = 44


def chart(calls: Sequence[ModelCall]) -> str:
    """One line a call: how full the window was, and where older turns were cut away."""
    lines = [f"call errand  {'window':<{WIDTH}} tokens"]
    before = 0
    for number, call in enumerate(calls, start=1):
        bar = "█" * round(WIDTH * call.prompt_tokens / call.limit)
        cut = f"  ✂ {call.dropped - before} messages" if call.dropped > before else ""
        lines.append(f"{number:>4} {call.errand:>6}  {bar:░<{WIDTH}} {call.prompt_tokens:>6,}{cut}")
        before = call.dropped
    return "\n".join(lines)


def totals(calls: Sequence[ModelCall], history: Sequence[Mapping[str, Any]]) -> str:
    """The session in five lines."""
    cuts = sum(later.dropped > earlier.dropped for earlier, later in itertools.pairwise(calls))
    sent = sum(call.prompt_tokens for call in calls)
    fullest = max(call.prompt_tokens for call in calls)
    return (
        f"{len(calls)} model calls, {sum(message['role'] == 'tool' for message in history)} tool calls, "
        f"{len(history)} messages\n"
        f"{sent:,} prompt tokens sent, {sent // len(calls):,} a call\n"
        f"fullest {fullest:,} of {calls[0].limit:,}: no call was over, and none was refused\n"
        f"{cuts} cuts, {calls[-1].dropped} messages no longer sent\n"
        f"{len(calls) - 1 - cuts} calls began with all that the one before had sent, which a prompt cache serves"
    )


ERRANDS = [f"Please check the stations of the {region} {when}." for when in ("now", "once more") for region in REGIONS]

if __name__ == "__main__":
    session = play(ERRANDS)
    print(chart(session[0]), totals(*session), sep="\n\n")
