"""The advice of an error works under a bill too: it knows that another request is not billed as the known one was."""

from __future__ import annotations

import re
from typing import Any

import pytest

from assembler import Assembler, calibrate
from assembler.dialects import openai_responses
from assembler.policies import Refuse, TrimOldest
from budgets import Budget, ContextLengthError


def talk(*sizes: int) -> list[dict[str, Any]]:
    return [{"role": ("user", "assistant")[place % 2], "content": "m" * size} for place, size in enumerate(sizes)]


class Billed:
    """A conversation whose bill is known: so many tokens more than the count, which is a token a character."""

    def __init__(self, more: int, *sizes: int) -> None:
        context = self.assembler(10_000).add_messages(talk(*sizes)).build()
        self.bill = calibrate(context, {"input_tokens": context.count.tokens + more})

    def assembler(self, window: int) -> Assembler[Any]:
        made = Assembler(Budget(window, counter=len), dialect=openai_responses, on_overflow=[Refuse(), TrimOldest()])
        return made.set_instruction("i" * 40)

    def error(self, window: int, messages: list[dict[str, Any]]) -> ContextLengthError | None:
        try:
            self.assembler(window).add_messages(messages).anchor(self.bill).build()
        except ContextLengthError as error:
            return error
        return None


@pytest.mark.parametrize("more", [-3, 0, 7, 150])
@pytest.mark.parametrize("sizes", [(200,), (20, 10, 90)])
def test_a_question_that_is_shortened_by_as_much_as_the_error_says_fits(more: int, sizes: tuple[int, ...]) -> None:
    """A bill is exact for the request that it is of alone. The error named what that one lacked."""
    billed, tried = Billed(more, *sizes), 0
    for window in range(60, 400, 7):
        error = billed.error(window, talk(*sizes))
        less = None if error is None else re.search(r"shorten its messages by (\d+) token", error.advice)
        if less is not None and int(less[1]) < sizes[-1]:
            tried += 1
            assert billed.error(window, talk(*sizes[:-1], sizes[-1] - int(less[1]))) is None
    assert tried > 4


@pytest.mark.parametrize("more", [-3, 0, 7, 150])
def test_pins_are_named_only_where_the_request_fits_without_them_as_it_is_billed(more: int) -> None:
    """What the bill adds to each request was left out, so that the request without pins was still too large."""
    billed, named = Billed(more, 60, 10, 30), 0
    for window in range(60, 400, 7):
        first, *others = talk(60, 10, 30)
        error = billed.error(window, [{**first, "pinned": True}, *others])
        if error is not None and "pin fewer of them" in error.advice:
            named += 1
            assert billed.error(window, [first, *others]) is None
    assert named > 2


@pytest.mark.parametrize("more", [-40, -3, 0, 7])
@pytest.mark.parametrize("policy", [Refuse(), TrimOldest()])
def test_regions_add_up_to_no_more_than_is_required_if_no_window_helps(more: int, policy: Any) -> None:
    """A bill below our count left the regions as counted: the error read "137 expected, at most 134"."""
    billed = Billed(more, 90)
    asked = Assembler(Budget(10_000, max_input_tokens=60, counter=len), dialect=openai_responses, on_overflow=policy)
    asked.set_instruction("i" * 40).add_messages(talk(90)).anchor(billed.bill)
    with pytest.raises(ContextLengthError) as caught:
        asked.build()
    assert caught.value.smallest_window is None
    assert caught.value.costs.total <= caught.value.required
