"""A page as a browser would find it, read by the standard library's parser: shares no code with what wrote it."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "input", "link", "br", "img", "hr"}
SVG = {"rect", "path"}
"""Drawn with a slash at their end."""


class Page(HTMLParser):
    """Every element with its attributes and its own text, and the rows of the table of items."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.rows: list[dict[str, Any]] = []
        self.feed(html)
        self.close()
        assert self.open == [], "an element is never closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        assert len(found) == len(attrs), "an attribute twice"
        self.elements.append((tag, found))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr" and "data-item" in found:
            self.rows.append({"item": int(found["data-item"] or 0), "outcome": found["class"], "cells": []})
        elif tag in ("td", "th") and self.rows and "tr" in self.open:
            self.rows[-1]["cells"].append("")

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
        if self.rows and self.rows[-1]["cells"] and "tr" in self.open:
            self.rows[-1]["cells"][-1] += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag]

    def text(self, tag: str) -> list[str]:
        return [text for name, text in self.texts if name == tag]

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.text("script")[0])
        return found


def left_at(data: dict[str, Any], window: int) -> list[int | None] | None:
    """What is left of each item at a window, None for one that is dropped; None where nothing can be sent."""
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
