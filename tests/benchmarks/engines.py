"""How fast each engine counts, and what the counting path adds to the bare engine. One run, ratios within it.

    python -m tests.benchmarks.engines [ROUNDS]

Prints MB/s on 1 MB of English documentation and Python source in one text, and on 10,000 chat-sized messages counted
one by one. All engines count with o200k_base and must agree. `bare` tiktoken has the respelled split pattern of
`budgets.vocabularies.splitting`, `as published` its own. CPU seconds, medians of interleaved rounds; engines
that are not installed are left out.
"""

from __future__ import annotations

import statistics
import sys
import sysconfig
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from budgets import MissingExtraError, memoised, tiktoken_counter, toktok_counter, transformers_counter
from budgets.counters.tiktoken import _load_engine
from budgets.counters.toktok import _load_count
from budgets.vocabularies import PUBLISHED, mergeable_ranks

ENCODING = "o200k_base"
MEGABYTE = 1_000_000
MESSAGES = 10_000
MESSAGE_CHARACTERS = 172  # about 41 tokens

Count = Callable[[str], int]


def megabyte() -> str:
    """Half documentation, half source, from Python itself."""
    library = Path(sysconfig.get_paths()["stdlib"])
    prose = (library / "pydoc_data" / "topics.py").read_text(encoding="utf-8")
    sources = "".join(path.read_text(encoding="utf-8") for path in sorted((library / "asyncio").glob("*.py")))
    prose = prose.replace("\\n", "\n").replace("\\'", "'")
    return prose[: MEGABYTE // 2] + sources[: MEGABYTE // 2]


def messages() -> list[str]:
    """Chat-sized stretches of the same, no two alike."""
    text = megabyte()
    step = (len(text) - MESSAGE_CHARACTERS) // MESSAGES
    return [text[start : start + MESSAGE_CHARACTERS] for start in range(0, step * MESSAGES, step)]


def hugging_face() -> Count:
    """The same vocabulary in the tokenizers library, private copy and all."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

    letters = _byte_letters()
    ranks = mergeable_ranks(ENCODING)
    spelled = {token: "".join(letters[byte] for byte in token) for token in ranks}
    merges: list[tuple[str, str]] = []
    for token in ranks:
        pairs = [(token[:cut], token[cut:]) for cut in range(1, len(token))]
        known = [(ranks[a], ranks[b], a, b) for a, b in pairs if a in ranks and b in ranks]
        merges += [(spelled[a], spelled[b]) for _, _, a, b in sorted(known)]
    model = models.BPE({spelled[token]: rank for token, rank in ranks.items()}, merges, ignore_merges=True)
    tokenizer = Tokenizer(model)
    split = pre_tokenizers.Split(Regex(PUBLISHED[ENCODING].pattern), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    return transformers_counter(tokenizer)


def _byte_letters() -> dict[int, str]:
    """GPT-2's letter for each byte, as byte-level vocabularies are spelled."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {byte: chr(byte) for byte in printable} | {byte: chr(256 + place) for place, byte in enumerate(others)}


def engines() -> dict[str, Count]:
    """Bare engines and our counters over them, by name."""
    encode = _load_engine(ENCODING).encode_ordinary
    published = _load_engine(ENCODING, PUBLISHED[ENCODING].pattern).encode_ordinary
    found: dict[str, Count] = {
        "tiktoken, as published": lambda text: len(published(text)),
        "tiktoken, bare": lambda text: len(encode(text)),
        "tiktoken_counter": tiktoken_counter(ENCODING),
    }
    try:
        found["toktok_counter"] = toktok_counter(ENCODING)
        found["toktok, bare"] = _load_count(ENCODING)
    except MissingExtraError as missing:
        print(f"toktok is left out: {missing}")
    try:
        found["transformers_counter"] = hugging_face()
    except ImportError as missing:
        print(f"transformers is left out: {missing}")
    return found


def seconds(count: Count, texts: Sequence[str]) -> tuple[float, int]:
    """CPU time to count every text once, and the sum."""
    started = time.thread_time()
    total = 0
    for text in texts:
        total += count(text)
    return time.thread_time() - started, total


def timed(found: dict[str, Count], texts: Sequence[str], rounds: int) -> dict[str, list[float]]:
    """Seconds of each engine in each round; the rounds interleave. Raises AssertionError if two engines disagree."""
    taken: dict[str, list[float]] = {name: [] for name in found}
    sums: dict[str, int] = {}
    for _ in range(rounds):
        for name, count in found.items():
            spent, sums[name] = seconds(count, texts)
            taken[name].append(spent)
    assert len(set(sums.values())) == 1, sums
    return taken


def overhead(found: dict[str, Count], texts: Sequence[str], rounds: int, engine: str) -> float:
    """Our path over the bare engine: the median of the ratios of neighbouring rounds."""
    pair = {name: found[name] for name in (f"{engine}, bare", f"{engine}_counter")}
    bare, ours = timed(pair, texts, rounds).values()
    return statistics.median(our / its for our, its in zip(ours, bare, strict=True))


def memo_hit(texts: Sequence[str], rounds: int) -> float:
    """Seconds that a hit of the memo takes beyond a look-up in a dict."""
    remembered = memoised(tiktoken_counter(ENCODING))
    known = {text: remembered(text) for text in texts}
    found: dict[str, Count] = {"memo": remembered, "dict": known.__getitem__}
    memo, plain = timed(found, texts, rounds * 4).values()
    return (statistics.median(memo) - statistics.median(plain)) / len(texts)


def main(rounds: int = 5) -> None:
    """Print the table."""
    found = engines()
    kinds = {"1 MB in one text": [megabyte()], f"{MESSAGES:,} chat messages": messages()}
    for kind, texts in kinds.items():
        size = sum(len(text.encode()) for text in texts)
        taken = {name: statistics.median(spent) for name, spent in timed(found, texts, rounds).items()}
        print(f"\n{kind}: {size / MEGABYTE:.2f} MB, {sum(map(found['tiktoken, bare'], texts)):,} tokens")
        for name, spent in sorted(taken.items(), key=lambda pair: pair[1]):
            faster = taken["tiktoken, as published"] / spent
            print(f"  {name:22} {size / MEGABYTE / spent:8.1f} MB/s   {faster:5.2f} × tiktoken as published")
        for engine in ("tiktoken", "toktok"):
            if f"{engine}, bare" in taken:
                print(f"  our path over bare {engine}: {overhead(found, texts, rounds * 4, engine):.3f}")
    print(
        f"\na memo hit costs {memo_hit(kinds[f'{MESSAGES:,} chat messages'], rounds) * 1e6:.3f} µs over a dict look-up"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
