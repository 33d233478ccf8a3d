"""The wordings with which providers refuse a request that is too long, from `refusals.toml`.

No pattern spans more than a few hundred characters, so that a body that repeats a prompt is read in linear time.
"""

from __future__ import annotations

import pkgutil
import re
import tomllib

import attrs


@attrs.frozen
class Words:
    """The wording of one refusal. Its groups are numbers of tokens: `used` by the input, the `window`, `reserved` for
    the answer, `total` of input and answer, `excess` over the window."""

    providers: str
    wording: str
    """A pattern in which `<used>` stands for a number of that name."""
    source: str

    def found_in(self, text: str) -> re.Match[str] | None:
        """The first match in a text, ignoring case, or None."""
        pattern = re.sub(r"<(\w+)>", r"(?P<\1>\\d[\\d,]{0,14})", self.wording)
        return re.search(pattern, text, re.IGNORECASE | re.DOTALL)


_NOT_INPUT = (
    r"output|completion|per.min|max_(?:new_)?tokens|new.tokens|image|byte|char|array|string|tool|file|page|temperature"
)
"""Words for limits on anything but the tokens sent."""

_GAP = rf"(?:(?!{_NOT_INPUT}|\d).){{0,60}}?"
"""What may stand between a word and its number: no other number, and nothing about another limit."""

_WINDOW = (
    r"(?:max(?:imum)? (?:context|prompt|input|sequence)|context (?:length|window|size|limit)"
    rf"|(?:prompt|input|token) limit)\b{_GAP}<window>(?![\d,]{{0,15}}\s{{0,9}}(?:output|completion))"
)
_USED = (
    r"(?:requested|resulted in|has|have|contains?|got|sent|used|count:?|(?:request|prompt|input|messages) \()"
    rf"{_GAP}<used>(?![\d,]{{0,15}}\s{{0,9}}(?:output|completion))"
)
_INPUT = r"(?:prompt|inputs?|messages|conversation|context|request(?:ed)?)"
_LONG_INPUT = rf"\b{_INPUT}\b(?=.{{0,200}}?(?:token|context|length|long))"
"""A word for the input, followed by one about tokens or length."""

_MORE_THAN = r"(?:exceed|longer|larger|greater|more than|support|limit|max|>)"
_NO_MORE_THAN = r"(?:exceed|less than|at most|<=|max|limit)"

TOO_LONG = tuple(
    Words(**row) for row in tomllib.loads((pkgutil.get_data(__name__, "refusals.toml") or b"").decode())["refusal"]
)
"""The first that matches is used. Those with numbers come first."""


_UNRECORDED = "any with a similar wording"

ALIKE = tuple(
    Words(_UNRECORDED, wording, "")
    for wording in (
        f"{_WINDOW}{_GAP}{_USED}",
        f"{_USED}{_GAP}{_WINDOW}",
        f"{_LONG_INPUT}{_GAP}<used>{_GAP}{_MORE_THAN}{_GAP}<window>",
        f"{_LONG_INPUT}{_GAP}{_NO_MORE_THAN}{_GAP}<window>{_GAP}(?:given|got|received|found){_GAP}<used>",
    )
)
"""For proxies and self-hosted servers: the tokens used and the window, in either order, each near a word for it. It is
a refusal only if more was used than the window holds."""

_SENTENCE = rf"(?:^|[.\"'`\n])(?:(?!{_NOT_INPUT})[^.\"'`\n]){{0,120}}?"
"""The beginning of a sentence, with no word about another limit."""

_FEW_WORDS = rf"(?:(?!{_NOT_INPUT})[^.]){{0,40}}?"
_WINDOW_WORDS = r"(?:context|token|prompt|input)[ _](?:length|window|size|limit)"
_MOST = rf"(?:{_WINDOW_WORDS}|max\w* (?:model |input |prompt )?length)"

UNNUMBERED = tuple(
    Words(_UNRECORDED, wording, "")
    for wording in (
        rf"{_SENTENCE}\b(?:prompt|input|messages|conversation|context)(?: length| size)?(?: is| are| was)? "
        r"too (?:long|large)\b(?! to process)",
        rf"{_SENTENCE}\b(?:{_INPUT}|tokens?)\b{_FEW_WORDS}exceed{_FEW_WORDS}{_MOST}",
        rf"{_SENTENCE}(?:exceed|(?:greater|longer|larger) than){_FEW_WORDS}context (?:length|window|size|limit)",
        r"(?<!model_)context[ _]?(?:length|window|size|limit)[ _](?:is )?(?:exceed|overflow)",
        r"contextwindow(?:exceeded|overflow)",
        r"reduce the (?:length|size) of (?:the|your) (?:messages|prompt|input|conversation)",
    )
)
"""Wordings for a request that was too long, without a number."""

RATE = re.compile(r"rate.?limit|throttl|quota|too many requests|per.?(?:min|hour|day)|\bTPM\b", re.IGNORECASE)
"""Words of a rate limit, whose refusal also names tokens and limits."""
