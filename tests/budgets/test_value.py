"""`Value` has the repr, equality and hash that attrs would write, for fields of every kind."""

from __future__ import annotations

import attrs
from hypothesis import given
from hypothesis import strategies as st

from budgets.value import Value


def _hidden(found: object) -> str:
    return f"<{type(found).__name__}>"


@attrs.frozen(eq=False, repr=False)
class Ours(Value):
    name: str
    number: int = attrs.field(default=0, eq=False)
    secret: object = attrs.field(default=None, repr=False)
    counter: object = attrs.field(default=None, repr=_hidden)
    limits: tuple[int, ...] = attrs.field(default=(), hash=False)


@attrs.frozen
class Theirs:
    name: str
    number: int = attrs.field(default=0, eq=False)
    secret: object = attrs.field(default=None, repr=False)
    counter: object = attrs.field(default=None, repr=_hidden)
    limits: tuple[int, ...] = attrs.field(default=(), hash=False)


fields = st.tuples(
    st.text(max_size=2), st.integers(0, 1), st.booleans(), st.none() | st.integers(), st.tuples(st.integers(0, 1))
)


@given(fields, fields)
def test_a_value_is_shown_compared_and_hashed_as_attrs_would(
    one: tuple[str, int, bool, int | None, tuple[int]], other: tuple[str, int, bool, int | None, tuple[int]]
) -> None:
    assert repr(Ours(*one)) == repr(Theirs(*one)).replace("Theirs", "Ours")
    assert (Ours(*one) == Ours(*other)) == (Theirs(*one) == Theirs(*other))
    assert Ours(*one) != Theirs(*one)
    assert len({Ours(*one), Ours(*other)}) == len({Theirs(*one), Theirs(*other)})
    if Ours(*one) == Ours(*other):
        assert hash(Ours(*one)) == hash(Ours(*other))
