"""The published byte-pair vocabularies, as data in the wheel."""

from __future__ import annotations

from budgets.vocabularies.loading import mergeable_ranks
from budgets.vocabularies.published import PUBLISHED, Vocabulary

__all__ = ["PUBLISHED", "Vocabulary", "mergeable_ranks"]
