"""What breaks the rules of Gemini's generateContent, one at a time."""

from __future__ import annotations

from collections.abc import Mapping

from assembler.drawn.breach import (
    Breach,
    before_a_question,
    history_of,
    last,
    nothing_said,
    pick,
    pinned,
    same,
)
from assembler.drawn.engine import DrawFn
from assembler.drawn.spelling import Request


def _parts(draw: DrawFn, request: Request, key: str) -> list[Request]:
    parts: list[Request] = history_of(request)[pick(draw, request, key)]["parts"]
    return parts


def _model_speaks_first(draw: DrawFn, request: Request) -> None:
    place = pick(draw, request, "function_call")
    history_of(request).insert(place, {"role": "model", "parts": [{"text": "a"}]})


def _one_response_more(draw: DrawFn, request: Request) -> None:
    parts = _parts(draw, request, "function_response")
    parts.append(same(parts[0]))


def _calls_missing(draw: DrawFn, request: Request) -> None:
    history_of(request)[pick(draw, request, "function_call")]["parts"] = [{"text": "a"}]


def _words_beside_responses(draw: DrawFn, request: Request) -> None:
    _parts(draw, request, "function_response").append({"text": "a"})


def _answers_another(draw: DrawFn, request: Request) -> None:
    _parts(draw, request, "function_response")[0]["function_response"]["id"] = "nobody"


def _step_again(_draw: DrawFn, request: Request) -> None:
    history = history_of(request)
    history.extend(same(history[-2:]))


def _args_as_text(draw: DrawFn, request: Request) -> None:
    _parts(draw, request, "function_call")[-1]["function_call"]["args"] = "{}"


BREACHES: Mapping[str, Breach] = {
    "G0": nothing_said,
    "G1": before_a_question({"role": "assistant", "parts": [{"text": "a"}]}),
    "G2": before_a_question({"role": "user", "parts": [{"text": ""}]}),
    "G3": _model_speaks_first,
    "G4": _one_response_more,
    "G5": _calls_missing,
    "G6": _words_beside_responses,
    "G7": last({"role": "model", "parts": [{"text": "a"}]}),
    "N2": _answers_another,
    "N3": _step_again,
    "S1": _args_as_text,
    "S5": pinned,
}
