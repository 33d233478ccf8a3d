"""The base64 of pictures, documents and sounds, which an API decodes before it reads anything else of a request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from assembler.verify.place import Place
from assembler.verify.violation import Rule, Violation

_BASE64 = re.compile(r"[A-Za-z0-9+/_\-\s]++={0,2}\s*+")
"""Either alphabet, with or without line breaks and padding."""
_IN_URL = re.compile(r"[A-Za-z0-9+/_\-\s%]++={0,2}\s*+")
"""The same with characters that are escaped, as a URL may have them: it is not known who takes `%3D`."""


def wrong_base64(places: Iterable[Place], rule: Rule) -> Iterator[Violation]:
    """The rule for each text that is empty or holds characters of no base64. Values of other types are passed over."""
    for place in places:
        if place.text is not None and _BASE64.fullmatch(place.text) is None:
            fault = "is not base64" if place.text else "is empty"
            yield rule.broken(place.path, f"the data {fault}; give the base64 of the file, without a prefix")


def wrong_data_urls(places: Iterable[Place], rule: Rule) -> Iterator[Violation]:
    """The rule for each data URL whose data is empty or holds characters of no base64. Addresses are passed over."""
    for place in places:
        head, comma, data = (place.text or "").partition(",")
        if comma and head.startswith("data:") and head.endswith(";base64") and _IN_URL.fullmatch(data) is None:
            fault = "is not base64" if data else "is empty"
            yield rule.broken(place.path, f"the data after the comma {fault}; give the base64 of the file")
