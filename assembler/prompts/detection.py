"""Where a tokenizer keeps its tokens. Knows the places; imports no tokenizer library.

Libraries moved their markers over the years: into the special tokens map, `additional_special_tokens`,
`extra_special_tokens` (transformers 5), the added tokens, or just the vocabulary. A place that is missing, or is not
what it should be, is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import cast

_SPECIAL = ("special_tokens_map", "additional_special_tokens", "extra_special_tokens", "all_special_tokens")
_ADDED = ("added_tokens_encoder", "added_tokens_decoder", "get_added_vocab")
_VOCABULARY = ("get_vocab", "vocab")
SHORTEST = 3
"""Characters of a special token that is looked for in a text: shorter ones (`!`, `\\n`) stand in any prose."""


def knows(tokenizer: object, marker: str) -> bool:
    """Whether the marker is a token of this tokenizer, wherever it keeps it. The small places are asked first."""
    return any(marker in _strings(_place(tokenizer, place)) for place in _SPECIAL + _ADDED) or any(
        marker in cast("Mapping[str, object]", _place(tokenizer, place))
        for place in _VOCABULARY
        if isinstance(_place(tokenizer, place), Mapping)
    )


def control_tokens(tokenizer: object) -> frozenset[str]:
    """The special tokens: what the tokenizer would read as control even in the middle of a text."""
    special = (token for place in _SPECIAL for token in _strings(_place(tokenizer, place)))
    return frozenset(token for token in special if len(token) >= SHORTEST)


def _place(tokenizer: object, name: str) -> object:
    try:
        place = getattr(tokenizer, name, None)
        return cast("Callable[[], object]", place)() if callable(place) and name.startswith("get_") else place
    except Exception:  # a tokenizer without this place may say so in any way
        return None


def _strings(place: object) -> Iterator[str]:
    if isinstance(place, str):
        yield place
    elif isinstance(place, Mapping):
        for key, value in cast("Mapping[object, object]", place).items():
            yield from _strings(key)
            yield from _strings(value)
    elif isinstance(place, list | tuple | AbstractSet):
        for item in cast("list[object]", place):
            yield from _strings(item)
    elif isinstance(content := getattr(place, "content", None), str):  # an AddedToken
        yield content
