"""The facts of Converse: cache marks, minimum cacheable prefixes, usage fields.

A few models have their own minimums on Bedrock; the other Claudes have Anthropic's.
"""

from __future__ import annotations

from assembler.dialects.anthropic.api import CACHES as OF_ANTHROPIC
from assembler.dialects.anthropic.api import marked
from assembler.dialects.api import Api
from assembler.dialects.bedrock.marks import BedrockMarks

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

API = Api(
    provider="aws.bedrock",
    shape="bedrock",
    held=("promptVariables",),  # of a prompt that the service stores
    priced=("additionalModelRequestFields", "outputConfig", "toolChoice"),
    marks=BedrockMarks(),
    caches=_CACHES,
    # `inputTokens` excludes cached tokens, so they are added: Amazon Bedrock API reference, read 2026-11.
    usage=(("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),),
)
