"""Finds the control tokens of a tokenizer.

Libraries have kept them in several places over the years: the special tokens map, `additional_special_tokens`,
`extra_special_tokens` (transformers 5), the added tokens, or only the vocabulary. A missing or malformed place is
skipped.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import TypeAlias, cast

_SPECIAL = ("special_tokens_map", "additional_special_tokens", "extra_special_tokens", "all_special_tokens")
_ADDED = ("added_tokens_encoder", "get_added_vocab")
_DECODERS = ("added_tokens_decoder", "get_added_tokens_decoder")
"""The attributes with added tokens by id, in transformers and in `tokenizers`."""
_VOCABULARY = ("get_vocab", "vocab")
SHORTEST = 3
"""The least characters of a special token that is searched in texts: shorter ones (`!`, `\\n`) occur in any prose."""
_BRACKETED = re.compile(r"<[^\s<>][^<>]*>|\[[^\s\[\]][^\[\]]*\]|\{[^\s{}][^{}]*\}")
"""The form of a control token among added ones (`<think>`): others are added words and blanks."""
_BARRED = re.compile("<[|\uff5c][^<>]+[|\uff5c]>")
"""The form of a control token in a vocabulary: no vocabulary learns it from texts."""


def knows(tokenizer: object, marker: str) -> bool:
    """Whether the marker is a token of this tokenizer, in any place. Small places are searched first."""
    small = (*_SPECIAL, *_ADDED, *_DECODERS)
    return any(marker in _list_strings(_read_place(tokenizer, place)) for place in small) or any(
        _has_token(vocabulary, marker) for vocabulary in _find_vocabularies(tokenizer)
    )


def control_tokens(tokenizer: object) -> frozenset[str]:
    """The tokens of `SHORTEST` characters or more that the tokenizer reads as control tokens inside a text.

    These are special tokens in any place, added tokens in brackets, and, for a tokenizer without a list of added ones,
    tokens of its vocabulary with the form `<|…|>`.
    """
    found = {token for name in _SPECIAL for token in _list_strings(_drop_names(_read_place(tokenizer, name)))}
    found.update(
        token
        for place in _ADDED
        for token in _list_strings(_read_place(tokenizer, place))
        if _BRACKETED.fullmatch(token)
    )
    decoders = [place for name in _DECODERS if (place := _read_place(tokenizer, name)) is not None]
    for place in decoders:
        entries = cast("Mapping[object, object]", place).values() if isinstance(place, Mapping) else ()
        found.update(
            token
            for entry in entries
            for token in _list_strings(entry)
            if _is_marked(entry, "special") or _BRACKETED.fullmatch(token)
        )
    if not decoders:
        vocabularies = _find_vocabularies(tokenizer)
        found.update(
            token for one in vocabularies for token in one if isinstance(token, str) and _BARRED.fullmatch(token)
        )
    return frozenset(token for token in found if len(token) >= SHORTEST)


Normalise: TypeAlias = Callable[[str], str]


def read_normaliser(tokenizer: object) -> tuple[Normalise, frozenset[str]] | None:
    """The tokenizer's normaliser and the control tokens of normalised texts; None if it does not normalise.

    A token that is marked as normalised is searched in its normalised form. Any other may still be a piece of the
    model's vocabulary (unigram models; tokenizers 0.23, measured).
    """
    normalizer = getattr(getattr(tokenizer, "backend_tokenizer", tokenizer), "normalizer", None)
    normalize = getattr(normalizer, "normalize_str", None)
    if not callable(normalize):
        return None
    found = cast("Normalise", normalize)
    tokens = control_tokens(tokenizer)
    marked = {
        token
        for name in _DECODERS
        if isinstance(place := _read_place(tokenizer, name), Mapping)
        for entry in cast("Mapping[object, object]", place).values()
        if _is_marked(entry, "normalized")
        for token in _list_strings(entry)
    } & tokens
    return found, tokens.union(plain for token in marked if (plain := found(token).strip()))


def _find_vocabularies(tokenizer: object) -> Iterator[Mapping[object, object]]:
    for name in _VOCABULARY:
        place = _read_place(tokenizer, name)
        if isinstance(place, Mapping):
            yield cast("Mapping[object, object]", place)


def _drop_names(place: object) -> object:
    """The tokens of a special tokens map, without their names (`eos_token`)."""
    return list(cast("Mapping[object, object]", place).values()) if isinstance(place, Mapping) else place


def _read_place(tokenizer: object, name: str) -> object:
    try:
        place = getattr(tokenizer, name, None)
        return cast("Callable[[], object]", place)() if callable(place) and name.startswith("get_") else place
    except Exception:  # a tokenizer without this place may raise anything
        return None


def _is_marked(entry: object, name: str) -> bool:
    try:
        return getattr(entry, name, False) is True
    except Exception:  # as in `_read_place`
        return False


def _has_token(vocabulary: Mapping[object, object], marker: str) -> bool:
    try:
        return marker in vocabulary
    except Exception:  # as in `_read_place`
        return False


def _list_strings(place: object) -> list[str]:
    """The texts of a place as exact `str`, which no method of a subclass can falsify."""
    found: list[str] = []
    with contextlib.suppress(Exception):  # malformed: a value that raises, or that holds itself
        for text in _walk_strings(place):
            found.append(text)  # noqa: PERF402 - what was found before the failure counts
    return found


def _walk_strings(place: object) -> Iterator[str]:
    if isinstance(place, str):
        yield str.__str__(place)
    elif isinstance(place, Mapping):
        for key, value in cast("Mapping[object, object]", place).items():
            yield from _walk_strings(key)
            yield from _walk_strings(value)
    elif isinstance(place, list | tuple | AbstractSet):
        for item in cast("list[object]", place):
            yield from _walk_strings(item)
    elif isinstance(content := getattr(place, "content", None), str):  # an AddedToken
        yield str.__str__(content)
