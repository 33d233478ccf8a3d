"""How knowledge is chosen and laid out: one file a strategy. Adding one is a file beside these and a line here.

Each is loaded when it is first named.
"""

import typing

from budgets.later import load_later as _load_later

if typing.TYPE_CHECKING:
    from assembler.pricing.pricer import Piece as Piece
    from assembler.regions.regions import Regions as Regions
    from assembler.strategies.chat_regions import REMINDER as REMINDER
    from assembler.strategies.chat_regions import ChatRegions as ChatRegions
    from assembler.strategies.cited_sources import CitedSources as CitedSources
    from assembler.strategies.question_chunks import QuestionChunks as QuestionChunks
    from assembler.strategies.strategy import Around as Around
    from assembler.strategies.strategy import ChoosingStrategy as ChoosingStrategy
    from assembler.strategies.strategy import Continued as Continued
    from assembler.strategies.strategy import Needs as Needs
    from assembler.strategies.strategy import NotingStrategy as NotingStrategy
    from assembler.strategies.strategy import Omitted as Omitted
    from assembler.strategies.strategy import Placement as Placement
    from assembler.strategies.strategy import Rendered as Rendered
    from assembler.strategies.strategy import Space as Space
    from assembler.strategies.strategy import Strategy as Strategy

_load_later(
    __name__,
    {
        "assembler.pricing.pricer": "Piece",
        "assembler.regions.regions": "Regions",
        "assembler.strategies.chat_regions": "REMINDER ChatRegions",
        "assembler.strategies.cited_sources": "CitedSources",
        "assembler.strategies.question_chunks": "QuestionChunks",
        "assembler.strategies.strategy": (
            "Around ChoosingStrategy Continued Needs NotingStrategy Omitted Placement Rendered Space Strategy"
        ),
    },
)
