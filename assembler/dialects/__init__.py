"""How APIs spell a request: one folder a dialect, three faces each (parse, price, emit).

Adding one is a folder beside these, named like the value that its `dialect.py` holds, and one line in the list below.
A dialect is loaded when it is first used: most programs speak one.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable, Iterator, Mapping

from assembler.dialects.api import Api
from assembler.dialects.dialect import Dialect, Emission, Opening
from budgets.later import load_later

if typing.TYPE_CHECKING:
    from assembler.dialects.anthropic.dialect import Anthropic
    from assembler.dialects.bedrock.dialect import Bedrock

anthropic: Dialect
bedrock: Dialect
chat_template: Callable[..., Dialect]
gemini: Dialect
mistral: Dialect
openai_chat: Dialect
openai_responses: Dialect
plain: Dialect

_NAMES = tuple(name for name, kind in __annotations__.items() if kind == "Dialect")
_ALSO = {"anthropic": "Anthropic", "bedrock": "Bedrock"}
"""The classes of those that can be told more: `Anthropic(thinking={…})`."""
load_later(__name__, {f"{__name__}.{name}.dialect": f"{name} {_ALSO.get(name, '')}" for name in __annotations__})


class _Shelf(Mapping[str, Dialect]):
    """Every dialect by the name that a model's facts and the command line use, loaded when it is taken."""

    def __getitem__(self, name: str) -> Dialect:
        if not isinstance(name, str) or name not in _NAMES:
            raise KeyError(name)
        dialect: Dialect = getattr(sys.modules[__name__], name)
        return dialect

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


DIALECTS: Mapping[str, Dialect] = _Shelf()

__all__ = ["DIALECTS", "Anthropic", "Api", "Bedrock", "Dialect", "Emission", "Opening"]
