"""Saves what a session remembers beyond its messages as a small JSON value, and restores it.

It holds what a rebuilt assembler cannot recompute: a summary that a model wrote, why there is no newer one, the last
decision of a ladder with a low-water mark, and the bill from which counts start. Everything else follows from the
messages. Each part carries a digest of its messages and is ignored if they differ now: the session continues without
it, so no bot fails because a user edited a message.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, JsonValue, NonNegativeInt, ValidationError

from assembler.conversation.digests import digests
from assembler.conversation.history import HistoryView
from assembler.errors import StateError, SummaryError
from assembler.pipeline.build_memory import memory_of
from assembler.pipeline.ladder import RungChanges, RungDecision
from assembler.pipeline.planned import Planned
from assembler.pipeline.recipe import Recipe
from assembler.pipeline.settings import Settings
from assembler.pricing.calibration import CalibratedCounter, Fingerprint
from assembler.pricing.ledger import Ledger
from assembler.validation import wrong
from budgets import Count, Grade
from budgets.errors import OfTheCaller

VERSION = 2
"""Version of the JSON value. Other versions are ignored, because a server may be rolled back."""


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class _Keepsake(_Part):
    """What the policy at `place` of the ladder remembers of the messages before `stop`."""

    place: int
    policy: str
    start: int
    stop: int
    sha256: str
    what: dict[str, JsonValue]


class _Failure(_Part):
    says: str
    raised: str | None


class _Recipe(_Part):
    """A `Recipe`."""

    stop: int
    first_kept: int
    reason: str
    summary: str | None
    made: list[tuple[int, int, int, list[list[int]]]]
    decisions: list[tuple[str, int, list[tuple[str, int]]]]
    failures: list[_Failure]


class _HeldDecision(_Recipe):
    """The last decision of these policies, and a digest of its messages."""

    policies: list[str]
    sha256: str


class _Anchor(_Part):
    """A `CalibratedCounter`."""

    sha256: str
    turns: NonNegativeInt
    dialect: str | None = None
    model: str | None = None
    ours: _Count
    billed: NonNegativeInt
    kept: _Recipe | None = None
    limit: NonNegativeInt | None
    most: NonNegativeInt | None
    drift: NonNegativeInt = 0


class _Count(_Part):
    """A `Count`."""

    tokens: int
    grade: int
    upper: int


class _State(_Part):
    state: int
    policies: list[_Keepsake]
    held: _HeldDecision | None
    anchor: _Anchor | None
    server: _Count | None
    """The tokens that the server held for this request."""


def state_of(plan: Planned, bill: CalibratedCounter | None) -> dict[str, Any]:
    """The state after a build. `bill` is that build's own bill, if known. O(characters of the messages it covers)."""
    ledger, rungs = plan.ledger, plan.settings.rungs
    keepsakes = [
        (place, rung.name, keepsake, what)
        for place, rung in enumerate(rungs)
        if rung.traits.memory is not None
        for keepsake, what in rung.traits.memory.as_json(ledger.keepsakes)
        if keepsake.stop <= ledger.length
    ]
    recipe = _find_recipe(plan)
    stops = [keepsake.stop for _, _, keepsake, _ in keepsakes] + ([] if recipe is None else [recipe.length])
    known = digests(plan.view, frozenset(stops))
    policies = [
        _Keepsake(place=place, policy=name, start=of.start, stop=of.stop, sha256=known[of.stop], what=what)
        for place, name, of, what in keepsakes
    ]
    bill = bill or plan.settings.calibration
    held = None if recipe is None else _write_held(recipe, known[recipe.length], plan.settings)
    server = plan.draft.regions.held
    return _State(
        state=VERSION,
        policies=policies,
        held=held,
        anchor=None if bill is None else _write_anchor(bill),
        server=None if server is None else _write_count(server),
    ).model_dump(mode="json")


def restore_settings(
    state: object, view: HistoryView, settings: Settings, ignored: Callable[[str, str], None]
) -> tuple[Settings, Count | None]:
    """The settings of a state, and the tokens that the server held. The rest is stored with the history.

    `ignored(what, why)` reports each part that does not apply. None is an empty state. Raises `StateError` if `state`
    is not one, or if there are no messages yet.
    """
    if state is None:
        return settings, None
    found = _read_state(state)
    if not view.length:
        raise StateError("state: there are no messages to apply it to; call restore(state) after set_messages(…)")
    if found is None:
        ignored("a state", f"its version is not {VERSION}")
        return settings, None
    stops = {part.stop for part in found.policies} | ({found.held.stop} if found.held is not None else set[int]())
    known = digests(view, {stop for stop in stops if stop <= view.length})
    for part in found.policies:
        why = _remember(part, view, settings) if known.get(part.stop) == part.sha256 else _CHANGED
        if why is not None:
            ignored(f"what {part.policy} remembered", why)
    if found.held is not None:
        same = found.held.policies == _name_rungs(settings)
        if same and known.get(found.held.stop) == found.held.sha256:
            memory_of(settings.session, Ledger.of(view, settings.pricer)).restored = _read_recipe(found.held)
        else:
            ignored("the last decision of the policies", _CHANGED if same else "the policies have changed")
    if found.anchor is not None:
        settings = settings.billed(_read_anchor(found.anchor), ignored)
    return settings, None if found.server is None else _read_count(found.server, "server")


_CHANGED = "its messages have changed"


def _read_state(state: object) -> _State | None:
    with OfTheCaller("state", StateError):
        return _validate_state(state)


def _validate_state(state: object) -> _State | None:
    given = state  # for the error, since a type checker narrows `state`
    version = cast("Mapping[str, object]", state).get("state") if isinstance(state, Mapping) else None
    if not isinstance(version, int) and isinstance(state, Mapping):
        problem = "it has no version, so it is not what context.state() returned"
        raise StateError(f"state: {problem}; pass all of that, or None for a new session")
    if not isinstance(version, int):
        step = "; pass json.loads(text)" if isinstance(state, str | bytes) else ""
        raise StateError(wrong("state", "what context.state() returned", given) + step)
    if version != VERSION:
        return None
    try:
        return _State.model_validate_json(json.dumps(state))
    except ValidationError as error:
        place = ".".join(str(step) for step in error.errors(include_input=False)[0]["loc"])
    except (TypeError, ValueError, RecursionError):  # not a JSON value
        place = None
    raise StateError(f"state: its {place or 'value'} is not what context.state() returned; pass all of it", place=place)


def _remember(part: _Keepsake, view: HistoryView, settings: Settings) -> str | None:
    """Restore what a policy remembered. Returns why not if that is impossible."""
    rung = settings.rungs[part.place] if 0 <= part.place < len(settings.rungs) else None
    if rung is None or rung.name != part.policy or rung.traits.memory is None:
        return "another policy is in its place"
    try:
        policy, keepsake = rung.traits.memory.remembered(part.start, part.stop, part.what)
    except (KeyError, TypeError, ValueError):
        raise StateError("state: a policy's part is not what context.state() returned", place="policies") from None
    view.readings.keepsakes.keep(policy, keepsake)
    return None


def _find_recipe(plan: Planned) -> Recipe | None:
    known = memory_of(plan.settings.session, plan.ledger)
    if known.held is None:
        return known.restored
    length, kept = known.held
    return Recipe.of(length, kept, plan.ledger) if length <= plan.ledger.length else None


def _name_rungs(settings: Settings) -> list[str]:
    return [rung.name for rung in settings.active_rungs]


def _write_held(recipe: Recipe, sha256: str, settings: Settings) -> _HeldDecision:
    return _HeldDecision(policies=_name_rungs(settings), sha256=sha256, **dict(_write_recipe(recipe)))


def _write_recipe(recipe: Recipe) -> _Recipe:
    return _Recipe(
        stop=recipe.length,
        first_kept=recipe.first_kept,
        reason=recipe.reason,
        summary=recipe.summary,
        made=[
            (changes.length, changes.place, changes.first_kept, [list(indexes) for indexes in changes.indexes])
            for changes in recipe.made
        ],
        decisions=[(decision.policy, decision.saved, list(decision.done)) for decision in recipe.decisions],
        failures=[_Failure(says=str(failure), raised=_name_raised(failure)) for failure in recipe.failures],
    )


def _name_raised(failure: object) -> str | None:
    return failure.raised if isinstance(failure, SummaryError) else None


def _read_recipe(held: _Recipe) -> Recipe:
    return Recipe(
        held.stop,
        held.first_kept,
        held.reason,
        held.summary,
        tuple(
            RungChanges(length, place, first, tuple(map(tuple, indexes))) for length, place, first, indexes in held.made
        ),
        tuple(RungDecision(policy, saved, tuple(done)) for policy, saved, done in held.decisions),
        tuple(SummaryError(failure.says, raised=failure.raised) for failure in held.failures),
    )


def _write_anchor(bill: CalibratedCounter) -> _Anchor:
    return _Anchor(
        sha256=bill.request.digest,
        turns=bill.request.turns,
        dialect=bill.request.dialect,
        model=bill.request.model,
        ours=_write_count(bill.ours),
        billed=bill.billed,
        kept=None if bill.kept is None else _write_recipe(bill.kept),
        limit=bill.limit,
        most=bill.most,
        drift=bill.drift,
    )


def _read_anchor(part: _Anchor) -> CalibratedCounter:
    request, ours = Fingerprint(part.sha256, part.turns, part.dialect, part.model), _read_count(part.ours, "anchor")
    kept = None if part.kept is None else _read_recipe(part.kept)
    return CalibratedCounter(request, ours, part.billed, kept, part.limit, part.most, part.drift)


def _write_count(count: Count) -> _Count:
    return _Count(tokens=count.tokens, grade=count.grade.value, upper=count.upper)


def _read_count(part: _Count, place: str) -> Count:
    try:
        return Count(part.tokens, Grade(part.grade), upper=part.upper)
    except ValueError:
        raise StateError(f"state: its {place} is not what context.state() returned", place=place) from None
