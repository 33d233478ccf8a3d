"""Characters that cost tokens and show nothing, by place and kind. Finds them; takes them out only when asked to.

Instructions can be spelled in them that no reader sees and a model reads. What a script needs to be written is left in
peace: joiners between letters that are not ASCII (Persian, Indic scripts, emoji) and the tags of an emoji flag.
Code points: the Unicode Standard, sections 23.2 (layout controls), 23.4 (variation selectors), 23.9 (tag characters);
Unicode Technical Standard #51, emoji tag sequences; read 2026-11. Linear: the quantifiers are possessive.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias, cast

import attrs

from assembler.errors import MarkupError
from assembler.given import wrong

Kind: TypeAlias = Literal["tag characters", "direction", "zero width", "joiner", "variation selectors"]

_INVISIBLE = re.compile(
    r"""
      (?P<flag> \U0001F3F4 [\U000E0020-\U000E007E]{1,32}+ \U000E007F )
    | (?P<tag_characters> [\U000E0000-\U000E007F]++ )
    | (?P<direction> [\u202A-\u202E\u2066-\u2069]++ )
    | (?P<zero_width> [\u200B\u2060-\u2064\uFEFF\u00AD]++ )
    | (?P<joiner> (?<=[!-~]) [\u200C\u200D]++ (?=[!-~]) )
    | (?P<variation_selectors> [\uFE00-\uFE0F\U000E0100-\U000E01EF]{2,}+ )
    """,
    re.VERBOSE,
)
"""A flag is matched so that its tags are passed over: a black flag, at most 32 tags, the one that ends them. One
variation selector chooses a form of the character before it; two in a row choose nothing."""


@attrs.frozen
class Invisible:
    """A kind of invisible characters in one item: the character where they begin, and how many there are."""

    region: str
    name: str
    kind: Kind
    offset: int
    times: int = 1


def invisible_texts(items: Iterable[tuple[str, str, str]]) -> Iterator[Invisible]:
    """What cannot be seen in these `(region, name, text)`: one value an item and kind. O(characters).

    An ASCII text is passed over without a look at its characters.
    """
    for region, name, text in items:
        if text.isascii():
            continue
        first: dict[Kind, int] = {}
        times: Counter[Kind] = Counter()
        for match in _INVISIBLE.finditer(text):
            if match.lastgroup != "flag":
                kind = cast(Kind, (match.lastgroup or "").replace("_", " "))
                first.setdefault(kind, match.start())
                times[kind] += match.end() - match.start()
        yield from (Invisible(region, name, kind, offset, times[kind]) for kind, offset in first.items())


def without_invisible(text: str) -> str:
    """The text without the characters that `invisible_texts` finds; all others stay as they are. O(characters).

    Raises MarkupError for what is no text.
    """
    if not isinstance(cast(object, text), str):
        raise MarkupError(wrong("text", "a text (str)", text), field="text")
    if text.isascii():
        return text
    return _INVISIBLE.sub(lambda match: match[0] if match.lastgroup == "flag" else "", text)
