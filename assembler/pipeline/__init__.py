"""The stages of a build: gather, choose, measure, fit, emit. Each is one function that takes values and returns one.

The names of `__init__.pyi` are loaded when they are first used: gathering a request needs no stage.
"""

from budgets.lazy_names import load_later as _load_later

_load_later(__name__)
