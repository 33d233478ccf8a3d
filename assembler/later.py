"""Names of a package that are loaded when they are first used: `budgets.later`, for the rooms of this package."""

from budgets.later import load_later

__all__ = ["load_later"]
