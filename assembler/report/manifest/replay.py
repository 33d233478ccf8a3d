"""Reproduces a request from its manifest, byte for byte, or raises an error that names what changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from assembler.pipeline.draft import Draft
from assembler.pipeline.emit import make_request
from assembler.pipeline.planned import Planned
from assembler.pipeline.settings import Settings
from assembler.pipeline.summarizing import plan_asking
from assembler.report.manifest.digests import hash_bytes, spell_json
from assembler.report.manifest.errors import Difference, ManifestError, ReplayError, Scalar
from assembler.report.manifest.writing import FORMAT, decision_of, gathered_of
from budgets import AssemblyError
from budgets.numbers import shown


def replay_manifest(manifest: Mapping[str, Any], draft: Draft, settings: Settings) -> Planned:
    """The plan whose request has the manifest's bytes. One build; inputs are hashed only if the bytes differ.

    A change that does not affect the bytes (the text of a dropped message, a version) is no error. Raises `ReplayError`
    with the differences, and `ManifestError` for an invalid manifest.
    """
    _refuse_foreign(manifest)
    try:
        plan = plan_asking(draft, settings)
        sent = hash_bytes(spell_json(make_request(plan)))
    except AssemblyError as error:
        found = _compare_gathered(manifest, draft, settings)
        if not found:
            raise
        raise ReplayError(found) from error
    if sent == manifest["request"]["sha256"]:
        return plan
    found = _compare_gathered(manifest, draft, settings)
    if not found:
        found = tuple(differences("decision", manifest["decision"], decision_of(plan)))
    raise ReplayError(found)


def _refuse_foreign(manifest: object) -> None:
    fields = cast("Mapping[str, Any]", manifest if isinstance(manifest, Mapping) else {})
    version = fields.get("manifest")
    if isinstance(version, bool) or not isinstance(version, int) or version != FORMAT:
        stated = f"of format {shown(version)}" if isinstance(version, int) else "of no format"
        raise ManifestError(
            f"a manifest {stated}; this version reads {FORMAT}: pass what plan.manifest() returned", place="manifest"
        )
    from assembler.report.manifest.shape import refuse_misshapen  # imported late: it loads pydantic

    refuse_misshapen(fields)


def _compare_gathered(manifest: Mapping[str, Any], draft: Draft, settings: Settings) -> tuple[Difference, ...]:
    now = gathered_of(draft, draft.history.current(), settings)
    return tuple(found for part in now for found in differences("", manifest[part], now[part]))


def differences(place: str, then: object, now: object) -> Iterator[Difference]:
    """The differing leaves of two trees of plain data. Items of lists are compared by position."""
    before_value, after_value = then, now
    if then == now:
        return
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        before, after = cast("Mapping[str, object]", then), cast("Mapping[str, object]", now)
        for key in [*after, *(key for key in before if key not in after)]:
            yield from differences(f"{place}.{key}" if place else key, before.get(key), after.get(key))
    elif isinstance(then, list) and isinstance(now, list):
        yield from _compare_items(place, cast("Sequence[object]", then), cast("Sequence[object]", now))
    else:
        yield Difference(place.removesuffix(".sha256"), _make_scalar(before_value), _make_scalar(after_value))


def _compare_items(place: str, then: Sequence[object], now: Sequence[object]) -> Iterator[Difference]:
    if len(then) != len(now):
        yield Difference(f"number of {place}", len(then), len(now))
    for index in range(max(len(then), len(now))):
        before = then[index] if index < len(then) else None
        after = now[index] if index < len(now) else None
        yield from differences(f"{place}[{index}]", before, after)


def _make_scalar(value: object) -> Scalar:
    """A short form of a value: an item's hash or type, or a list's length."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
        named = fields.get("sha256", fields.get("type", fields.get("outcome")))
        return named if isinstance(named, str) else "present"
    return f"{len(cast('Sequence[object]', value))} items" if isinstance(value, list) else type(value).__name__
