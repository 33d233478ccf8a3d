"""The words in which each API refuses a request that is too long, as recorded from the providers (2026-11)."""

from __future__ import annotations

from tests.integrations.spoken import Body


def refusal_of(path: str, used: int, takes: int) -> Body:
    """The body of the answer. OpenAI's Responses and Bedrock name no number."""
    invalid = "invalid_request_error"
    match path:
        case _ if "/messages" in path:
            return {"type": "error", "error": {"type": invalid, "message": _anthropic(used, takes)}}
        case _ if "/converse" in path:
            return {"message": "The model returned the following errors: Input is too long for requested model."}
        case _ if "enerateContent" in path:
            return {"error": {"code": 400, "message": _gemini(used, takes), "status": "INVALID_ARGUMENT"}}
        case _:
            message = _RESPONSES if "/responses" in path else _chat(used, takes)
            return {"error": {"message": message, "type": invalid, "param": "x", "code": "context_length_exceeded"}}


_RESPONSES = "Your input exceeds the context window of this model. Please adjust your input and try again."


def _anthropic(used: int, takes: int) -> str:
    return f"prompt is too long: {used} tokens > {takes} maximum"


def _gemini(used: int, takes: int) -> str:
    return f"The input token count ({used}) exceeds the maximum number of tokens allowed ({takes})."


def _chat(used: int, takes: int) -> str:
    return (
        f"This model's maximum context length is {takes} tokens. However, your messages resulted in {used} tokens. "
        "Please reduce the length of the messages."
    )
