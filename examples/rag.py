"""Questions about Python, answered from Python's own documentation: retrieve, choose, cite, check. Runs offline.

    python examples/rag.py                                   two questions
    python examples/rag.py "What does a finally clause do?"  your own

The documentation is the language reference that every Python brings along for its `help()`. The embedding hashes words
into a vector: crude, needs no download, and enough to find a passage by what it speaks of. No model is asked:
the answer that is checked at the end is put together from what the sources say, with a quote and a citation that are
false.
"""

from __future__ import annotations

import itertools
import math
import re
import sys
import zlib
from collections import Counter
from pydoc_data.topics import topics

import numpy as np

from assembler.rag import (
    CitedSources,
    ContextOptimizer,
    MergeNeighbours,
    PromptBuilder,
    PromptComponents,
    RetrievalResult,
    TokenBudgetManager,
    citation_report,
)

QUESTIONS = (
    "What happens to an exception when the finally clause executes a return statement?",
    "How does the with statement call __enter__ and __exit__ of a context manager?",
)
DIMENSIONS = 1_024
CHUNK = 900
"""Characters. Chunks overlap by a paragraph, as splitters make them; neighbours are merged where both are chosen."""


def features(text: str) -> list[str]:
    words = re.findall(r"[a-z_]{2,}", text.lower())
    return words + [f"{one} {other}" for one, other in itertools.pairwise(words)]


def embed(text: str, rarity: dict[str, float]) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Signed feature hashing (Weinberger et al., 2009), rare words weighing more."""
    vector = np.zeros(DIMENSIONS, dtype=np.float32)
    for feature, count in Counter(features(text)).items():
        digest = zlib.crc32(feature.encode())
        sign = 1.0 if digest & 1 else -1.0
        vector[(digest >> 1) % DIMENSIONS] += sign * (1 + math.log(count)) * rarity.get(feature, 1.0)
    return vector / (float(np.linalg.norm(vector)) or 1.0)


def chunks_of(topic: str, text: str) -> list[RetrievalResult]:
    """Paragraphs gathered up to CHUNK characters, the last one said again at the start of the next chunk."""
    title = text.strip().split("\n", 1)[0]
    gathered: list[list[str]] = [[]]
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if sum(map(len, gathered[-1])) + len(paragraph) > CHUNK and gathered[-1]:
            gathered.append(gathered[-1][-1:])
        gathered[-1].append(paragraph)
    return [
        RetrievalResult(
            "\n\n".join(paragraphs),
            chunk_id=f"{topic}-{index}",
            document_id=topic,
            document_filename=f"reference/{topic}",
            section_title=title,
            metadata={"chunk_index": index},
        )
        for index, paragraphs in enumerate(gathered)
    ]


class Retriever:
    """What a vector store does, in a dozen lines."""

    def __init__(self) -> None:
        self.chunks = [chunk for topic, text in topics.items() for chunk in chunks_of(topic, text)]
        seen = Counter(feature for chunk in self.chunks for feature in set(features(chunk.content)))
        self.rarity = {feature: math.log(len(self.chunks) / count) for feature, count in seen.items()}
        self.vectors = np.array([embed(chunk.content, self.rarity) for chunk in self.chunks])

    def retrieve(self, query: str, limit: int = 40) -> list[dict[str, object]]:
        likeness = self.vectors @ embed(query, self.rarity)
        best = np.argsort(-likeness)[:limit]
        return [
            {
                "content": self.chunks[at].content,
                "score": float(likeness[at]),
                "chunk_id": self.chunks[at].chunk_id,
                "document_id": self.chunks[at].document_id,
                "document_filename": self.chunks[at].document_filename,
                "section_title": self.chunks[at].section_title,
                "embedding": self.vectors[at],
                "metadata": self.chunks[at].metadata,
            }
            for at in best
        ]


def pretended_answer(prompt: PromptComponents) -> str:
    """An answer as a model writes them: true quotes, one that nobody wrote, and a source that was never given."""
    first = " ".join(prompt.sources[0].text.split("\n\n")[-1].split())[:80].rsplit(" ", 1)[0]
    return (
        f'The reference says "{first}" [Source 1]. '
        f'It adds "nothing of this kind was ever written here" [Source {min(2, len(prompt.sources))}]. '
        "Everybody knows the rest. "
        f"More is to be found elsewhere [Source 1, Source {len(prompt.sources) + 7}]."
    )


def main(questions: list[str]) -> None:
    retriever = Retriever()
    print(f"{len(topics)} documents, {len(retriever.chunks)} chunks of Python's own documentation\n")
    strategy = CitedSources(merging=MergeNeighbours(), per_document=4)
    builder = PromptBuilder(
        TokenBudgetManager(model_max_tokens=4_000, max_output_tokens=1_000), ContextOptimizer(strategy=strategy)
    )
    for question in questions:
        prompt = builder.build_prompt(question, retriever.retrieve(question))
        print(f"═══ {question}\n")
        print(builder.preview_prompt(prompt, max_chars=2_400))
        print(f"\n─── the report\n\n{prompt.report}")
        answer = pretended_answer(prompt)
        report = citation_report(answer, prompt)
        print(f"\n─── an answer, and what it cites\n\n{answer}\n")
        for sentence in report.sentences:
            cited = ", ".join(f"{number} ({prompt.sources[number - 1].source})" for number in sentence.sources)
            print(f"characters {sentence.start:>3}-{sentence.end:<3} cite {cited or 'nothing'}")
        for quote in report.unconfirmed:
            print(f"not said by the cited source: characters {quote.start}-{quote.end}")
        for marker in report.suspect:
            print(f"never given: source {', '.join(map(str, marker.unknown))}, characters {marker.start}-{marker.end}")
        print(f"not cited: {', '.join(map(str, report.unused)) or 'none'}\n")


if __name__ == "__main__":
    main(sys.argv[1:] or list(QUESTIONS))
