"""A value that is computed once stays, and the class still shows the function that computes it."""

from __future__ import annotations

from assembler.pipeline.found_once import found_once


class Counted:
    def __init__(self) -> None:
        self.asked = 0

    @found_once
    def answer(self) -> int:
        """41, plus the number of calls."""
        self.asked += 1
        return 41 + self.asked


def test_a_second_look_returns_what_the_first_found_and_computes_nothing() -> None:
    one, other = Counted(), Counted()
    assert (one.answer, one.answer, one.asked) == (42, 42, 1)
    assert other.asked == 0


def test_on_the_class_the_attribute_is_the_finder_with_its_docstring() -> None:
    assert isinstance(Counted.answer, found_once)
    assert Counted.answer.__doc__ == "41, plus the number of calls."
