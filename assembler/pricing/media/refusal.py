"""The errors for a part without a price. They say what to do."""

from __future__ import annotations

import re

from assembler.errors import UnsupportedContentError
from assembler.pricing.media.facts import MediaFacts, Source

_MIME = re.compile(r"[a-zA-Z]{1,20}/[\w.+-]{1,80}", re.ASCII)


def a_part(kind: str) -> str:
    """The kind of a part with an article: `an image`, `a document`."""
    return f"an {kind}" if kind[:1] in tuple("aeio") else f"a {kind}"


def without_price(kind: str, why: str) -> UnsupportedContentError:
    """The error for a part that is not in a price list."""
    return UnsupportedContentError(f"{a_part(kind)} part has no {why}", kind=kind)


def unpriced(facts: MediaFacts, provider: str) -> UnsupportedContentError:
    """The error for a part that the provider's API does not read."""
    named = f"{a_part(facts.kind)} part"
    if facts.mime and _MIME.fullmatch(facts.mime):  # a part may say anything here, and errors quote no content
        named += f" ({facts.mime})"
    if facts.source is Source.TEXT:
        return UnsupportedContentError(f"{named} is text: count its text, not its size", kind=facts.kind)
    return UnsupportedContentError(f"{named} has no published price in {provider}; leave it out", kind=facts.kind)
