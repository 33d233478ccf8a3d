"""The words around sources and question.

The opening words, the labels and the rules are the RAG source system's published ones.
"""

from __future__ import annotations

import attrs

from assembler.validation import A_TEXT, Is

SYSTEM_INSTRUCTIONS = """\
You are a helpful AI assistant that answers questions based on provided source documents.

CRITICAL RULES:
1. Answer ONLY using information from the provided sources
2. If sources don't contain sufficient information, state: "I don't have enough information in the provided sources"
3. ALWAYS cite sources using [Source X] notation
4. Mention conflicts if sources disagree
5. Quote exact numbers and dates
6. Don't make assumptions beyond sources
7. Acknowledge partial relevance
8. Be concise but complete

CITATION FORMAT:
- [Source 1], [Source 2], etc.
- Multiple sources: [Source 1, Source 3]
- Use quotation marks for direct quotes

ANSWER QUALITY:
- Specific, factual answers
- Clear, professional language
- Logical organization
- Highlight key points"""
"""The source system's instruction: answer from the sources, and cite them."""


@attrs.frozen
class QuestionTemplate:
    """The words before the sources, between them and the question, and after it.

    `opening` and `question` end with a line break. `unsourced` replaces the opening if there is no source.
    """

    opening: str = attrs.field(validator=A_TEXT)
    question: str = attrs.field(validator=A_TEXT)
    closing: str = attrs.field(validator=A_TEXT)
    unsourced: str = attrs.field(default="I don't have any relevant sources for this question.\n\n", validator=A_TEXT)


A_TEMPLATE = Is((QuestionTemplate,), "a QuestionTemplate such as SINGLE_HOP")

SINGLE_HOP = QuestionTemplate(
    opening="Based on the following sources, please answer the question.\n\nSOURCES:\n",
    question="QUESTION:\n",
    closing="\n\nANSWER:",
)
"""One question, one answer."""

MULTI_HOP = QuestionTemplate(
    opening=(
        "Answering the question takes facts from more than one of the following sources. "
        "Please connect them step by step.\n\nSOURCES:\n"
    ),
    question="QUESTION:\n",
    closing=(
        "\n\nSTEPS:\n"
        "1. Split the question into the smaller questions that it rests on.\n"
        "2. Answer each from the sources, and cite the source of each answer.\n"
        "3. If one cannot be answered from the sources, say which, and stop.\n"
        "4. Combine the answers into one, and keep every citation.\n\n"
        "ANSWER:"
    ),
)
"""A question whose answer combines facts from several sources."""
