"""The way of a request: choose, measure, fit, emit. One function a stage, values in, values out.

The names here are loaded when they are first used: what gathers a request does without the stages.
"""

import typing

from budgets.later import load_later as _load_later

if typing.TYPE_CHECKING:
    from assembler.pipeline.answers import plan_without_awaiting
    from assembler.pipeline.build import costs_now, measure_now
    from assembler.pipeline.draft import Draft
    from assembler.pipeline.emit import emit
    from assembler.pipeline.ladder import Trimmed
    from assembler.pipeline.settings import Settings
    from assembler.pipeline.state import restore_settings
    from assembler.pipeline.trimming import held_decision, restore_decision

__all__ = [
    "Draft",
    "Settings",
    "Trimmed",
    "costs_now",
    "emit",
    "held_decision",
    "measure_now",
    "plan_without_awaiting",
    "restore_decision",
    "restore_settings",
]

_load_later(
    __name__,
    {
        "assembler.pipeline.answers": "plan_without_awaiting",
        "assembler.pipeline.build": "costs_now measure_now",
        "assembler.pipeline.draft": "Draft",
        "assembler.pipeline.emit": "emit",
        "assembler.pipeline.ladder": "Trimmed",
        "assembler.pipeline.trimming": "held_decision restore_decision",
        "assembler.pipeline.settings": "Settings",
        "assembler.pipeline.state": "restore_settings",
    },
)
