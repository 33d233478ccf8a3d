"""`Offload`: moves large tool results into the caller's store. A preview and an id stay; a tool reads them back."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import partial
from typing import cast

import attrs

from assembler.conversation.messages import Call, Message, Result
from assembler.policies.fetch import FETCH, Fetch, a_store
from assembler.policies.part_edits import Place, together, with_parts
from assembler.policies.passage import Change
from assembler.policies.policy_views import Passage
from assembler.policies.truncate import MARKER, graphemes
from assembler.validation import as_int, at_least_one, at_least_zero
from budgets import BudgetError, Tokens

_EQUAL = "the same as an earlier result"
_POINTER = re.compile(
    rf'(?:\{{"[^"]*":")?\[(?:stored, [\d,]+ characters|{_EQUAL}); {FETCH}\(id=\\?"[0-9a-f]+\\?"\) gives it back\]'
)
"""The beginning of every text that replaces a result, also inside an object, which is what Gemini takes. Such a text is
never stored itself."""
_WIDEST = 64
"""How many characters beyond a preview to read, so that it does not end inside a grapheme."""
_SHORTEST = 80
"""Results of up to so many characters are kept: the reference would be no shorter."""


@attrs.frozen
class _Body:
    """The text of one result, the index of its message, and its place in that message."""

    index: int
    place: int
    text: str


@attrs.frozen
class Offload:
    """Puts large tool results into `store` and leaves a preview with an id in their place; `tool` gives them back.

    It does two things, while the request is too large. If a result equals an earlier one, word for word, the later one
    becomes a reference to the earlier. Then it stores results of `min_tokens` or more, oldest first, and leaves their
    first and last characters, `preview` in all. It does not touch what `fetch_result` returned in the newest turn
    before that turn is over, nor a result that holds more than text.

    An id is a hash of the text. So the same text has the same id in every process, and is stored once. Several texts of
    one result are stored as one, joined by line breaks. `store` maps ids to texts and must return what was put in: a
    dict, or any `MutableMapping`, such as one over SQLite. Its errors reach the caller of `build()`. A result leaves
    the window only once it is stored.
    """

    store: MutableMapping[str, str] = attrs.field(validator=a_store, eq=id, repr=False)
    min_tokens: Tokens = attrs.field(default=1_000, converter=as_int, validator=at_least_one, kw_only=True)
    preview: int = attrs.field(default=400, converter=as_int, validator=at_least_zero, kw_only=True)

    @property
    def tool(self) -> Fetch:
        """The tool that reads the store: pass it to `set_tools`, and call it to answer the model's calls."""
        return Fetch(self.store)

    def rewrites(self, passage: Passage, /) -> Iterator[Change]:
        """One change for each result: repeated ones first, then large ones. A message with more than 16 of them gets
        several in one change. O(characters of results that stay).
        """
        bodies = list(_find_bodies(passage))
        newest = {body.text: body for body in bodies}
        earlier_texts: set[str] = set()
        equal: dict[Place, str] = {}
        for body in bodies:
            if body.text in earlier_texts and len(body.text) > _SHORTEST:
                equal[body.index, body.place] = body.text
            earlier_texts.add(body.text)
        yield from self._replace_texts(passage, equal, self._point_to_equal, "equal result", "sent once")
        oldest = {body.text: body for body in reversed(bodies)}
        by_age = sorted(oldest, key=lambda text: (newest[text].index, newest[text].place))
        large = {
            (oldest[text].index, oldest[text].place): text for text in by_age if passage.count(text) >= self.min_tokens
        }
        yield from self._replace_texts(passage, large, self._point_to_large, "tool result", "stored")

    def _replace_texts(
        self, passage: Passage, texts: Mapping[Place, str], say: Callable[[str], str], what: str, done: str
    ) -> Iterator[Change]:
        for index, places in together(texts):
            message, alone = passage.current(index), len(places) == 1
            make = partial(_put_texts, message, {place: partial(say, texts[index, place]) for place in places})
            pointing = passage.once((index, done, *places), message, make)
            yield Change({index: pointing}, f"{what} {done}" if alone else f"{len(places)} {what}s {done}")

    def _point_to_equal(self, text: str) -> str:
        return f'[{_EQUAL}; {FETCH}(id="{self._store_text(text)}") gives it back]'

    def _point_to_large(self, text: str) -> str:
        pointer = f'[stored, {len(text):,} characters; {FETCH}(id="{self._store_text(text)}") gives it back]'
        return pointer + _write_preview(text, self.preview)

    def _store_text(self, text: str) -> str:
        """Store a text and return its id. The id is longer if another text already has the shorter one."""
        whole = hashlib.sha256(text.encode()).hexdigest()
        for length in (16, 32, 64):
            if self.store.setdefault(whole[:length], text) == text:
                return whole[:length]
        raise BudgetError("Offload: the store does not return what was put in; use one that holds texts")


def _put_texts(message: Message, texts: Mapping[int, Callable[[], str]]) -> Message:
    """The message with other texts for the results at these places."""
    shorter = {
        place: attrs.evolve(cast(Result, message.parts[place]), parts=(text(),), given=None)
        for place, text in texts.items()
    }
    return with_parts(message, shorter)


def _find_bodies(passage: Passage) -> Iterator[_Body]:
    """The results that may leave the window, oldest first."""
    names: dict[str | None, str] = {}
    for index, message in passage:
        for place, part in enumerate(message.parts):
            if isinstance(part, Call):
                names[part.id] = part.name
            elif isinstance(part, Result):
                fetched = index >= passage.newest and (part.name or names.get(part.call_id)) == FETCH
                texts = [inner for inner in part.parts if isinstance(inner, str)]
                if texts and len(texts) == len(part.parts) and not (fetched or _POINTER.match(texts[0])):
                    yield _Body(index, place, "\n".join(texts))


def _write_preview(text: str, characters: int) -> str:
    """The beginning and end of a text, at most so many characters in all, cut between graphemes."""
    half = characters // 2
    if len(text) <= characters or not half:
        return "\n" + text if half else ""
    head, tail = graphemes(text[: half + _WIDEST]), graphemes(text[-half - _WIDEST :])
    return f"\n{_take_while_fits(head, half)}{MARKER}{_take_while_fits(tail[::-1], half, -1)}"


def _take_while_fits(pieces: list[str], characters: int, step: int = 1) -> str:
    """As many of the first pieces as fit into so many characters; with step -1, joined in reverse."""
    used = itertools.accumulate(map(len, pieces))
    return "".join([piece for piece, so_far in zip(pieces, used, strict=True) if so_far <= characters][::step])
