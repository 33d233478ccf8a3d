"""A provider's refusal is read into numbers, and the next build fits."""

# ruff: noqa: E501 - what a provider said is one line

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assembler import Assembler, ContextLengthError, Overflow, TrimOldest, calibrate, overflow_of
from assembler.dialects import plain
from assembler.pricing.refusals import TOO_LONG
from budgets import Budget, TokenCountError
from tests.scaled import scaled

RECORDED: list[dict[str, Any]] = json.loads(Path(__file__).with_suffix(".refusals.json").read_text("utf-8"))
"""Words in which providers refused a request that was too long, and the tokens that they name."""


class SdkError(Exception):
    def __init__(self, message: str, **carried: Any) -> None:
        super().__init__(message)
        for name, value in carried.items():
            setattr(self, name, value)


def shapes(text: str) -> list[Any]:
    body = {"error": {"message": text, "code": 400}}
    return [
        text,
        text.encode(),
        body,
        json.dumps({"error": {"message": json.dumps(body)}}),
        [SdkError("Bad Request", body=body)],
        [SdkError("Bad Request", details=body)],
        [SdkError(text, response={"Error": {"Message": text}})],
        [SdkError(f"Error code: 400 - {body}")],
    ]


@pytest.mark.parametrize("row", RECORDED, ids=[row["provider"] for row in RECORDED])
def test_a_recorded_refusal_is_read_in_any_form(row: dict[str, Any]) -> None:
    for shape in shapes(row["says"]):
        found = overflow_of(shape[0] if isinstance(shape, list) else shape)
        assert found is not None, shape
        assert (found.used, found.limit) == (row["used"], row["limit"]), shape


class Answer:
    """As HTTP clients return it."""

    def __init__(self, text: str) -> None:
        self.text = text


class Unread:
    @property
    def text(self) -> str:
        raise RuntimeError("the stream was not read")


class Event:
    """As SDKs return what a stream says."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self) -> dict[str, Any]:
        return self.fields


def caused(cause: Exception) -> Exception:
    error = RuntimeError("the model call failed")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize("row", RECORDED, ids=[row["provider"] for row in RECORDED])
def test_a_recorded_refusal_is_read_through_http_clients_frameworks_and_streams(row: dict[str, Any]) -> None:
    body = {"error": {"message": row["says"], "code": "context_length_exceeded"}}
    plain = json.dumps(body)
    shapes: list[Any] = [
        Answer(plain),
        SdkError("400 Bad Request for url", response=Answer(plain)),
        [body],
        Event(type="error", message=row["says"], code="context_length_exceeded"),
        Event(type="response.failed", response={"status": "failed", **body}),
        f"event: error\ndata: {plain}\n\n".encode(),
        caused(SdkError("Bad Request", body=body)),
        caused(caused(SdkError(row["says"]))),
        ExceptionGroup("two agents failed", [ValueError("x"), SdkError("Bad Request", body=body)]),
    ]
    for shape in shapes:
        found = overflow_of(shape)
        assert found is not None, shape
        assert (found.used, found.limit) == (row["used"], row["limit"]), shape


@pytest.mark.parametrize("row", RECORDED, ids=[row["provider"] for row in RECORDED])
def test_a_recorded_refusal_is_read_with_other_numbers_and_with_separators(row: dict[str, Any]) -> None:
    for times, style in [(3, "d"), (7, ","), (1, ",")]:

        def other(number: re.Match[str], times: int = times, style: str = style) -> str:
            return format(times * int(number[0]), style)

        found = overflow_of(re.sub(r"\d+", other, row["says"]))
        assert found is not None
        known = [None if tokens is None else times * tokens for tokens in (row["used"], row["limit"])]
        assert [found.used, found.limit] == known


def test_an_error_that_was_met_while_another_was_handled_is_not_read() -> None:
    """An earlier refusal says nothing of this request."""
    error = SdkError("Rate limit reached")
    error.__context__ = SdkError(RECORDED[0]["says"])
    assert overflow_of(error) is None


ALIKE = [
    "This model's maximum context length is 2500 tokens, you requested 2710",
    "maximum context length is 2,500 tokens, you requested 2,710 tokens",
    "The context window is 2500 tokens. Your messages resulted in 2710 tokens.",
    "Your prompt has 2710 tokens, which exceeds the context limit of 2500.",
    "request (2710 tokens) exceeds the available context size (2500 tokens), try increasing it",
    "max input length: 2500, got 2710",
    "The decoder prompt (length 2710) is longer than the maximum model length of 2500.",
    "the number of input tokens 2710 cannot exceed the total tokens limit 2500 for this model",
    "BAD_REQUEST: Requested input length 2710 exceeds maximum input length 2500",
    "Input too long: 2710 tokens. Max tokens is 2500.",
    "The input length 2710 exceeds the max session_len 2500",
    "Malformed input request: Too many input tokens. Max input tokens: 2500, request input token count: 2710",
    "The request contains 2710 tokens which exceeds the maximum prompt length of 2500",
    "Prompt has too many tokens: 2710 > 2500",
    "The conversation must have less than 2500 tokens. Given: 2710",
]


UNNUMBERED = [
    "Please reduce the length of the messages or completion.",
    "Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.",
    "The number of tokens to keep from the initial prompt is greater than the context length.",
    "Request size exceeds model context window",
    "The prompt size exceeds the context window size and cannot be processed.",
    "context length exceeded",
    "Prompt is too long",
    "litellm.ContextWindowExceededError: too much was sent",
    "the messages are too long for this model",
]


NUMBERS = dict.fromkeys(ALIKE, Overflow(used=2710, limit=2500)) | dict.fromkeys(UNNUMBERED, Overflow())


@pytest.mark.parametrize("code", ["context_length_exceeded", "invalid_request_error"])
@pytest.mark.parametrize("text", NUMBERS)
def test_an_unrecorded_refusal_in_a_body_is_read_by_its_numbers_alone(text: str, code: str) -> None:
    body = {"error": {"code": code, "status": 400, "message": text}}
    for shape in [text, body, json.dumps(body), SdkError("Bad Request", body=body), SdkError(text)]:
        assert overflow_of(shape) == NUMBERS[text], shape


def test_a_refusal_that_was_not_read_is_refused_with_what_to_pass_instead() -> None:
    context = Assembler(Budget(200, counter=len)).add_messages([{"role": "user", "content": "x"}]).build()
    with pytest.raises(TokenCountError, match=r"could not read the refusal: pass Overflow\(used=…, limit=…\)"):
        calibrate(context, overflow_of("Too much."))
    assert calibrate(context, Overflow(used=300, limit=100)).most == 100


def test_ollamas_refusal_states_the_excess() -> None:
    assert overflow_of(RECORDED[-2]["says"]) == Overflow(excess=4096)


def test_every_row_of_the_table_is_met_by_a_recorded_refusal_and_names_its_source() -> None:
    texts = [row["says"] for row in RECORDED]
    found = [[words.wording for words in TOO_LONG if words.found_in(text.replace("\\", ""))] for text in texts]
    assert {words.wording for words in TOO_LONG[:-1]} == {reading[0] for reading in found if reading}
    assert all(words.source.startswith("https://") and words.providers for words in TOO_LONG)


OTHERS: list[Any] = [
    "Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Used 28000, Requested 5000.",
    {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
    "This model's maximum context length is 2500 tokens, you requested 2400",
    "The maximum context window has 2500 tokens and at most 100 output tokens, you requested 4000 output tokens",
    "The input limit is 2500 tokens per minute, you used 2710",
    "Number of request tokens has exceeded your per-minute rate limit",
    "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 42000. The input must be reduced.",
    "This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
    "ThrottlingException: Too many tokens, please wait before trying again.",
    "You exceeded your current quota. Quota exceeded: free_tier_input_token_count, limit: 250000",
    {"error": {"type": "invalid_request_error", "message": "max_tokens: 100000 > 64000, the maximum of output tokens"}},
    "The maximum tokens you requested exceeds the model limit of 32768.",
    "max_completion_tokens is too large: 1298829. This model supports at most 1048576",
    "this model's context length is 8192 and max_tokens 9000 exceeds it",
    "Invalid 'input': array too long. Expected an array with maximum length 2048, but got an array with length 2100.",
    "Invalid 'input[2].content': string too long. Expected a string with maximum length 10485760, but got 14839487.",
    "messages.1.content.0: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes",
    "Invalid request: temperature 3 exceeds maximum 2",
    "input image tokens 3000 exceeds the maximum 1500 image tokens",
    "PDF pages exceed the limit: request has 120 pages, max 100",
    "tool description exceeds the maximum length 1024: input 1100 characters",
    "Model has a context window of 128000; this request used 12000 tokens",
    "stop_reason: model_context_window_exceeded",
    "The request took too long",
    "max_tokens must be at least 1, got -186.",
    "",
    None,
    7,
    ValueError("x"),
    {"error": None},
    [],
    Unread(),
    SdkError("Bad Request", response=Unread()),
    SdkError,
    Event,
]


@pytest.mark.parametrize("refusal", OTHERS, ids=lambda refusal: str(refusal).partition(" object at ")[0])
def test_any_other_error_is_not_an_overflow(refusal: Any) -> None:
    assert overflow_of(refusal) is None


def test_a_long_refusal_is_read_in_linear_time() -> None:
    assert overflow_of("maximum context length is " * 20_000) is None
    assert overflow_of("prompt contains 1 tokens" * 4_000) is None
    assert overflow_of("has " + "1" * 100_000) is None
    for words in ("prompt exceeds ", 'input "', "prompt 1 exceeds max ", "a.", "context ", ". prompt exceeding the "):
        assert overflow_of(words * (100_000 // len(words))) is None


WORDS = [
    "prompt is too long: {used} tokens > {limit} maximum",
    "This model's maximum prompt length is {limit} but the request contains {used} tokens.",
    "The input token count ({used}) exceeds the maximum number of tokens allowed ({limit}).",
    "Requested tokens ({used}) exceed context window of {limit}",
]


@given(
    st.integers(8, 40),
    st.integers(1, 12),
    st.floats(1, 2),
    st.integers(0, 60),
    st.floats(0.4, 1.2),
    st.sampled_from(WORDS),
    st.sampled_from([None, 0.5]),
)
def test_the_second_build_after_a_refusal_is_accepted(
    turns: int, size: int, factor: float, frame: int, window: float, words: str, low_water: float | None
) -> None:
    """The server bills a share and a constant more than is counted, and its window may differ from the known one."""
    takes = max(int(200 * window), 1)

    def serve(request: dict[str, Any]) -> str | None:
        characters = sum(len(message["content"]) for message in request["messages"])
        used = -int(-characters * factor // 1) + frame
        return None if used <= takes else words.format(used=used, limit=takes)

    assembler = Assembler(Budget(200, counter=len), dialect=plain, on_overflow=TrimOldest(low_water))
    assembler.add_messages([{"role": "user", "content": "x" * size} for _ in range(turns)])
    context = assembler.build()
    refusal = serve(context.request())
    assume(refusal is not None)
    try:
        second = assembler.anchor(calibrate(context, overflow_of(refusal))).build()
    except ContextLengthError:
        assume(False)
        raise
    assert serve(second.request()) is None


@pytest.mark.parametrize("kept", ["anchored", "restored"])
@pytest.mark.parametrize(("wordings", "most"), [(WORDS, 1), (["Input is too long for requested model."], 7)])
@scaled(0.05)
@given(st.integers(900, 1_400), st.data(), st.sampled_from([1.0, 1.1]), st.sampled_from([None, 0.5]))
def test_a_limit_learned_from_a_refusal_survives_later_bills(
    wordings: list[str], most: int, kept: str, takes: int, data: st.DataObject, factor: float, low_water: float | None
) -> None:
    """Sixty turns of the loop that the pages show, with a window that is believed wider than it is.

    Where a refusal has no number, each takes a tenth: seven lead from 1,650 to 900.
    """
    words: str = data.draw(st.sampled_from(wordings))
    refusals, state, history = 0, None, list[dict[str, Any]]()
    assembler = Assembler(Budget(1_500, counter=len), dialect=plain, on_overflow=TrimOldest(low_water))
    for turn in range(60):
        history.append({"role": "user", "content": f"{turn:02}" + "x" * 78})
        assembler.add_messages(history)
        if kept == "restored" and state is not None:
            assembler = Assembler(Budget(1_500, counter=len), dialect=plain, on_overflow=TrimOldest(low_water))
            assembler.add_messages(history).restore(json.loads(state))
        context = assembler.build()
        while (used := int(context.by_rule.tokens * factor)) > takes:
            refusals += 1
            refusal = overflow_of(words.format(used=used, limit=takes))
            context = assembler.anchor(calibrate(context, refusal)).build()
        state = json.dumps(context.state(used))
        if kept == "anchored":
            assembler.anchor(calibrate(context, used))
        history.append({"role": "assistant", "content": "y" * 20})
    assert refusals <= most
    forgotten = assembler.anchor(None).build()
    assert calibrate(forgotten, 10).most is None


@pytest.mark.parametrize(("most_input", "most"), [(None, ""), (150, "max_input_tokens is 150 and ")])
def test_an_error_after_a_refusal_names_the_refusal_and_not_a_limit_of_the_budget(
    most_input: int | None, most: str
) -> None:
    budget = Budget(200, counter=len, max_input_tokens=most_input)
    assembler = Assembler(budget, dialect=plain, on_overflow=TrimOldest()).add_message(("user", "x" * 90))
    assembler.anchor(calibrate(assembler.build(), Overflow(used=90, limit=80)))
    with pytest.raises(ContextLengthError) as caught:
        assembler.build()
    assert caught.value.available == 80
    assert f"less {budget.input_limit - 80} that a refusal of the provider keeps from it" in str(caught.value)
    assert caught.value.advice.endswith("window does not help: " + most + "a refusal of the provider leaves 80.")
    assert "anchor(None) forgets the bill and the refusal." in caught.value.advice
    assert assembler.anchor(None).build().count.tokens == 90


def test_a_refusal_without_a_number_goes_below_the_limit_that_another_stated() -> None:
    assembler = Assembler(Budget(200, counter=len), dialect=plain, on_overflow=TrimOldest())
    assembler.add_messages([{"role": "user", "content": "x" * 5} for _ in range(60)])
    learned = calibrate(assembler.build(), Overflow(used=210, limit=150))
    again = assembler.anchor(learned).build()
    lower = calibrate(again, Overflow()).most
    assert lower is not None
    assert again.by_rule.tokens * 0.9 <= lower < again.by_rule.tokens <= 150
    assert calibrate(again, Overflow(used=160, limit=140)).most == 140
    assert again.state(Overflow(used=160, limit=140))["anchor"]["most"] == 140


@pytest.mark.parametrize(
    "refusal", ["Input is too long for requested model.", "prompt too long; exceeded max context length by 30 tokens"]
)
def test_a_few_refusals_without_numbers_lead_to_a_request_that_is_accepted(refusal: str) -> None:
    assembler = Assembler(Budget(200, counter=len), dialect=plain, on_overflow=TrimOldest())
    assembler.add_messages([{"role": "user", "content": "x" * 5} for _ in range(60)])
    context = assembler.build()
    for _ in range(10):
        if context.count.tokens and sum(len(message["content"]) for message in context.request()["messages"]) <= 100:
            break
        context = assembler.anchor(calibrate(context, overflow_of(refusal))).build()
    assert 50 <= sum(len(message["content"]) for message in context.request()["messages"]) <= 100


def test_a_body_with_keys_that_json_does_not_know_is_read_all_the_same() -> None:
    words = "This model's maximum context length is 100 tokens. However, your messages resulted in 120 tokens."
    found = overflow_of({("a", 1): "left out", "message": words})
    assert found is not None
    assert (found.used, found.limit) == (120, 100)


def test_a_body_that_repeats_a_long_prompt_of_another_script_is_read() -> None:
    words = "This model's maximum context length is 100 tokens. However, your messages resulted in 120 tokens."
    found = overflow_of({"prompt": "\u6f22" * 50_000, "message": words})
    assert found is not None
    assert (found.used, found.limit) == (120, 100)


SAID = "prompt is too long: 210 tokens > 200 maximum"


@pytest.mark.parametrize("more", [0, 1])
def test_the_first_hundred_thousand_characters_of_a_refusal_are_read(more: int) -> None:
    text = "Requested tokens (210) exceed context window of 200"
    found = overflow_of(" " * (100_000 - len(text) + more) + text)
    assert found == Overflow(used=210, limit=20 if more else 200)


@pytest.mark.parametrize(
    "refusal",
    [b"\xff " + SAID.encode(), bytearray(SAID.encode()), {"message": SAID, "sealed": b"\xff"}, SAID.upper()],
    ids=["no UTF-8", "bytearray", "bytes inside", "capitals"],
)
def test_a_refusal_with_bytes_and_capitals_in_it_is_read(refusal: Any) -> None:
    assert overflow_of(refusal) == Overflow(used=210, limit=200)


def test_the_body_of_an_exception_is_read_before_its_message() -> None:
    other = SAID.replace("210", "999")
    for name in ("body", "details", "response"):
        assert overflow_of(SdkError(other, **{name: SAID})) == Overflow(used=210, limit=200)
        assert overflow_of(SdkError(SAID, **{name: "Bad Request"})) == Overflow(used=210, limit=200)


@pytest.mark.parametrize("used", [2_499, 2_500, 2_501])
def test_unknown_words_are_a_refusal_only_if_more_was_used_than_the_limit(used: int) -> None:
    found = overflow_of(f"The context window is 2500 tokens. Your messages resulted in {used} tokens.")
    assert found == (Overflow(used=used, limit=2_500) if used > 2_500 else None)


@pytest.mark.parametrize(("window", "used", "refused"), [(0, 0, False), (0, 1, True), (1, 1, False), (1, 2, True)])
def test_unknown_words_are_a_refusal_at_the_smallest_window_too(window: int, used: int, refused: bool) -> None:
    found = overflow_of(f"The context window is {window} tokens. Your messages resulted in {used} tokens.")
    assert found == (Overflow(used=used, limit=window) if refused else None)


def test_a_recursive_or_endlessly_nested_body_is_not_an_overflow() -> None:
    circle: dict[str, Any] = {"message": SAID}
    circle["error"] = circle
    deep: Any = SAID
    for _ in range(100_000):
        deep = [deep]
    assert (overflow_of(circle), overflow_of(deep)) == (None, None)


def test_an_answer_that_cannot_be_dumped_or_whose_text_was_not_read_says_nothing() -> None:
    class Model:
        def __init__(self, dumped: Any) -> None:
            self.dumped = dumped

        def model_dump(self) -> Any:
            return self.dumped()

    class Stream:
        @property
        def text(self) -> str:
            raise RuntimeError("not read yet")

    def fails() -> Any:
        raise KeyError

    assert overflow_of(Model(lambda: {"message": SAID})) == Overflow(used=210, limit=200)
    assert [overflow_of(Model(fails)), overflow_of(Stream()), overflow_of(Answer), overflow_of(7)] == [None] * 4
    assert overflow_of(SdkError("Bad Request", response=Stream(), body=Answer(SAID))) == Overflow(used=210, limit=200)
    raised = SdkError("Bad Request")
    raised.__cause__ = SdkError(SAID)
    assert overflow_of(raised) == Overflow(used=210, limit=200)


def test_a_refusal_is_looked_for_behind_an_error_that_speaks_of_a_rate() -> None:
    raised = SdkError("Rate limit exceeded: 429")
    raised.__cause__ = SdkError(SAID)
    assert overflow_of(raised) == Overflow(used=210, limit=200)


@pytest.mark.parametrize(("causes", "found"), [(16, True), (17, False)])
def test_an_error_is_looked_for_sixteen_causes_deep(causes: int, found: bool) -> None:
    error: Exception = SdkError(SAID)
    for _ in range(causes):
        outer = SdkError("Bad Request")
        outer.__cause__ = error
        error = outer
    assert overflow_of(error) == (Overflow(used=210, limit=200) if found else None)


def test_the_tokens_of_the_answer_are_taken_from_the_window_and_from_what_was_asked_for_in_all() -> None:
    asked = "maximum context length is 100 tokens. However, you requested {} tokens (1 in the messages, {} in the completion)"
    assert overflow_of(asked.format(130, 40)) == Overflow(used=90, limit=60)
    assert overflow_of(asked.format(230, 140)) == Overflow(used=90, limit=0)


def test_without_a_budget_a_refusal_is_compared_with_the_count() -> None:
    context = Assembler(dialect=plain).add_messages([{"role": "user", "content": "one two three four"}]).build()
    ours = context.by_rule.tokens
    more, silent = calibrate(context, Overflow(excess=5)), calibrate(context, Overflow())
    assert (more.billed, more.most, more.limit) == (ours + 5, None, None)
    assert (silent.billed, silent.most, silent.limit) == (ours, int(ours / 1.1), None)


def test_of_two_limits_the_smaller_is_taken_but_never_below_the_count() -> None:
    assembler = Assembler(Budget(120, counter=len), dialect=plain).add_messages([{"role": "user", "content": "x" * 60}])
    context = assembler.build()
    bills = [calibrate(context, one) for one in (Overflow(limit=50), Overflow(limit=200), Overflow(excess=30))]
    assert [bill.billed for bill in bills] == [60, 132, 150]
    assert [bill.most for bill in bills] == [50, 200, None]
    assert [calibrate(context, Overflow(used=used)).billed for used in (0, 1, 80)] == [1, 1, 80]
