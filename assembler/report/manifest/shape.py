"""The types of a manifest's fields.

Unknown fields are accepted: they may come from a later version of the same format. Known fields must exist and have the
right type, or a replay would report wrong differences.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError, create_model

from assembler.report.manifest.errors import ManifestError
from assembler.report.rows import REGIONS


def _define_part(**fields: Any) -> Any:
    """The type of a mapping with these fields and any others."""
    required: dict[str, Any] = {name: (kind, ...) for name, kind in fields.items()}
    return create_model("part", __config__=ConfigDict(strict=True), **required)


def _define_list(kind: Any) -> Any:
    return list[kind]


_HASH: Any = Annotated[str, Field(pattern=r"\A[0-9a-f]{64}\z")]
_HASHED = _define_part(sha256=_HASH)
_ITEM = _define_part(id=str, sha256=_HASH)
_PRICED = _define_part(id=str, tokens=int)
_NUMBERS = ("context_window", "max_output_tokens", "reasoning_tokens", "overhead", "safety_margin")
_DESCRIBED = ("strategy", "cache_marks", "calibration")
"""Descriptions of settings are only compared, so they may have any type."""

_BUDGET = _define_part(
    model=str | None,
    limits=dict[str, object],
    least_output_tokens=int | None,
    max_input_tokens=int | None,
    **dict.fromkeys(_NUMBERS, int),
)
_MANIFEST = _define_part(
    items=_define_part(
        instruction=_define_part(sha256=_HASH, characters=int, prompt=str | None) | None,
        tools=_define_list(_ITEM),
        knowledge=_define_list(_ITEM),
        output=_HASH | None,
        choice=str | None,
        messages=_define_list(_define_part(id=str, role=str | None, sha256=_HASH | None)),
    ),
    terms=_define_part(
        dialect=_define_part(name=str, sha256=_HASH),
        budget=_BUDGET | None,
        counter=str,
        on_overflow=list[object],
        **dict.fromkeys(_DESCRIBED, object),
    ),
    versions=_define_part(
        **{"context-assembler": str | None},
        engine=_define_part(name=str, version=str | None) | None,
        vocabulary=str | None,
    ),
    decision=_define_part(
        tokens=int,
        upper=int,
        grade=str,
        regions=_define_part(**dict.fromkeys(REGIONS, int)),
        tools=_define_list(_PRICED),
        knowledge=_define_list(_define_part(id=str | None, sha256=_HASH)),
        messages=_define_list(_define_part(id=str, outcome=str, tokens=int)),
        summary=_HASHED | None,
        policies=_define_list(_define_part(policy=str, saved=int)),
    ),
    request=_define_part(sha256=_HASH, bytes=int),
)
"""The type of `manifest_of`'s result; tests compare the two."""


def refuse_misshapen(fields: Mapping[str, object]) -> None:
    """Raise `ManifestError` with the path of the first field that is missing or has a wrong type."""
    try:
        _MANIFEST.model_validate(dict(fields))
    except ValidationError as error:  # it holds the whole manifest, so it must not be in the chain
        first = error.errors(include_input=False, include_url=False)[0]
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"]).lstrip(".")
        problem = first["msg"]
    else:
        return
    raise ManifestError(
        f"a manifest with a wrong {place}: {problem}; pass all of what plan.manifest() returned", place=place
    )
