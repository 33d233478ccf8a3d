"""The way of a request: choose, measure, fit, emit. One function a stage, values in, values out.

The names here are loaded when they are first used: what gathers a request does without the stages.
"""

import typing

from budgets.later import load_later as _load_later

if typing.TYPE_CHECKING:
    from assembler.pipeline.answers import unasked
    from assembler.pipeline.build import costs_now, measured_now
    from assembler.pipeline.emit import emit
    from assembler.pipeline.ladder import Kept
    from assembler.pipeline.relief import held_by, hold
    from assembler.pipeline.settings import Settings
    from assembler.pipeline.state import restored

__all__ = ["Kept", "Settings", "costs_now", "emit", "held_by", "hold", "measured_now", "restored", "unasked"]

_load_later(
    __name__,
    {
        "assembler.pipeline.answers": "unasked",
        "assembler.pipeline.build": "costs_now measured_now",
        "assembler.pipeline.emit": "emit",
        "assembler.pipeline.ladder": "Kept",
        "assembler.pipeline.relief": "held_by hold",
        "assembler.pipeline.settings": "Settings",
        "assembler.pipeline.state": "restored",
    },
)
