"""Escapes text for a page.

No field can become markup or code: text in the page is escaped, the figures are JSON in which no character can end a
script, and the page's security policy allows only the script with this package's hash.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import json
from collections.abc import Mapping
from importlib import resources
from string import Template
from typing import Any

from assembler.report.rows import shown_name

_SCRIPTS = ("figures.js", "shapes.js", "compare.js", "list.js", "request.js", "session.js", "page.js")
"""The files of the page's script, in order: each uses names of the ones before it."""


def render_page(title: str, fallback: str, figures: Mapping[str, Any]) -> str:
    """The page. `fallback` is shown without scripts, and the script reads `figures`. Pure."""
    style, script = _read_asset("page.css"), _read_script()
    return _read_template().substitute(
        policy=_write_policy(style, script),
        style=style,
        script=script,
        title=escape_text(shown_name(title)),
        fallback=escape_text("\n".join(map(shown_name, fallback.split("\n")))),
        data=inert_json(figures),
    )


def escape_text(text: str) -> str:
    """Escape a text for an attribute, or between tags."""
    return html.escape(text, quote=True)


def inert_json(value: object) -> str:
    """JSON that is safe inside HTML: only ASCII, without characters that begin a tag or an entity."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _write_policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@functools.cache
def _read_script() -> str:
    return '"use strict";\n' + "\n".join(map(_read_asset, _SCRIPTS))


@functools.cache
def _read_template() -> Template:
    return Template(_read_asset("page.html"))


def _read_asset(name: str) -> str:
    return resources.files("assembler.report.page").joinpath(name).read_text("utf-8")
