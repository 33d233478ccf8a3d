"""What providers say when a request is too long: a table of words, each from a refusal that somebody recorded.

The threads were read in 2026-11. A row names the tokens where the words do: some providers give no number. No pattern
looks farther than a few hundred characters, so that a body which repeats a prompt is read in linear time.
"""

from __future__ import annotations

import re

import attrs


@attrs.frozen
class Words:
    """How one refusal is worded. Its groups are tokens: `used` by the input, the `window`, `reserved` for the answer,
    `total` of input and answer, `excess` over the window."""

    providers: str
    said: str
    """A pattern in which `<used>` stands for a number of that name."""
    source: str

    def found_in(self, text: str) -> re.Match[str] | None:
        """Where a text says so first, in letters of either case; None where it does not."""
        pattern = re.sub(r"<(\w+)>", r"(?P<\1>\\d[\\d,]{0,14})", self.said)
        return re.search(pattern, text, re.IGNORECASE | re.DOTALL)


_GAP = r"(?:(?!output|completion|per.min|\d).){0,60}?"
_WINDOW = (
    r"(?:max(?:imum)? (?:context|prompt|input|sequence)|context (?:length|window|size|limit)|(?:prompt|input) limit)\b"
    rf"{_GAP}<window>(?![\d,]{{0,15}}\s{{0,9}}(?:output|completion))"
)
_USED = (
    r"(?:requested|resulted in|has|have|contains?|got|sent|used|(?:request|prompt|input|messages) \()"
    rf"{_GAP}<used>(?![\d,]{{0,15}}\s{{0,9}}(?:output|completion))"
)

_GITHUB = "https://github.com/"

TOO_LONG = (
    Words(
        "OpenAI, Azure, DeepSeek, vLLM, OpenRouter",
        r"maximum context length is <window> tokens[.,] however,? you requested <total> tokens "
        r"\([^)]{0,200}?<reserved> (?:in|for) the completion\)",
        _GITHUB + "evalstate/fast-agent/issues/621",
    ),
    Words(
        "OpenAI, Azure",
        r"maximum context length is <window> tokens\. however, your messages resulted in (?:over )?<used> tokens",
        _GITHUB + "microsoft/kernel-memory/issues/516",
    ),
    Words(
        "Azure",
        r"exceed the configured limit of <window> tokens\. your messages resulted in <used> tokens",
        _GITHUB + "BerriAI/litellm/issues/15968",
    ),
    Words(
        "vLLM",
        r"maximum context length is <window> tokens\. however, you requested <reserved> output tokens and your prompt "
        r"contains (?:at least )?<used> input tokens",
        _GITHUB + "AIDotNet/OpenCowork/issues/82",
    ),
    Words(
        "vLLM",
        r"prompt \(total length <used>\) is too long to fit into the model \(context length <window>\)",
        _GITHUB + "vllm-project/vllm/issues/12165",
    ),
    Words(
        "OpenRouter",
        r"endpoint's maximum context length is <window> tokens\. however, you requested about [\d,]+ tokens "
        r"\(<used> of text input(?:[^)]{0,200}?, <reserved> in the output)?",
        _GITHUB + "refly-ai/refly/issues/1177",
    ),
    Words(
        "OpenRouter (Poolside)",
        r"input length <used> exceeds the maximum allowed input length of <window> tokens",
        _GITHUB + "earendil-works/pi/issues/4943",
    ),
    Words(
        "Anthropic, Bedrock, Vertex",
        r"prompt is too long: <used> tokens > <window> maximum",
        _GITHUB + "anthropics/claude-code/issues/12186",
    ),
    Words(
        "Anthropic",
        r"input length and `max_tokens` exceed context limit: <used> \+ <reserved> > <window>",
        _GITHUB + "docker/docker-agent/issues/569",
    ),
    Words(
        "Gemini",
        r"input token count \(<used>\) exceeds the maximum number of tokens allowed \(<window>\)",
        _GITHUB + "google-gemini/gemini-cli/issues/4231",
    ),
    Words(
        "xAI",
        r"maximum prompt length is <window> but the request contains <used> tokens",
        _GITHUB + "cline/cline/issues/3120",
    ),
    Words(
        "Mistral",
        r"prompt contains <used> tokens.{0,200}?too large for model with <window> maximum context length",
        "https://docs.mistral.ai/resources/known-limitations",
    ),
    Words(
        "SGLang",
        r"the input \(<used> tokens\) is longer than the model.{0,3}s context length \(<window> tokens\)",
        _GITHUB + "QwenLM/Qwen3/issues/1321",
    ),
    Words(
        "SGLang",
        r"input length \(<used> tokens\) exceeds the maximum allowed length \(<window> tokens\)",
        _GITHUB + "sgl-project/sglang/issues/4048",
    ),
    Words(
        "SGLang",
        r"maximum context length of <window> tokens\. you requested a total of [\d,]+ tokens: <used> tokens from the "
        r"input messages and <reserved> tokens for the completion",
        _GITHUB + "anomalyco/opencode/pull/25230",
    ),
    Words(
        "llama.cpp",
        r"exceed_context_size_error.{0,200}?n_prompt_tokens\D{1,6}<used>.{0,200}?n_ctx\D{1,6}<window>",
        _GITHUB + "ggml-org/llama.cpp/pull/15780",
    ),
    Words(
        "llama-cpp-python",
        r"requested tokens \(<used>\) exceed context window of <window>",
        _GITHUB + "rllm-team/rllm/issues/55",
    ),
    Words("Ollama", r"prompt too long; exceeded (?:max )?context length by <excess> tokens", _GITHUB + "ollama/ollama"),
    Words(
        "Ollama",
        r"input (?:length )?exceeds (?:the )?context length",
        _GITHUB + "ITSpecialist111/ai_automation_suggester/issues/37",
    ),
    Words("llama.cpp", r"exceeds the available context size", _GITHUB + "ggml-org/llama.cpp/issues/17284"),
    Words("OpenAI", r"input exceeds the context window of this model", _GITHUB + "dyad-sh/dyad/issues/1672"),
    Words("Bedrock", r"input is too long for requested model", _GITHUB + "aws-samples/bedrock-chat/issues/95"),
    Words(
        "Groq",
        r"reduce the length of the messages or completion.{0,200}?context_length_exceeded",
        _GITHUB + "thepersonalaicompany/amurex-backend/issues/51",
    ),
    Words("OpenAI and its kin", r"context_length_exceeded", _GITHUB + "ChatGPTNextWeb/NextChat/issues/625"),
)
"""The first that matches is taken: those with numbers stand first."""

ALIKE = tuple(
    Words("any that is worded like these", f"{one}{_GAP}{other}", "")
    for one, other in [(_WINDOW, _USED), (_USED, _WINDOW)]
)
"""What a proxy or a server of one's own says: the window near a word for it, and what was used near a verb. It is a
refusal only where more was used than the window has."""
