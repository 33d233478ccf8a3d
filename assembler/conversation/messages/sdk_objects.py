"""Dumps an SDK's own objects as plain data, as the SDK itself would send them, without what only an answer has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from assembler.conversation.messages.dicts import PIN

_Dump: TypeAlias = Callable[[object], Any]
_Raw: TypeAlias = Mapping[str, Any]


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
        return [_merge_dumps(*pair) for pair in pairs]
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


# The APIs refuse a field of an answer by its name, even if it is null: `Unknown parameter: 'input[1].status'`
# (openai-python#3008), `Extra inputs are not permitted` (Anthropic). Read in openai 3.57.0, anthropic 2.14.0 and
# mistralai 3.7.0, 2026-11.

_PARSED = frozenset(["parsed", "parsed_arguments", "parsed_output"])
"""The fields in which SDKs keep a structured answer, or the arguments of a call, as objects."""

_OF_A_MESSAGE = frozenset(["executed_tools", "parsed"])
"""The fields of Chat's message that no request has. In the first Groq lists what its server ran (groq 1.7.0); it
refuses a property that it does not know."""

_OF_ANTHROPIC = frozenset(["content", "id", "role", "type", PIN])
"""The fields of Anthropic's answer that are read. Its SDK's `to_param` sends the role and the content alone."""

_OF_THE_SERVER = _PARSED | {"created_by"}
"""The fields of Responses' items that its input does not have (openai-agents drops `created_by` too)."""

_NEVER_NULL = frozenset(["async", "async_", "content", "namespace", "status"])
"""The fields of Responses' items that may be left out and are not null. `model_dump()` writes them all."""


def as_input(fields: _Raw) -> _Raw:
    """The fields of a message or an item without those that only an answer has; the same dict if it has none.

    O(parts and calls).
    """
    kind = fields.get("type")
    if "role" not in fields:
        known = isinstance(kind, str) and (kind.endswith(("_call", "_output")) or kind in ("compaction", "reasoning"))
        return _item_as_input(fields) if known else fields
    if fields["role"] != "assistant":
        return fields
    if kind == "message" and "stop_reason" in fields:
        fields = {key: held for key, held in fields.items() if key in _OF_ANTHROPIC}
    fields = _remove_keys(fields, _OF_A_MESSAGE)
    for key in ("content", "tool_calls"):
        listed: object = fields.get(key)
        if type(listed) is list:
            parts = cast("list[object]", listed)
            if any([_holds_parsed(part) for part in parts]):  # noqa: C419 - few, and a generator takes longer
                fields = {**fields, key: [_without_parsed(part) for part in parts]}
    return fields


def _holds_parsed(part: object) -> bool:
    if type(part) is not dict:
        return False
    fields = cast(_Raw, part)
    if "parsed" in fields or "parsed_output" in fields:
        return True
    function: object = fields.get("function")
    return type(function) is dict and "parsed_arguments" in cast(_Raw, function)


def _without_parsed(part: object) -> object:
    if not _holds_parsed(part):
        return part
    fields = cast(_Raw, part)
    function: object = fields.get("function")
    if type(function) is dict:
        return {**fields, "function": _remove_keys(cast(_Raw, function), _PARSED)}
    return _remove_keys(fields, _PARSED) if fields.get("type") in ("output_text", "text") else fields


def _item_as_input(item: _Raw) -> _Raw:
    nulls = [key for key in _NEVER_NULL.intersection(item) if item[key] is None]
    kept = _remove_keys(item, _OF_THE_SERVER.union(nulls))
    if "async_" in kept:  # OpenAI's SDK cannot name a field like the keyword, and dumps it so
        kept = {("async" if key == "async_" else key): held for key, held in kept.items()}
    listed: object = kept.get("output")
    if type(listed) is not list:
        return kept
    outputs = cast("list[object]", listed)  # that of a shell names the maker of each command's output too
    if not any([type(each) is dict and "created_by" in each for each in outputs]):  # noqa: C419 - see above
        return kept
    shown = [_remove_keys(cast(_Raw, each), _OF_THE_SERVER) if type(each) is dict else each for each in outputs]
    return {**kept, "output": shown}


def _remove_keys(fields: _Raw, keys: frozenset[str]) -> _Raw:
    return fields if keys.isdisjoint(fields) else {key: held for key, held in fields.items() if key not in keys}
