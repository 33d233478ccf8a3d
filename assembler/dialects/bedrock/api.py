"""The facts of Converse: cache marks, minimum cacheable prefixes, usage fields, search results.

A few models have their own minimums on Bedrock; the other Claudes have Anthropic's.
"""

from __future__ import annotations

from typing import Any

from assembler.dialects.anthropic.api import CACHES as OF_ANTHROPIC
from assembler.dialects.anthropic.api import marked, takes_search_results
from assembler.dialects.api import Api, Wordless
from assembler.dialects.bedrock.marks import BedrockMarks
from assembler.dialects.bedrock.shape import SHAPE

_PAGE = "Claude docs, Prompt caching (Bedrock's own minimums), and litellm docs, Prompt caching, 2026-10-07"
_NOVA_PAGE = "Amazon Bedrock user guide, Prompt caching, by way of third parties' copies of its table: not verified"
_TAKERS_PAGE = "Amazon Bedrock user guide, Prompt caching: of Converse's models Claude and Nova take cache points"

_CACHES = (
    marked(r"opus-4[.-]7|4[.-]7-opus", 4_096, _PAGE),
    marked(r"(fable|mythos)-5$", 1_024, _PAGE),
    marked(r"nova", 1_024, _NOVA_PAGE),
    marked(r"^(?!.*claude).+", None, _TAKERS_PAGE),
    *OF_ANTHROPIC,
)


class SearchResults:
    """Blocks named `searchResult` (botocore 1.44.8, SearchResultBlock, read 2026-11), which Claude alone takes."""

    def takes(self, model: str | None) -> bool:
        """Whether the model is a Claude that takes them at Anthropic, or has no name; Sonnet 3.5 does not.

        It is not among the models of the Bedrock API reference, SearchResultBlock (read 2026-11).
        """
        return takes_search_results(model) and "3-5-sonnet" not in (model or "").lower()

    def block(self, source: str, title: str, text: str) -> dict[str, Any]:
        """A block of one text."""
        fields = {"source": source, "title": title, "content": [{"text": text}], "citations": {"enabled": True}}
        return {"searchResult": fields}


API = Api(
    provider="aws.bedrock",
    shape=SHAPE.name,
    model="modelId",
    held=("promptVariables",),  # of a prompt that the service stores
    priced=("additionalModelRequestFields", "outputConfig", "toolChoice"),
    marks=BedrockMarks(),
    sources=SearchResults(),
    wordless=Wordless.BLANK,
    caches=_CACHES,
    # `inputTokens` excludes cached tokens, so they are added: Amazon Bedrock API reference, read 2026-11.
    usage=(("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),),
)
