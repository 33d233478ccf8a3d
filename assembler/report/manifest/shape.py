"""What a manifest looks like, field by field.

A field that this version does not know is let pass: it may come from a later one of the same format. What it knows
must be there and of its kind, or a replay would compare with nothing and name what never was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assembler.report.manifest.errors import ManifestError

_Hash: TypeAlias = Annotated[str, Field(pattern=r"\A[0-9a-f]{64}\z")]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True)


class _Hashed(_Part):
    sha256: _Hash


class _Item(_Hashed):
    id: str


class _Instruction(_Hashed):
    characters: int
    prompt: str | None


class _Message(_Part):
    id: str
    role: str | None
    sha256: _Hash | None


class _Items(_Part):
    instruction: _Instruction | None
    tools: list[_Item]
    knowledge: list[_Item]
    output: _Hash | None
    choice: str | None
    messages: list[_Message]


class _Dialect(_Hashed):
    name: str


class _Budget(_Part):
    model: str | None
    limits: dict[str, object]
    context_window: int
    max_output_tokens: int
    least_output_tokens: int | None
    reasoning_tokens: int
    overhead: int
    safety_margin: int
    max_input_tokens: int | None


class _Settings(_Part):
    """What a setting's own type says of it is compared, and has no shape that could be broken."""

    dialect: _Dialect
    budget: _Budget | None
    counter: str
    on_overflow: list[object]
    strategy: object
    cache_marks: object
    calibration: object


class _Engine(_Part):
    name: str
    version: str | None


class _Versions(_Part):
    library: str | None = Field(alias="context-assembler")
    engine: _Engine | None
    vocabulary: str | None


class _Regions(_Part):
    instruction: int
    capability: int
    knowledge: int
    conversation: int
    framing: int


class _Priced(_Part):
    id: str
    tokens: int


class _Outcome(_Priced):
    outcome: str


class _Source(_Hashed):
    id: str | None


class _Saved(_Part):
    policy: str
    saved: int


class _Decision(_Part):
    tokens: int
    upper: int
    grade: str
    regions: _Regions
    tools: list[_Priced]
    knowledge: list[_Source]
    messages: list[_Outcome]
    summary: _Hashed | None
    policies: list[_Saved]


class _Request(_Hashed):
    bytes: int


class _Manifest(_Part):
    """What `manifest_of` writes; the tests hold the two against each other."""

    items: _Items
    settings: _Settings = Field(alias="terms")
    versions: _Versions
    decision: _Decision
    request: _Request


def refuse_misshapen(fields: Mapping[str, object]) -> None:
    """Raise `ManifestError` for the first field that is missing or not of its kind, by its path."""
    try:
        _Manifest.model_validate(dict(fields))
    except ValidationError as error:  # it holds the whole manifest: leave no trace of it in the chain
        first = error.errors(include_input=False, include_url=False)[0]
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"]).lstrip(".")
        problem = first["msg"]
    else:
        return
    raise ManifestError(
        f"a manifest with a wrong {place}: {problem}; pass all of what plan.manifest() returned", place=place
    )
