"""What providers say when a request is too long. The rows: `refusals.toml`.

No pattern looks farther than a few hundred characters, so that a body which repeats a prompt is read in linear time.
"""

from __future__ import annotations

import pkgutil
import re
import tomllib

import attrs


@attrs.frozen
class Words:
    """How one refusal is worded. Its groups are tokens: `used` by the input, the `window`, `reserved` for the answer,
    `total` of input and answer, `excess` over the window."""

    providers: str
    said: str
    """A pattern in which `<used>` stands for a number of that name."""
    source: str

    def found_in(self, text: str) -> re.Match[str] | None:
        """Where a text says so first, in letters of either case; None where it does not."""
        pattern = re.sub(r"<(\w+)>", r"(?P<\1>\\d[\\d,]{0,14})", self.said)
        return re.search(pattern, text, re.IGNORECASE | re.DOTALL)


_GAP = r"(?:(?!output|completion|per.min|\d).){0,60}?"
_WINDOW = (
    r"(?:max(?:imum)? (?:context|prompt|input|sequence)|context (?:length|window|size|limit)|(?:prompt|input) limit)\b"
    rf"{_GAP}<window>(?![\d,]{{0,15}}\s{{0,9}}(?:output|completion))"
)
_USED = (
    r"(?:requested|resulted in|has|have|contains?|got|sent|used|(?:request|prompt|input|messages) \()"
    rf"{_GAP}<used>(?![\d,]{{0,15}}\s{{0,9}}(?:output|completion))"
)

TOO_LONG = tuple(
    Words(**row) for row in tomllib.loads((pkgutil.get_data(__name__, "refusals.toml") or b"").decode())["refusal"]
)
"""The first that matches is taken: those with numbers stand first."""

ALIKE = tuple(
    Words("any that is worded like these", f"{one}{_GAP}{other}", "")
    for one, other in [(_WINDOW, _USED), (_USED, _WINDOW)]
)
"""What a proxy or a server of one's own says: the window near a word for it, and what was used near a verb. It is a
refusal only where more was used than the window has."""
