"""What a policy declares about itself, so that no other code must know it by name. Read when an assembler is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeAlias, TypeVar, cast

import attrs

from assembler.conversation.pins import NO_PINS, Pins, checked_pins
from assembler.conversation.policy_memory import Memory
from assembler.policies.argument_checks import a_share, a_text
from assembler.policies.policy import OverflowPolicy, Policy, RewritingPolicy, is_cutting, is_rewriting
from assembler.validation import LONGEST_NAME, Is, as_int, at_least_one, name_of_value
from budgets import BudgetError
from budgets.errors import OfTheCaller
from budgets.value import Value

Asked = TypeVar("Asked", OverflowPolicy, RewritingPolicy)


@attrs.frozen(eq=False, repr=False)
class KeepsAll(Value):
    """Every turn stays, however few tokens are left."""


@attrs.frozen(eq=False, repr=False)
class KeepsNewest(Value):
    """Drops only whole turns, oldest first: as many of the newest stay as fit, and never fewer than `at_least`."""

    at_least: int = attrs.field(default=1, converter=as_int, validator=at_least_one)


@attrs.frozen(eq=False, repr=False)
class KeepsChosen(Value):
    """Drops only whole turns, chosen among those before the `at_least` newest by how little they matter now.

    The choice may change with every question. So each time the ladder cuts, it looks at the whole history again, and a
    turn that was dropped before may come back.
    """

    at_least: int = attrs.field(default=1, converter=as_int, validator=at_least_one)


Keeps: TypeAlias = KeepsAll | KeepsNewest | KeepsChosen


def _a_policy(owner: object, field: attrs.Attribute[Policy | None], value: object) -> None:
    if value is not None and (isinstance(value, type) or not (is_cutting(value) or is_rewriting(value))):
        raise BudgetError(f"{type(owner).__name__}: {field.name} is a policy or None, got {name_of_value(value)}")


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Traits(Value):
    """What a policy may declare, as its attribute `traits`. The library asks a policy that declares nothing.

    `pins` are messages whose turns stay, for the whole ladder. `note` is the text that a cut leaves in place of the
    dropped turns; a summary replaces it.

    `low_water` is the share of the tokens left that a cut of this ladder goes down to. With it comes `unmarked`: the
    same policy without the mark, which the ladder asks at each cut.

    A policy that asks a model declares `unasked`: the policy that replaces it in `what_if` and in the advice of errors,
    where no model may be asked. The summary in its cuts also covers the one before. `briefest` is the policy with the
    shortest answer that the model could give; without it an error names no smallest window. `awaited` says that only
    `await abuild()` can ask the model. `memory` saves and restores its texts for `context.state()`.

    `keeps` tells the library in advance what the policy keeps. With it `report.steps()` takes one pass over the turns,
    and a dialect that is counted as a whole needs two or three counts.
    """

    keeps: Keeps | None = attrs.field(
        default=None,
        validator=Is(
            (KeepsAll, KeepsNewest, KeepsChosen, type(None)), "KeepsAll(), KeepsNewest(), KeepsChosen() or None"
        ),
    )
    pins: Pins = attrs.field(default=NO_PINS, converter=checked_pins)
    note: str | None = attrs.field(default=None, validator=attrs.validators.optional(a_text))
    low_water: float | None = attrs.field(default=None, validator=a_share)
    unmarked: Policy | None = attrs.field(default=None, validator=_a_policy)
    unasked: Policy | None = attrs.field(default=None, validator=_a_policy)
    briefest: Policy | None = attrs.field(default=None, validator=_a_policy)
    awaited: bool = attrs.field(default=False, validator=Is((bool,), "True or False"))
    memory: Memory | None = None

    def __attrs_post_init__(self) -> None:
        if (self.low_water is None) != (self.unmarked is None):
            raise BudgetError("Traits: low_water and unmarked go together; unmarked is the policy without its mark")


NOTHING_DECLARED = Traits()


@attrs.frozen(eq=False, repr=False)
class _Declared(Value, Generic[Asked]):
    """A policy and its traits."""

    policy: Asked
    traits: Traits

    @property
    def name(self) -> str:
        return type(self.policy).__name__


class CuttingRung(_Declared[OverflowPolicy]):
    """A policy that drops whole turns."""

    __slots__ = ()


class RewritingRung(_Declared[RewritingPolicy]):
    """A policy that changes messages inside turns."""

    __slots__ = ()


Rung: TypeAlias = CuttingRung | RewritingRung


def rung_of(policy: object) -> Rung:
    """A policy with its traits. Raises `BudgetError` unless both are what they should be."""
    with OfTheCaller("on_overflow", BudgetError):
        traits = cast("object", getattr(policy, "traits", NOTHING_DECLARED))
    if not isinstance(policy, type) and isinstance(traits, Traits):
        if is_rewriting(policy):
            return RewritingRung(policy, traits)
        if is_cutting(policy):
            return CuttingRung(policy, traits)
    if isinstance(policy, type) or isinstance(traits, Traits):
        expected = "expected a policy such as Refuse() or TrimOldest()"
        raise BudgetError(f"on_overflow: {expected}, got {name_of_value(policy)}; {_advise_instead(policy)}")
    raise BudgetError(f"on_overflow: traits of {type(policy).__name__} are a Traits(…), got {name_of_value(traits)}")


def _advise_instead(policy: object) -> str:
    """What to pass instead of a value that is not a policy: for a text, the policy with the nearest name."""
    if not isinstance(policy, str):
        return "a policy has a method cut(ledger, tokens_left) or rewrites(passage)"
    import difflib  # most policies are objects

    from assembler.policies import built_in

    known = {name.lower(): name for name in dir(built_in)}
    near = difflib.get_close_matches(policy[:LONGEST_NAME].replace("_", "").lower(), known, n=1)
    name = known[near[0]] if near else "TrimOldest"
    return f"write `from assembler import {name}`, and pass an object of it"


def active_rungs(rungs: tuple[Rung, ...]) -> tuple[Rung, ...]:
    """The rungs that may drop or change something; the first rung if there is none."""
    return tuple(rung for rung in rungs if not isinstance(rung.traits.keeps, KeepsAll)) or rungs[:1]


def label_of(rungs: Sequence[Rung], place: int) -> Label:
    """A rung's name, and how many rungs before it have the same name, which tells policies of one class apart."""
    name = rungs[place].name
    return name, sum(rung.name == name for rung in rungs[:place])


Label: TypeAlias = tuple[str, int]


def find_trimmer(rungs: tuple[Rung, ...]) -> tuple[CuttingRung, KeepsNewest] | None:
    """The only rung, if it declares `KeepsNewest` and no low-water mark; else None."""
    if len(rungs) == 1:
        rung, keeps = rungs[0], rungs[0].traits.keeps
        if isinstance(rung, CuttingRung) and isinstance(keeps, KeepsNewest) and rung.traits.low_water is None:
            return rung, keeps
    return None


def cuts_only_on_overflow(rungs: tuple[Rung, ...]) -> bool:
    """Whether these policies change what they keep only when it no longer fits."""
    if any(isinstance(rung.traits.keeps, KeepsChosen) for rung in rungs):
        return False
    marked = any(rung.traits.low_water is not None for rung in rungs)
    return marked or find_trimmer(rungs) is not None or all(isinstance(rung.traits.keeps, KeepsAll) for rung in rungs)


def asks(rung: Rung) -> bool:
    """Whether the policy asks a model."""
    return rung.traits.unasked is not None


def stand_in(rung: Rung) -> Rung:
    """The rung that replaces it when no model may be asked."""
    return rung if rung.traits.unasked is None else rung_of(rung.traits.unasked)


def make_briefest(rung: Rung) -> Rung:
    """The rung as it would act on the shortest answer that its model can give."""
    return rung if rung.traits.briefest is None else rung_of(rung.traits.briefest)


def without_mark(rung: Rung) -> Rung:
    """The rung without its low-water mark."""
    return rung if rung.traits.unmarked is None else rung_of(rung.traits.unmarked)
