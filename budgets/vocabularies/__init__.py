"""The published byte-pair vocabularies, as data in the wheel."""

from __future__ import annotations

from budgets.vocabularies.loading import mergeable_ranks, vocabulary_of
from budgets.vocabularies.open_models import OPEN
from budgets.vocabularies.published import PUBLISHED, Vocabulary

__all__ = ["OPEN", "PUBLISHED", "Vocabulary", "mergeable_ranks", "vocabulary_of"]
