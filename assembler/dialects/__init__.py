"""Dialects: each parses, prices and emits the requests of one API, and has a folder here.

To add a dialect, add a folder named like the value in its `dialect.py`, and a line in the list below. A dialect is
loaded when it is first used, because most programs use only one.

`reading`, `prices`, `writing` and `caching` hold what many dialects use, each for one task. `openai` is for both of
OpenAI's APIs, `blocks` for APIs whose messages are lists of blocks, and `hosts` for models behind a host.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Iterator, Mapping

from assembler.dialects.api import Api
from assembler.dialects.dialect import Dialect, Emission, Opening
from budgets.lazy_names import load_later

if typing.TYPE_CHECKING:
    from assembler.dialects.anthropic.dialect import Anthropic
    from assembler.dialects.bedrock.dialect import Bedrock
    from assembler.dialects.chat_template.dialect import ControlText, chat_template

anthropic: Dialect
bedrock: Dialect
gemini: Dialect
mistral: Dialect
openai_chat: Dialect
openai_responses: Dialect
plain: Dialect

_NAMES = tuple(name for name, kind in __annotations__.items() if kind == "Dialect")
_ALSO = {"anthropic": "Anthropic", "bedrock": "Bedrock", "chat_template": "ControlText"}
"""Classes for the options of dialects: `Anthropic(thinking={…})`, `chat_template(…, control_text=ControlText.…)`."""
load_later(
    __name__,
    {
        name: f"{__name__}.{folder}.dialect"
        for folder in (*_NAMES, "chat_template")
        for name in (folder, _ALSO.get(folder, folder))
    },
)


class _DialectsByName(Mapping[str, Dialect]):
    """Every dialect by its name, loaded when it is looked up."""

    def __getitem__(self, name: str) -> Dialect:
        if not isinstance(name, str) or name not in _NAMES:
            raise KeyError(name)
        dialect: Dialect = getattr(sys.modules[__name__], name)
        return dialect

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


DIALECTS: Mapping[str, Dialect] = _DialectsByName()

__all__ = [
    "DIALECTS",
    "Anthropic",
    "Api",
    "Bedrock",
    "ControlText",
    "Dialect",
    "Emission",
    "Opening",
    "chat_template",
]
