"""What an SDK's own object says, as plain data, as the SDK itself would send it back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

_Dump: TypeAlias = Callable[[object], Any]


def filled_dump(raw: object) -> Any:
    """The data of an object that dumps itself, as pydantic's `model_dump`, without nulls; None for any other.

    So Google's SDK sends its objects.
    """
    dump: Any = getattr(raw, "model_dump", None)
    return dump(exclude_none=True) if callable(dump) else None


def dump_of(raw: object) -> Any:
    """The same, each field under the API's own name for it, and with the nulls that were set: answers have them.

    What a class says that its API must not be sent (`__api_exclude__` of OpenAI's and Anthropic's SDKs) is left out.
    """
    dump: Any = getattr(raw, "model_dump", None)
    if not callable(dump) or hasattr(raw, "parts"):  # Google's, which its SDK reads under either name
        return filled_dump(raw)
    apart = _apart(raw)
    return _both(dump(exclude_none=True, by_alias=True, **apart), dump(exclude_unset=True, by_alias=True, **apart))


def _apart(raw: object) -> dict[str, Any]:
    kept: object = getattr(raw, "__api_exclude__", None)
    return {"exclude": kept} if kept else {}


def _both(filled: Any, given: Any) -> Any:
    """Two dumps of one object as one: what was set, and what has a value by default. O(values)."""
    if isinstance(filled, Mapping) and isinstance(given, Mapping):
        first, second = cast("Mapping[str, Any]", filled), cast("Mapping[str, Any]", given)
        keys = [*second, *(key for key in first if key not in second)]
        return {
            key: _both(first[key], second[key]) if key in first and key in second else first.get(key, second.get(key))
            for key in keys
        }
    if isinstance(filled, list) and isinstance(given, list):
        pairs = zip(cast("Sequence[object]", filled), cast("Sequence[object]", given), strict=True)
        return [_both(one, other) for one, other in pairs]
    return cast("object", filled)


def plain_data(value: object, dump: _Dump = dump_of) -> Any:
    """Plain dicts and lists, the SDK objects in them as `dump` has them; everything else as it is."""
    if isinstance(value, list | tuple):
        return [plain_data(item, dump) for item in cast("Iterable[object]", value)]
    if isinstance(value, Mapping):
        return {key: plain_data(item, dump) for key, item in cast("Mapping[str, Any]", value).items()}
    return value if (dumped := dump(value)) is None else dumped


def plain_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as plain dicts and lists, SDK objects in them as their SDK sends them."""
    dump = filled_dump if "parts" in fields else dump_of
    return {key: plain_data(item, dump) for key, item in fields.items()}
