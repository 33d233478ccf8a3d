"""A user's script over three SDKs, held under pyright strict and mypy --strict by test_types.py. It is never run."""

from __future__ import annotations

from typing import Any, assert_type

from anthropic import Anthropic
from anthropic.types import Message
from google import genai
from google.genai.types import GenerateContentResponse
from openai import OpenAI
from openai.types.chat import ChatCompletion, ChatCompletionMessageParam
from openai.types.responses import Response

from assembler import Assembler, Summarize, TrimOldest, calibrate
from budgets import Budget


def write(dropped: list[ChatCompletionMessageParam], previous: str | None, max_tokens: int) -> str:
    return f"{len(dropped)} messages, {previous}, {max_tokens}"


def ask_claude(history: list[dict[str, Any]]) -> Message:
    budget = Budget.for_model("claude-opus-4-6", max_output_tokens=1_000)
    context = Assembler(budget).add_instruction("Be brief.").add_messages(history).build()
    answer = Anthropic().messages.create(
        model="claude-opus-4-6", max_tokens=context.max_output_tokens, **context.request("anthropic")
    )
    assert_type(answer, Message)
    return answer


def ask_openai(history: list[ChatCompletionMessageParam]) -> str:
    budget = Budget.for_model("gpt-4o", max_output_tokens=1_000)
    assembler = Assembler(budget, on_overflow=[Summarize(write), TrimOldest()]).add_messages(history)
    context = assembler.build()
    _, messages, _ = context
    most = context.max_output_tokens
    client = OpenAI()
    answer = client.chat.completions.create(model="gpt-4o", max_completion_tokens=most, messages=messages)
    assert_type(answer, ChatCompletion)
    request = context.request("openai_chat")
    completion = client.chat.completions.create(model="gpt-4o", max_completion_tokens=most, **request)
    assert_type(completion, ChatCompletion)
    assembler.add_message(completion.choices[0].message)
    calibrate(context, completion.usage)
    newest = client.responses.create(model="gpt-4o", max_output_tokens=most, **context.request("openai_responses"))
    assert_type(newest, Response)
    return newest.output_text


def ask_gemini(history: list[dict[str, Any]]) -> GenerateContentResponse:
    context = Assembler(Budget.for_model("gemini-2.5-pro"), dialect="gemini").add_messages(history).build()
    client = genai.Client()
    answer = client.models.generate_content(  # pyright: ignore[reportUnknownMemberType] # it may use Pillow
        model="gemini-2.5-pro", **context.request("gemini")
    )
    assert_type(answer, GenerateContentResponse)
    return answer
