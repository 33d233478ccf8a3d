"""The greedy prompt builder's names over the library's pipeline: a question and the first chunks that fit."""

from budgets.lazy_names import load_later as _load_later

_load_later(__name__)
