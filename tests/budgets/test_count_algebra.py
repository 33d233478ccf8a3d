"""Counts and differences add and subtract without falling below zero or exceeding their bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgets import BudgetError, Count, Grade
from budgets.apportion import apportion, bound_together, scale_down, settle, split_framing
from budgets.count import NOTHING, Difference, add_differences, adds_at_seams, exact, grade_of, total

few = st.integers(0, 60)


def count_of(tokens: int, grade: Grade, slack: int) -> Count:
    return Count(tokens, grade, upper=tokens + slack)


counts = st.builds(count_of, few, st.sampled_from(Grade), few)
parts = st.lists(counts, min_size=1, max_size=5)


def numbers(count: Count | Difference) -> tuple[int, int]:
    return count.tokens, count.upper


@pytest.mark.parametrize(("tokens", "upper"), [(-1, 0), (-1, 5), (3, 2), (1, 0), (0, -1)])
def test_a_count_below_zero_or_above_its_bound_cannot_be_made(tokens: int, upper: int) -> None:
    with pytest.raises(BudgetError, match="subtract two counts for a Difference"):
        Count(tokens, Grade.BOUNDED, upper)


@given(whole=counts, part=counts)
def test_a_part_taken_away_and_put_back_makes_the_whole_again(whole: Count, part: Count) -> None:
    assert numbers(part + (whole - part)) == numbers(whole)
    assert (part + (whole - part)).grade == max(whole.grade, part.grade)
    assert (whole - part).saved == part.upper - whole.upper
    assert numbers((whole - part) + (part - whole)) == (0, 0)


@given(before=counts, after=counts, others=parts)
def test_a_sum_with_one_part_replaced_is_the_sum_of_what_stands_there_now(
    before: Count, after: Count, others: list[Count]
) -> None:
    assert numbers(total([before, *others]) + (after - before)) == numbers(total([after, *others]))


@given(count=counts, tokens=st.integers(-99, 99), upper=st.integers(-99, 99))
def test_no_difference_takes_a_count_below_zero_or_above_its_bound(count: Count, tokens: int, upper: int) -> None:
    changed = count + Difference(tokens, Grade.EXACT, upper)
    assert 0 <= changed.tokens <= changed.upper
    assert changed.tokens == max(count.tokens + tokens, 0)
    assert Difference(tokens, Grade.EXACT, upper).alone() == NOTHING + Difference(tokens, Grade.EXACT, upper)


@given(whole=counts, each=parts)
def test_parts_of_a_whole_add_up_to_it(whole: Count, each: list[Count]) -> None:
    shared = apportion(whole, each)
    assert (len(shared), total(shared)) == (len(each), whole)


@given(whole=counts, each=st.lists(counts, max_size=5))
def test_parts_and_what_frames_them_add_up_to_the_whole(whole: Count, each: list[Count]) -> None:
    own, frame = split_framing(whole, each)
    assert numbers(total([*own, frame])) == numbers(whole)
    if total(each).tokens <= whole.tokens:
        assert [count.tokens for count in own] == [count.tokens for count in each]
    else:
        assert frame.tokens == 0
    if numbers(total(each)) <= numbers(whole) and total(each).upper - total(each).tokens <= whole.upper - whole.tokens:
        assert list(own) == each


@given(amounts=st.lists(few, min_size=1, max_size=6), whole=st.integers(0, 400))
def test_amounts_are_settled_on_the_largest_and_none_falls_below_zero(amounts: list[int], whole: int) -> None:
    settled = [*amounts]
    settle(settled, whole)
    assert sum(settled) == whole
    assert min(settled) >= 0
    smaller = [n for place, n in enumerate(amounts) if settled[place] == n]
    assert len(smaller) >= len(amounts) - 1 or whole < sum(amounts)


class Graded:
    """A counter that says how far it is to be trusted."""

    grade = Grade.ESTIMATED
    additive_at_tag_seams = True

    def __call__(self, text: str) -> int:
        return len(text)


def test_a_counter_states_its_grade_and_its_seams_and_a_plain_function_is_exact_without_seams() -> None:
    assert (grade_of(Graded()), adds_at_seams(Graded())) == (Grade.ESTIMATED, True)
    assert (grade_of(len), adds_at_seams(len)) == (Grade.EXACT, False)


@given(one=counts, other=counts, third=counts)
def test_sums_and_differences_add_tokens_and_bounds_and_have_the_worst_grade(
    one: Count, other: Count, third: Count
) -> None:
    worst, tokens, most = max(one.grade, other.grade), one.tokens + other.tokens, one.upper + other.upper
    assert one + other == total([other], one) == total([one, other]) == Count(tokens, worst, most)
    less = one - other
    assert less == Difference(one.tokens - other.tokens, worst, one.upper - other.upper)
    again = max(worst, third.grade)
    assert less + (third - NOTHING) == Difference(less.tokens + third.tokens, again, less.upper + third.upper)
    assert less - (third - NOTHING) == Difference(less.tokens - third.tokens, again, less.upper - third.upper)
    assert (third + less).grade == again
    assert exact(tokens) == Count(tokens, Grade.EXACT, tokens) == Count(tokens)


@given(st.lists(st.builds(Difference, st.integers(), st.sampled_from(Grade), st.integers()), max_size=5))
def test_differences_added_at_once_are_those_added_one_by_one(each: list[Difference]) -> None:
    assert add_differences(each) == sum(each, Difference())


def test_what_is_no_number_is_refused_by_its_type() -> None:
    with pytest.raises(BudgetError, match="expected whole tokens and an upper bound, got str and int"):
        Count("7", Grade.EXACT, 9)  # type: ignore[arg-type]


@given(each=parts, rate=st.integers(0, 50), once=st.integers(0, 3))
def test_parts_of_a_text_have_together_the_bound_of_the_text_however_it_is_split(
    each: list[Count], rate: int, once: int
) -> None:
    def bound(upper: int) -> int:
        return upper + -(-upper * rate // 100) + (once if upper else 0)

    whole, split = sum(part.upper for part in each), bound_together(each, bound)
    assert sum(part.upper for part in split) == bound(whole)
    assert [(part.tokens, part.grade) for part in split] == [(part.tokens, part.grade) for part in each]


@given(st.lists(few, min_size=1, max_size=5).filter(any), st.data())
def test_scaled_down_amounts_add_up_and_nothing_stays_nothing(amounts: list[int], data: st.DataObject) -> None:
    """Where every share rounded down to 0, the first amount got all that was left, even if it was 0 itself."""
    whole = data.draw(st.integers(0, sum(amounts)))
    shares = scale_down(amounts, whole)
    assert sum(shares) == whole
    assert all(share >= 0 for share in shares)
    assert all(not share for share, amount in zip(shares, amounts, strict=True) if not amount)
