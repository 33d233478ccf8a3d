"""The way of a request: choose, measure, fit, emit. One function a stage, values in, values out.

The names of `__init__.pyi` are loaded when they are first used: what gathers a request does without the stages.
"""

from budgets.later import load_later as _load_later

_load_later(__name__)
