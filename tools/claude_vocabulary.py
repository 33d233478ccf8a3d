"""Packs the reconstructed vocabularies of Claude out of PyPI's ctok: `python tools/claude_vocabulary.py CTOK_WHEEL`.

Reads the two piece files of the wheel, writes `budgets/vocabularies/claude_3.xz` and `claude_4_7.xz` and prints the
hashes for `budgets/vocabularies/claude.py`. Raises ValueError where the pieces break a law that the counter relies on.
"""

from __future__ import annotations

import json
import lzma
import re
import sys
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "budgets" / "vocabularies"
FILES = {"ctok/data/pieces_v3.json": "claude_3.xz", "ctok/data/pieces_v4_7.json": "claude_4_7.xz"}
ATOMS = {"⟨bow⟩": "\x01", "⟨eow⟩": "\x02", "⟨shift⟩": "\x03", "⟨caps⟩": "\x04"}
ESCAPED = re.compile("(?:⟨0x[0-9A-F]{2}⟩)+")
WELL_FORMED = re.compile("\x01|\x02|\x03|\x04|[\x03\x04]?\x01?[^\x01-\x04]+\x02?")
LZMA = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 3, "lp": 0, "pb": 0}]


def decode_markers(piece: str) -> str:
    """A published piece with one control character for each marker, and its escaped bytes as text."""
    for atom, mark in ATOMS.items():
        piece = piece.replace(atom, mark)
    return ESCAPED.sub(lambda run: bytes.fromhex(re.sub("[⟨⟩]|0x", "", run[0])).decode(), piece)


def pieces_of(tokens: dict[str, dict[str, Any]]) -> list[str]:
    """All pieces in order. Published contractions lack the mark of the word's end that the counter writes."""
    groups = [group for name, group in tokens.items() if name != "bytes_fallback"]
    pieces = {decode_markers(piece) for group in groups for piece in group}
    pieces |= {decode_markers(piece) + ATOMS["⟨eow⟩"] for piece in tokens["contractions"]}
    for piece in pieces:
        if not WELL_FORMED.fullmatch(piece) or "\x00" in piece:
            raise ValueError(f"{piece!r} crosses the end of a word")
        if len(set(piece)) > 1 and re.search("[ \t\n\u3000]", piece):
            raise ValueError(f"{piece!r} mixes white space with something else")
    return sorted(pieces)


def packed(tokens: dict[str, dict[str, Any]]) -> bytes:
    """NUL between pieces, two NULs, then NUL between the beginnings of characters in hexadecimal; xz."""
    plain = "\x00".join(pieces_of(tokens)) + "\x00\x00" + "\x00".join(sorted(tokens["bytes_fallback"]))
    return lzma.compress(plain.encode(), format=lzma.FORMAT_XZ, filters=LZMA)


def main(wheel: str) -> None:
    """Write both files."""
    with zipfile.ZipFile(wheel) as held:
        for published, ours in FILES.items():
            data = packed(json.loads(held.read(published))["tokens"])
            (FOLDER / ours).write_bytes(data)
            print(f"{ours}: {len(data)} bytes, sha256 {sha256(data).hexdigest()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
