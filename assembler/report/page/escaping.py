"""Text into a page, as text.

Whatever a field holds stays text: the template escapes by default, the figures travel as JSON in which no character can
end a script, and the page's own policy lets run only what has the hash of this package's script.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

from budgets import Tokens

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

_REPLACED = "\N{REPLACEMENT CHARACTER}"
_STEERING = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), _REPLACED)
"""Characters that turn the direction of what follows them (UAX 9, explicit formatting): text could hide behind them."""


def rendered(figures: Mapping[str, Any], /, **values: object) -> str:
    """The page: `values` are what the template names, `figures` what the script reads. Pure."""
    style, script = _asset("page.css"), _asset("page.js")
    return _template().render(
        values, policy=_policy(style, script), style=_raw(style), script=_raw(script), data=_raw(inert_json(figures))
    )


def escaped(text: str) -> Markup:
    """The text as the value of an attribute."""
    from markupsafe import escape

    return escape(text)


def inert_json(value: object) -> str:
    """JSON that HTML reads as nothing else: ASCII alone, and no character that could begin a tag or an entity."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@functools.cache
def _asset(name: str) -> str:
    return resources.files("assembler.report.page").joinpath(name).read_text("utf-8")


def _raw(text: str) -> Markup:
    from markupsafe import Markup

    return Markup(text)  # ours: a file of this package, or JSON made inert


@functools.cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    engine = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    filters: dict[str, Any] = engine.filters
    filters |= {"tokens": _tokens, "shown": shown_name, "prose": _prose, "percent": percent}
    return engine.from_string(_asset("page.html"))


def _tokens(number: Tokens | None) -> str:
    return "?" if number is None else f"{number:,}"


def percent(part: Tokens, whole: Tokens) -> str:
    """A share for people; what is there is never 0%."""
    if not whole:
        return "–"
    return "<1%" if 0 < part * 100 < whole else f"{part / whole:.0%}"


def shown_name(text: str) -> str:
    """One line in which nothing hides: what cannot be printed is a replacement character."""
    return "".join(one if one.isprintable() else _REPLACED for one in text)


def _prose(text: str) -> str:
    """A text as it stands, line breaks and all, without control characters and what turns direction."""
    return "".join(_carried(text.translate(_STEERING)))


def _carried(text: str) -> Iterator[str]:
    for one in text:
        control = (one < " " and one not in "\n\t") or "\x7f" <= one <= "\x9f" or "\ud800" <= one <= "\udfff"
        yield _REPLACED if control else one
