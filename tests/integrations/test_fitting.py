"""The base of all adapters: conversations are distinguished, remembered, and fitted alike with and without async."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from assembler import Assembler, Context, ContextLengthError, Summarize, TrimOldest, count_request, fit_request
from assembler.dialects import Dialect, anthropic, bedrock, gemini, mistral, openai_chat, openai_responses, plain
from assembler.integrations.call_settings import serial_calls, tool_choice
from assembler.integrations.fitting import LESSONS, Asked, Fitting
from assembler.integrations.kept_objects import kept_objects
from assembler.regions.output_schema import OutputSchema
from budgets import Budget, BudgetError
from tests.integrations.script import Summarizer

SCHEMA = {"type": "object", "properties": {"town": {"type": "string", "description": "Where to go."}}}


def history(name: str, turns: int) -> list[Any]:
    talk = [(f"{name} asks {turn}: " + "why " * 15, f"{name} hears {turn}.") for turn in range(turns)]
    both = [[{"role": "user", "content": q}, {"role": "assistant", "content": a}] for q, a in talk]
    return [message for pair in both for message in pair] + [{"role": "user", "content": "?"}]


def counted() -> tuple[list[int], Assembler]:
    summarizer = Summarizer()
    budget = Budget(260, max_output_tokens=10, model="gpt-4o")
    return summarizer.written, Assembler(budget, on_overflow=[Summarize(summarizer, keep_turns=1), TrimOldest()])


def summaries(names: list[str], conversations: int = 64) -> int:
    written, base = counted()
    fitting = Fitting(base, conversations=conversations)
    for turn in range(12):
        for name in names:
            fitting.fit(history(name, turn), Asked("Be brief."))
    return len(written)


def test_conversations_without_a_name_are_distinguished_by_their_beginnings() -> None:
    alone = summaries(["Ann"])
    assert summaries(["Ann", "Bob", "Cat"]) == 3 * alone > 0


def test_as_many_conversations_as_asked_for_keep_their_summaries() -> None:
    names = [f"Speaker {n}" for n in range(6)]
    assert summaries(names, conversations=6) == 6 * summaries(["Ann"])
    assert summaries(names, conversations=5) > 6 * summaries(["Ann"])


def test_a_process_that_is_rebuilt_at_each_call_sends_what_one_that_stays_does() -> None:
    (written, base), (written_anew, base_anew) = counted(), counted()
    stays, state = Fitting(base), None
    for turn in range(12):
        context = stays.fit(history("Ann", turn), Asked("Be brief."))
        rebuilt = Fitting(base_anew).fit(history("Ann", turn), Asked("Be brief."), state=state)
        state = json.loads(json.dumps(rebuilt.state()))
        assert context.request() == rebuilt.request()
    assert written == written_anew != []


def test_two_processes_that_take_turns_write_the_summaries_of_one() -> None:
    (alone, base), (together, shared) = counted(), counted()
    one, two, state = Fitting(base), [Fitting(shared), Fitting(shared)], None
    for turn in range(12):
        context = one.fit(history("Ann", turn), Asked())
        other = two[turn % 2].fit(history("Ann", turn), Asked(), state=state)
        state = other.state()
        assert context.request() == other.request()
    assert alone == together != []


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True])
def test_a_number_of_conversations_below_one_is_refused(wrong: Any) -> None:
    with pytest.raises(BudgetError, match="conversations"):
        Fitting(Assembler(), conversations=wrong)


def test_an_answer_format_is_priced_word_for_word() -> None:
    fitting = Fitting(Assembler(Budget(10_000, model="gpt-4o")))
    context = fitting.fit(history("Ann", 1), Asked(output=OutputSchema("trip", SCHEMA)))
    form = {"type": "json_schema", "json_schema": {"name": "trip", "schema": SCHEMA}}
    body = {"messages": history("Ann", 1), "response_format": form}
    assert context.count == count_request(body, dialect=openai_chat, model="gpt-4o")


def test_a_body_is_fitted_alike_alone_remembered_and_awaited() -> None:
    base = Assembler(Budget(200, model="gpt-4o"), on_overflow=TrimOldest(low_water=0.5))
    here, there = Fitting(base), Fitting(base)
    cut: list[int] = []
    for turn in range(9):
        body = {"model": "gpt-4o", "messages": history("Ann", turn), "response_format": {"type": "json_object"}}
        fitted = here.fit_body(body, openai_chat, run="one").body
        assert fitted == asyncio.run(there.afit_body(body, openai_chat, run="one")).body
        assert count_request(fitted, dialect=openai_chat, model="gpt-4o").upper <= 200
        cut.append(len(body["messages"]) - len(fitted["messages"]))
    assert cut == sorted(cut)
    assert len(set(cut)) < 5  # the low-water mark holds from call to call
    assert fit_request(body, dialect=openai_chat, assembler=base)["model"] == "gpt-4o"


def test_a_body_that_cannot_fit_raises_awaited_too() -> None:
    fitting = Fitting(Assembler(Budget(20, model="gpt-4o"), on_overflow=TrimOldest()))
    with pytest.raises(ContextLengthError):
        asyncio.run(fitting.afit_body({"messages": history("Ann", 3)[:1]}, openai_chat))


def test_an_async_summarizer_is_awaited_for_messages_and_for_bodies() -> None:
    written: list[int] = []

    async def summarizer(dropped: Any, previous: str | None, room: int) -> str:
        await asyncio.sleep(0)
        written.append(len(dropped))
        return "They talked."

    budget = Budget(200, model="gpt-4o")
    fitting = Fitting(Assembler(budget, on_overflow=[Summarize(summarizer, keep_turns=1), TrimOldest()]))
    context = asyncio.run(fitting.afit(history("Ann", 8), Asked()))
    body = asyncio.run(fitting.afit_body({"messages": history("Bob", 8)}, openai_chat)).body
    assert len(written) == 2
    assert "They talked." in str(context.messages)
    assert "They talked." in str(body)


LIMIT = 260


def hidden(ours: int) -> int:
    """The bill of a provider with a hidden prompt and another vocabulary."""
    return (6 * ours + 4) // 5 + 30


def priced(context: Context) -> int:
    return count_request(context.request(), dialect=openai_chat, model="gpt-4o").tokens


def anchoring() -> Fitting:
    return Fitting(Assembler(Budget(LIMIT, model="gpt-4o"), on_overflow=TrimOldest()))


def test_calls_that_are_settled_fit_the_bill_and_calls_that_are_not_do_not() -> None:
    settled, unsettled = anchoring(), anchoring()
    over: list[int] = []
    for turn in range(12):
        context = settled.fit(history("Ann", turn), Asked("Be brief."))
        assert hidden(priced(context)) <= LIMIT
        settled.settle(context, hidden(priced(context)))
        over.append(hidden(priced(unsettled.fit(history("Ann", turn), Asked("Be brief.")))))
    assert max(over) > LIMIT


def test_a_process_that_takes_a_settled_state_counts_from_the_bill() -> None:
    stays, state = anchoring(), None
    for turn in range(1, 12):
        context = stays.fit(history("Ann", turn), Asked())
        rebuilt = anchoring()
        other = rebuilt.fit(history("Ann", turn), Asked(), state=state)
        assert other.request() == context.request()
        assert other.count == context.count
        stays.settle(context, hidden(priced(context)))
        state = json.loads(json.dumps(rebuilt.settle(other, hidden(priced(other)))))
        assert (context.count == context.by_rule) is (turn == 1)


def test_a_bill_counts_for_its_own_conversation_alone() -> None:
    fitting, alone = anchoring(), anchoring()
    for turn in range(1, 9):
        first, second = fitting.fit(history("Ann", turn), Asked()), fitting.fit(history("Bob", turn), Asked())
        assert second.count == second.by_rule == alone.fit(history("Bob", turn), Asked()).count
        fitting.settle(first, hidden(priced(first)))


def test_two_calls_at_once_of_one_conversation_are_billed_apart() -> None:
    fitting = anchoring()
    first = fitting.fit(history("Ann", 3), Asked(), run=1)
    second = fitting.fit(history("Ann", 2), Asked("Translate."), run=2)
    fitting.settle(second, 250)
    fitting.settle(first, 150)
    bills = [fitting.fit(history("Ann", 4), Asked(), run=run).calibration for run in (1, 2)]
    assert [bill and bill.billed for bill in bills] == [150, 250]


def test_a_bill_that_arrives_after_the_conversation_continued_is_ignored() -> None:
    fitting = anchoring()
    late = fitting.fit(history("Ann", 1), Asked())
    fitting.fit(history("Ann", 2), Asked())
    fitting.settle(late, 5_000)
    assert fitting.fit(history("Ann", 3), Asked()).calibration is None


@pytest.mark.parametrize("usage", [None, 0, 1, {}, {"prompt_tokens": 0}, {"prompt_tokens": 5}, object()])
def test_a_usage_that_cannot_be_the_requests_bill_changes_nothing(usage: object) -> None:
    fitting = anchoring()
    context = fitting.fit(history("Ann", 2), Asked())
    assert fitting.settle(context, usage) == context.state()
    assert fitting.fit(history("Ann", 3), Asked()).calibration is None


def test_a_bill_with_what_the_providers_own_tools_read_is_passed_over() -> None:
    base = Assembler(Budget(20_000, model="gpt-5"), dialect=openai_responses)
    fitting = Fitting(base)
    context = fitting.fit(history("Ann", 2), Asked(tools=[{"type": "web_search"}]))
    assert context.by_rule.upper < 8_000
    assert fitting.settle(context, 8_000) == context.state()
    assert fitting.settle(context, context.by_rule.upper) != context.state()


def test_a_task_settles_the_call_that_it_has_fitted_itself() -> None:
    fitting, other = anchoring(), anchoring()

    async def call(name: str, billed: int) -> int:
        await fitting.afit(history(name, 2), Asked())
        await asyncio.sleep(0)
        await other.settle_own(5_000)  # another adapter's hook in the same task
        await fitting.settle_own(billed)
        await fitting.settle_own(5_000)  # a call that was never fitted
        bill = (await fitting.afit(history(name, 3), Asked())).calibration
        assert bill is not None
        return bill.billed

    async def together() -> list[int]:
        return await asyncio.gather(*(call(f"Speaker {n}", 150 + n) for n in range(8)))

    assert asyncio.run(together()) == [150 + n for n in range(8)]


def test_bodies_that_are_settled_fit_the_bill_with_their_answer_format() -> None:
    fitting = Fitting(Assembler(Budget(LIMIT, model="gpt-4o"), on_overflow=TrimOldest()))
    form = {"type": "json_schema", "json_schema": {"name": "trip", "schema": SCHEMA}}
    kept: list[int] = []
    for turn in range(12):
        done = fitting.fit_body({"messages": history("Ann", turn), "response_format": form}, openai_chat)
        billed = hidden(count_request(done.body, dialect=openai_chat, model="gpt-4o").tokens)
        assert billed <= LIMIT
        fitting.settle(done.context, {"prompt_tokens": billed}, uncounted=done.uncounted)
        kept.append(len(done.body["messages"]))
    assert min(kept[4:]) > 3


REFUSAL = "This model's maximum context length is {takes} tokens. However, your messages resulted in {used} tokens."
NO_NUMBERS = "Your input exceeds the context window of this model. Please adjust your input and try again."


def refusal(context: Context, words: str) -> str | None:
    used = hidden(priced(context))
    return words.format(takes=LIMIT, used=used) if used > LIMIT else None


@pytest.mark.parametrize("words", [REFUSAL, NO_NUMBERS])
def test_a_call_that_is_refused_is_taken_when_it_is_made_again_and_so_are_the_next(words: str) -> None:
    fitting, refused = anchoring(), 0
    for turn in range(12):
        context = fitting.fit(history("Ann", turn), Asked("Be brief."))
        while (text := refusal(context, words)) is not None:
            refused += 1
            assert fitting.learn(context, text) is not None
            context = fitting.fit(history("Ann", turn), Asked("Be brief."))
    assert 0 < refused <= LESSONS


@pytest.mark.parametrize("kept", ["before", "fitted", "learned"])
def test_a_lesson_holds_whatever_of_the_refused_call_a_store_has_kept(kept: str) -> None:
    fitting = anchoring()
    first = fitting.fit(history("Ann", 3), Asked())
    before = fitting.settle(first, priced(first))
    context = fitting.fit(history("Ann", 9), Asked(), state=before)
    learned = fitting.learn(context, REFUSAL.format(takes=150, used=300))
    assert learned is not None
    state = {"before": before, "fitted": context.state(), "learned": learned}[kept]
    again = fitting.fit(history("Ann", 9), Asked(), state=json.loads(json.dumps(state)))
    assert again.count.upper <= 150
    if kept == "learned":
        rebuilt = anchoring().fit(history("Ann", 9), Asked(), state=json.loads(json.dumps(state)))
        assert rebuilt.request() == again.request()


def test_another_error_teaches_nothing_and_endless_refusals_are_given_up() -> None:
    fitting = anchoring()
    context = fitting.fit(history("Ann", 9), Asked())
    assert fitting.learn(context, ValueError("rate limited")) is None
    for _ in range(LESSONS):
        assert fitting.learn(context, REFUSAL.format(takes=LIMIT, used=LIMIT + 1)) is not None
        context = fitting.fit(history("Ann", 9), Asked())
    assert fitting.learn(context, NO_NUMBERS) is None
    longer = fitting.fit(history("Ann", 10), Asked())
    assert fitting.learn(longer, NO_NUMBERS) is not None  # another call


def test_a_refused_body_is_taken_with_its_answer_format_when_it_is_made_again() -> None:
    fitting, refused = Fitting(Assembler(Budget(LIMIT, model="gpt-4o"), on_overflow=TrimOldest())), 0
    form = {"type": "json_schema", "json_schema": {"name": "trip", "schema": SCHEMA}}
    for turn in range(12):
        body = {"messages": history("Ann", turn), "response_format": form}
        done = fitting.fit_body(body, openai_chat)
        while (used := hidden(count_request(done.body, dialect=openai_chat, model="gpt-4o").tokens)) > LIMIT:
            refused += 1
            text = REFUSAL.format(takes=LIMIT, used=used)
            assert fitting.learn(done.context, text, uncounted=done.uncounted) is not None
            done = fitting.fit_body(body, openai_chat)
    assert 0 < refused <= 2


@pytest.mark.parametrize("stored", [False, True])
def test_a_summary_that_was_written_in_the_background_is_what_the_next_call_sends(stored: bool) -> None:
    policies = [Summarize(None, keep_turns=1), TrimOldest()]
    fitting = Fitting(Assembler(Budget(LIMIT, model="gpt-4o"), on_overflow=policies))
    other = fitting.fit(history("Bob", 9), Asked(), run="Bob")
    first = fitting.fit(history("Ann", 9), Asked(), run="Ann")
    state = json.loads(json.dumps(first.state())) if stored else None
    assert first.wanted is not None
    assert "They talked." not in str(first.request())
    between = fitting.fit(history("Ann", 9), Asked(), run="Ann", state=state)
    assert between.request() == first.request()
    assert fitting.add_summary(first.wanted, "They talked.")
    after = fitting.fit(history("Ann", 9), Asked(), run="Ann", state=state)
    assert "They talked." in str(after.request())
    assert fitting.fit(history("Bob", 9), Asked(), run="Bob").request() == other.request()
    rebuilt = Fitting(Assembler(Budget(LIMIT, model="gpt-4o"), on_overflow=policies))
    assert rebuilt.fit(history("Ann", 9), Asked(), state=after.state()).request() == after.request()
    assert not rebuilt.add_summary(first.wanted, "They talked.")


def test_a_body_is_fitted_with_the_summary_that_was_written_in_the_background() -> None:
    policies = [Summarize(None, keep_turns=1), TrimOldest()]
    fitting = Fitting(Assembler(Budget(LIMIT, model="gpt-4o"), on_overflow=policies))
    first = fitting.fit_body({"messages": history("Ann", 9)}, openai_chat)
    assert first.context.wanted is not None
    assert fitting.add_summary(first.context.wanted, "They talked.")
    assert "They talked." in str(fitting.fit_body({"messages": history("Ann", 9)}, openai_chat).body)


def test_without_a_budget_a_refusal_teaches_nothing_since_nothing_would_be_cut() -> None:
    fitting = Fitting(Assembler(dialect=openai_chat, on_overflow=TrimOldest()))
    context = fitting.fit(history("Ann", 9), Asked())
    assert fitting.learn(context, REFUSAL.format(takes=150, used=300)) is None


def test_a_refused_call_of_which_nothing_may_go_raises_this_librarys_error_when_it_is_made_again() -> None:
    fitting = Fitting(Assembler(Budget(LIMIT, model="gpt-4o")))
    context = fitting.fit(history("Ann", 3), Asked())
    assert fitting.learn(context, REFUSAL.format(takes=100, used=context.count.tokens)) is not None
    with pytest.raises(ContextLengthError):
        fitting.fit(history("Ann", 3), Asked())


@pytest.mark.parametrize("tools", [[], [{"name": "look_up", "input_schema": {"type": "object"}}]])
def test_an_option_costs_what_it_does_in_a_body_also_where_the_api_merges_messages(tools: list[Any]) -> None:
    option = ("thinking", {"type": "enabled", "budget_tokens": 1_024})
    budget = Budget.for_model("claude-sonnet-4-5", max_output_tokens=100)
    messages = [{"role": "user", "content": "How do I get to Kyoto?"}]
    context = Fitting(Assembler(budget, dialect=anthropic)).fit(messages, Asked("Be brief.", tools, options=(option,)))
    body = dict([("system", "Be brief."), ("messages", messages), ("tools", tools), option])
    assert context.count == count_request(body, dialect=anthropic, model="claude-sonnet-4-5")


def test_serial_calls_are_priced_as_they_are_sent_if_that_costs_tokens() -> None:
    """OpenAI's Responses then describes the tools to gpt-5 once more: 78 tokens in the recording."""
    tool = {
        "type": "function",
        "name": "find",
        "description": "Finds.",
        "parameters": {"type": "object", "properties": {}},
    }
    fitting = Fitting(Assembler(Budget(9_000, model="gpt-5"), dialect=openai_responses))
    asked = [{"role": "user", "content": "Where?"}]
    serial = fitting.fit(asked, Asked("Be brief.", [tool], options=serial_calls(False)))
    default = fitting.fit(asked, Asked("Be brief.", [tool], options=serial_calls(None)))
    body = {**serial.request(), "parallel_tool_calls": False}
    assert serial.count == count_request(body, dialect=openai_responses, model="gpt-5")
    assert serial.count.tokens - default.count.tokens == 78
    assert serial.request() == default.request()
    assert serial.costs.total == serial.count.tokens


TOOLS = [{"type": "function", "function": {"name": "look_up"}}, {"name": "auto"}, {"type": "web_search"}]


@pytest.mark.parametrize(
    ("choice", "sent"),
    [(None, {"type": "auto"}), ("required", {"type": "any"}), ("look_up", {"type": "tool", "name": "look_up"})],
)
def test_calls_one_at_a_time_are_priced_for_claude_as_part_of_the_choice(choice: str | None, sent: Any) -> None:
    model, tool = "claude-sonnet-4-5", {"name": "look_up", "description": "Look up.", "input_schema": SCHEMA}
    fitting = Fitting(Assembler(Budget.for_model(model)))
    asked = Asked(tools=[tool], choice=choice, options=serial_calls(False))
    context = fitting.fit([{"role": "user", "content": "Where to?"}], asked)
    body = {"messages": [{"role": "user", "content": "Where to?"}], "tools": [tool]}
    alone = {**sent, "disable_parallel_tool_use": True}
    assert context.count == count_request({**body, "tool_choice": alone}, dialect=anthropic, model=model)


@pytest.mark.parametrize(
    ("given", "means"),
    [
        *[(None, None), (False, None), (True, "required"), ("any", "required"), ("none", "none"), ("auto", "auto")],
        *[("look_up", "look_up"), ("nobody", None), ({"type": "any"}, "required"), ({"mode": "auto"}, "auto")],
        ({"type": "function", "function": {"name": "look_up"}}, "look_up"),
        ({"type": "tool", "name": "look_up"}, "look_up"),
        ({"mode": "required", "required_function_name": "look_up"}, "look_up"),
        ({"type": "allowed_tools", "mode": "auto", "tools": []}, "auto"),
        ({"type": "web_search"}, None),
    ],
)
def test_a_tool_choice_is_read_in_the_spelling_of_every_framework(given: object, means: str | None) -> None:
    assert tool_choice(given, TOOLS) == means


@pytest.mark.parametrize("dialect", [openai_chat, openai_responses, anthropic, bedrock, gemini, mistral, plain])
@pytest.mark.parametrize("nothing", ["", " "])
def test_an_answer_without_a_word_stays_exactly_if_the_librarys_own_request_has_it(
    dialect: Dialect, nothing: str
) -> None:
    history = [("user", "Why?"), ("assistant", nothing), ("user", "And now?")]
    messages: list[Any] = [{"role": role, "content": text} for role, text in history]
    context = Fitting(Assembler(Budget(1_000), dialect=dialect)).fit(messages, Asked())
    request: dict[str, Any] = context.request(dialect.name)
    turns = request.get("messages") or request.get("input") or request["contents"]
    answered = any(turn["role"] in ("assistant", "model") for turn in turns)
    whole = kept_objects(
        context.inside, messages, rewritten=lambda own, before, after: own, of_summary=lambda text: text
    )
    assert whole == [message for message in messages if answered or message["role"] == "user"]


def refused(context: Context) -> Exception:
    used = context.count.tokens + 50
    return Exception(
        f"This model's maximum context length is 400 tokens. However, your messages resulted in {used} tokens."
    )


def test_equal_calls_at_once_each_learn_from_their_own_refusal() -> None:
    fitting = Fitting(Assembler(Budget(900, max_output_tokens=10, model="gpt-4o"), on_overflow=TrimOldest()))
    asked = history("Ann", 20)
    contexts = [fitting.fit(asked, Asked()) for _ in range(5)]
    for context in contexts:
        assert fitting.learn(context, refused(context)) is not None
        assert fitting.fit(asked, Asked()).count.upper <= 400 < context.count.tokens


def test_a_call_whose_place_another_conversation_took_still_learns_from_its_refusal() -> None:
    fitting = Fitting(Assembler(Budget(900, max_output_tokens=10, model="gpt-4o"), on_overflow=TrimOldest()))
    first = fitting.fit(history("Ann", 0), Asked())
    fitting.fit(history("Ann", 0), Asked())
    fitting.fit([*history("Ann", 0), {"role": "assistant", "content": "Yes."}, *history("Bob", 0)], Asked())
    assert fitting.learn(first, refused(first)) is not None


def test_the_bills_of_two_runs_that_a_task_reads_in_turn_are_not_mixed_up() -> None:
    async def in_turn() -> None:
        fitting = Fitting(Assembler(Budget(4_000, max_output_tokens=10, model="gpt-4o")))
        contexts = {name: await fitting.afit(history(name, 9), Asked(), run=name) for name in ("Ann", "Bob")}
        for name, context in contexts.items():  # the older one ends first
            assert fitting.own(name) is context
            billed = context.count.tokens + 100 + ord(name[0])
            state = await fitting.settle_own(billed, name)
            assert state is not None
            assert state["anchor"]["billed"] == billed
            assert fitting.own(name) is None

    asyncio.run(in_turn())


def test_a_bill_that_another_call_overtook_counts_for_the_equal_call_that_waits() -> None:
    fitting = Fitting(Assembler(Budget(4_000, max_output_tokens=10, model="gpt-4o")))
    asked = history("Ann", 3)
    first, _ = fitting.fit(asked, Asked()), fitting.fit(asked, Asked())
    fitting.settle(first, first.count.tokens + 100)
    after = fitting.fit([*asked, {"role": "assistant", "content": "Yes."}, *history("Ann", 0)], Asked())
    assert after.count.tokens > first.count.tokens + 100
