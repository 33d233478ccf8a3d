"""Text to the terminal, whatever it can draw."""

from __future__ import annotations

import sys


def show(text: str) -> None:
    """Print a text; characters that the terminal's encoding lacks become question marks."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(encoding, errors="replace").decode(encoding))
