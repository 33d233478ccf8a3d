"""The errors for a part without a price. They say what is missing and what to do."""

from __future__ import annotations

import re

from assembler.errors import UnsupportedContentError
from assembler.pricing.media.facts import MediaFacts, Source

_CURES = {
    "image": 'add its size to the part, {"width": …, "height": …}',
    "document": 'add its length to the part, {"pages": …}',
    "audio": 'add its length to the part, {"seconds": …}',
    "video": 'add its length to the part, {"seconds": …}',
}


_MIME = re.compile(r"[a-zA-Z]{1,20}/[\w.+-]{1,80}", re.ASCII)


def a_part(kind: str) -> str:
    """The kind of a part with an article: `an image`, `a document`."""
    return f"an {kind}" if kind[:1] in tuple("aeio") else f"a {kind}"


def without_price(kind: str, why: str) -> UnsupportedContentError:
    """The error for a part that is not in a price list."""
    return UnsupportedContentError(f"{a_part(kind)} part has no {why}", kind=kind)


def unpriced(facts: MediaFacts, provider: str) -> UnsupportedContentError:
    """The error for a part whose price would be a guess."""
    named = f"{a_part(facts.kind)} part"
    if facts.mime and _MIME.fullmatch(facts.mime):  # a part may say anything here, and errors quote no content
        named += f" ({facts.mime})"
    if facts.source is Source.TEXT:
        return UnsupportedContentError(f"{named} is text: count its text, not its size", kind=facts.kind)
    cure = _CURES.get(facts.kind)
    if cure is None:
        return UnsupportedContentError(f"{named} has no published price in {provider}; leave it out", kind=facts.kind)
    return UnsupportedContentError(
        f"{named} has no price in {provider}: its size cannot be read ({facts.source.value}). "
        f"Either {cure}, or leave it out.",
        kind=facts.kind,
    )


def pages_of(facts: MediaFacts, provider: str) -> int:
    """The pages of a PDF. Raises `UnsupportedContentError` for another document or an unknown number."""
    if facts.pages is None or facts.source is Source.TEXT:
        raise unpriced(facts, provider)
    return facts.pages


def seconds_of(facts: MediaFacts, provider: str) -> float:
    """The seconds of audio or video. Raises `UnsupportedContentError` if they are unknown."""
    if facts.seconds is None:
        raise unpriced(facts, provider)
    return facts.seconds
