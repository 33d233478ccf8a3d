"""Writes the table of published counts that the tests hold Claude's counter to: `python -m tools.claude_counts WHEEL`.

WHEEL is that of PyPI's ctok; it runs where `regex` is installed. The counts are of the text as one message, with the
tokens of the message, as the package gives them.
"""

from __future__ import annotations

import importlib
import itertools
import json
import sys
from pathlib import Path
from typing import Any

from tests.budgets.claude_texts import CHOSEN, drawn

TABLE = Path(__file__).parents[1] / "tests" / "budgets" / "claude_counts.json"
VERSIONS = ("3.0", "4.7", "4.8")
DRAWN = 400


def main(wheel: str) -> None:
    """Write the table."""
    sys.path.insert(0, wheel)
    ctok: Any = importlib.import_module("ctok")
    texts = [*CHOSEN, *itertools.islice(drawn(7), DRAWN)]
    rows = [[text, *(ctok.token_count(text, version) for version in VERSIONS)] for text in texts]
    table = {"source": "PyPI ctok 1.3.0 (MIT), token_count(text, version)", "versions": VERSIONS, "rows": rows}
    lines = json.dumps(table, ensure_ascii=True).replace("], [", "],\n[")
    TABLE.write_text(lines + "\n", encoding="ascii")
    print(f"{len(rows)} texts in {TABLE}")


if __name__ == "__main__":
    main(*sys.argv[1:])
