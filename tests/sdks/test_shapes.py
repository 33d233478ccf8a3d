"""The provider's own request types accept every emitted request, strictly, without unknown keys."""

from __future__ import annotations

import pytest
from hypothesis import given

from assembler.verify import verify

from .emitted import FEW, MODELS, TOOLS, Request, dialect_named, every
from .shapes import SHAPES


@pytest.mark.parametrize("name", MODELS)
def test_every_emitted_request_has_the_shape_of_the_sdk_and_breaks_no_rule(name: str) -> None:
    dialect_named(name)

    @FEW
    @given(every(name))
    def holds(request: Request) -> None:
        SHAPES[name](request)
        assert verify(request, dialect=name, model=MODELS[name]) == []

    holds()


TURNS = {"openai_responses": "input", "gemini": "contents"}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("where", ["request", "turn"])
def test_the_shape_refuses_a_key_that_the_sdk_does_not_know(name: str, where: str) -> None:
    dialect = dialect_named(name)
    from assembler import Assembler

    request = Assembler(dialect=dialect).add_capability(TOOLS).add_messages([("user", "q")]).build().request()
    SHAPES[name](request)
    place = request if where == "request" else request[TURNS.get(name, "messages")][-1]
    place["misspelt"] = 1
    with pytest.raises(Exception, match=r"(?i)misspelt|unexpected|extra|forbid|assert"):
        SHAPES[name](request)
