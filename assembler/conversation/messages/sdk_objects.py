"""Dumps an SDK's own objects as plain data, as the SDK itself would send them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

_Dump: TypeAlias = Callable[[object], Any]


def filled_dump(raw: object) -> Any:
    """The object's `model_dump` without nulls, as Google's SDK sends its objects; None if it has no `model_dump`."""
    dump: Any = getattr(raw, "model_dump", None)
    return dump(exclude_none=True) if callable(dump) else None


def dump_of(raw: object) -> Any:
    """The object's `model_dump` under the API's own field names, with the nulls that were set, as answers have them.

    Leaves out the fields in `__api_exclude__` (OpenAI's and Anthropic's SDKs), which must not be sent.
    """
    dump: Any = getattr(raw, "model_dump", None)
    if not callable(dump) or hasattr(raw, "parts"):  # Google's SDK reads either field name
        return filled_dump(raw)
    apart = _exclude_own_fields(raw)
    return _merge_dumps(
        dump(exclude_none=True, by_alias=True, **apart), dump(exclude_unset=True, by_alias=True, **apart)
    )


def _exclude_own_fields(raw: object) -> dict[str, Any]:
    kept: object = getattr(raw, "__api_exclude__", None)
    return {"exclude": kept} if kept else {}


def _merge_dumps(filled: Any, given: Any) -> Any:
    """Merge two dumps of one object: the fields that were set, and those with a default value. O(values)."""
    if isinstance(filled, Mapping) and isinstance(given, Mapping):
        first, second = cast("Mapping[str, Any]", filled), cast("Mapping[str, Any]", given)
        keys = [*second, *(key for key in first if key not in second)]
        return {
            key: _merge_dumps(first[key], second[key])
            if key in first and key in second
            else first.get(key, second.get(key))
            for key in keys
        }
    if isinstance(filled, list) and isinstance(given, list):
        pairs = zip(cast("Sequence[object]", filled), cast("Sequence[object]", given), strict=True)
        return [_merge_dumps(one, other) for one, other in pairs]
    return cast("object", filled)


def plain_data(value: object, dump: _Dump = dump_of) -> Any:
    """The value as plain dicts and lists, with SDK objects in it dumped by `dump`; everything else as it is.

    A list or dict that is held several times is read once. O(distinct values).
    """
    return _make_plain(value, dump, {})


def _make_plain(value: object, dump: _Dump, read: dict[int, tuple[object, Any]]) -> Any:
    number = id(value)
    if (known := read.get(number)) is not None:
        return known[1]
    plain: Any
    if isinstance(value, list | tuple):
        plain = [_make_plain(item, dump, read) for item in cast("Iterable[object]", value)]
    elif isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        plain = {key: _make_plain(item, dump, read) for key, item in fields.items()}
    else:
        return value if (dumped := dump(value)) is None else dumped
    read[number] = value, plain  # the value too, so that no other one gets its id
    return plain


def plain_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as plain dicts and lists, with SDK objects in them as their SDK sends them."""
    dump = filled_dump if "parts" in fields else dump_of
    return {key: plain_data(item, dump) for key, item in fields.items()}
