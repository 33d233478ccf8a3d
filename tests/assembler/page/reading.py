"""Reads a page as a browser does, with the standard library's parser. Shares no code with what wrote it."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "input", "link", "br", "img", "hr"}
OUTCOMES = ("kept", "shortened", "dropped")
SVG = {"rect", "path"}
"""Drawn with a slash at their end."""


class Page(HTMLParser):
    """Every element with its attributes and its own text, and what the page's script is given."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(html)
        self.close()
        assert self.open == [], "an element is never closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        assert len(found) == len(attrs), "an attribute twice"
        self.elements.append((tag, found))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in SVG
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> ends nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open:
            assert not data.strip()
            return
        self.texts.append((self.open[-1], data))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag]

    def text(self, tag: str) -> list[str]:
        return [text for name, text in self.texts if name == tag]

    @property
    def written(self) -> dict[str, Any]:
        """The data that the script reads, unparsed."""
        found: dict[str, Any] = json.loads(self.text("script")[0])
        return found

    def rows_of(self, build: int = 0) -> list[dict[str, Any]]:
        """The rows of a build by name."""
        written = self.written
        words, runs = written["words"], written["builds"][build]["items"]
        rows = [row for first, number in runs for row in written["rows"][first : first + number]]
        return [
            {
                "region": region, "name": name, "before": before, "after": after, "outcome": OUTCOMES[outcome],
                "grade": words[grade], "note": words[note], "omitted": words[omitted], "messages": messages,
                "largest": largest and (largest[0], words[largest[1]], largest[2]),
                "turn": kind in (1, 2), "pinned": kind == 2, "stands_in": kind == 3, "text": (text or [None])[0],
            }
            for region, name, before, after, outcome, grade, note, omitted, messages, kind, largest, _, *text in rows
        ]  # fmt: skip

    @property
    def rows(self) -> list[dict[str, Any]]:
        return self.rows_of()

    @property
    def data(self) -> dict[str, Any]:
        """The first build: its items, and what other windows would keep."""
        written = self.written
        outlook, words = written["builds"][0]["outlook"], written["words"]
        names = ("window", "tokens", "upper", "prefix", "served", "first")
        sizes = [
            {**dict(zip(names, size, strict=False)), "regions": size[6:11], "gone": words[size[11]],
             "after": size[13] if len(size) > 13 else {}}
            for size in outlook["sizes"]
        ]  # fmt: skip
        return {**outlook, "sizes": sizes, "items": self.rows}


def left_at(data: dict[str, Any], window: int) -> list[int | None] | None:
    """The tokens that each item keeps at a window, None for a dropped one; None if no request fits."""
    known = [size for size in data["sizes"] if size["window"] <= window]
    if not data["every"]:
        known = [size for size in known if size["window"] == window]
    if not known:
        return None
    size = known[-1]
    left: list[int | None] = []
    for place, item in enumerate(data["items"]):
        if item["omitted"] or (item["turn"] and not item["pinned"] and place < size["first"]):
            left.append(None)
        else:
            left.append(size["after"].get(str(place), item["before"]))
    return left
