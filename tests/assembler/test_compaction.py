"""Messages before a server's own summary are not sent and not billed, and no policy drops the summary."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import Assembler, ConversationError, Summarize, TrimOldest, TrimSteps, count_request, verify
from assembler.dialects import DIALECTS, Dialect
from assembler.integrations.kept_objects import kept_groups, kept_objects
from assembler.policies import Policy
from assembler.strategies import CitedSources
from budgets import Budget

Dict = dict[str, Any]

ANTHROPIC, RESPONSES = DIALECTS["anthropic"], DIALECTS["openai_responses"]
ITEM: Dict = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAAB" + "k3W" * 100}
BLOCK: Dict = {"type": "compaction", "content": "The user asked about walruses. They eat clams."}
LONG = "walrus " * 300
ANSWERED: Dict = {"role": "user", "content": "go on"}


def compacted(dialect: Dialect, after: int = 0) -> tuple[list[Dict], int]:
    """A history in which the server put a summary, and the place of the summary."""
    history: list[Dict] = [{"role": "user", "content": LONG}, _answer(dialect, LONG), {"role": "user", "content": "q"}]
    floor = len(history)
    if dialect is ANTHROPIC:
        history.append({"role": "assistant", "content": [BLOCK, {"type": "text", "text": "clams"}]})
    else:
        history += [ITEM, _answer(dialect, "clams")]
    for turn in range(after):
        history += [{"role": "user", "content": f"turn {turn} " * 20}, _answer(dialect, "so " * 20)]
    return [*history, {"role": "user", "content": "and then?"}], floor


def _answer(dialect: Dialect, text: str) -> Dict:
    return {"role": "assistant", "content": text}


@pytest.mark.parametrize("dialect", [ANTHROPIC, RESPONSES])
def test_messages_before_a_servers_summary_are_neither_sent_nor_billed(dialect: Dialect) -> None:
    history, floor = compacted(dialect)
    context = Assembler(dialect=dialect).add_instruction("Be brief.").add_messages(history).build()
    assert context.messages == history[floor:]
    assert [gone.index for gone in context.dropped] == list(range(floor))
    assert "the server's own summary replaces it" in " ".join(str(context.report).split())
    assert verify(context.request(), dialect=dialect) == []
    assert context.count.upper < 400
    key = "input" if dialect is RESPONSES else "messages"
    body = {**context.request(), key: history}
    assert count_request(body, dialect=dialect) == count_request(context.request(), dialect=dialect)


@pytest.mark.parametrize("dialect", [ANTHROPIC, RESPONSES])
def test_sources_are_chosen_for_what_a_summary_leaves(dialect: Dialect) -> None:
    """The summary stays whatever is cut, so sources cannot use its tokens."""
    history, floor = compacted(dialect, after=6)
    for window in range(500, 1_400, 50):
        assembler = Assembler(Budget(window), dialect=dialect, strategy=CitedSources(), on_overflow=TrimOldest())
        for number in range(12):
            assembler.add_knowledge(f"Source {number} says {'so ' * 40}", type="rag", score=1 - number / 20)
        context = assembler.add_messages(history).build()
        assert context.messages[0] == history[floor]
        assert context.count.upper <= window


@pytest.mark.parametrize("dialect", [ANTHROPIC, RESPONSES])
def test_no_policy_drops_a_summary(dialect: Dialect) -> None:
    history, floor = compacted(dialect, after=6)
    whole = Assembler(dialect=dialect).add_messages(history).build().count.upper
    for window in range(whole - 1, whole // 2, -37):
        context = Assembler(Budget(window), dialect=dialect, on_overflow=[TrimOldest(), TrimSteps()])
        kept = context.add_messages(history).build()
        assert kept.messages[0] == history[floor]
        assert len(kept.messages) < len(history) - floor
        assert verify(kept.request(), dialect=dialect) == []


@pytest.mark.parametrize(
    "policy", [TrimOldest(note="Some turns are gone."), Summarize(lambda *_: "In short: walruses.", 1)]
)
@pytest.mark.parametrize("dialect", [ANTHROPIC, RESPONSES])
def test_a_summary_of_ours_follows_the_servers_which_nothing_before_it_would_outlive(
    dialect: Dialect, policy: Policy
) -> None:
    """It came first, where Claude's server does not read it, and what was billed was less than what was counted."""
    history, floor = compacted(dialect, after=6)
    model = {"anthropic": "claude-sonnet-4-5", "openai_responses": "gpt-5"}[dialect.name]
    whole = Assembler(Budget(100_000, model=model), dialect=dialect).add_messages(history).build()
    for less in (1, 60, 150):
        budget = Budget(whole.count.upper - less, model=model)
        context = Assembler(budget, dialect=dialect, on_overflow=policy).add_messages(history).build()
        is_summary = ["In short: walruses." in str(one) or "Some turns" in str(one) for one in context.messages]
        of_server = history[floor : floor + (1 if dialect is ANTHROPIC else 2)]
        assert context.messages[: len(of_server)] == of_server
        assert is_summary.index(True) == len(of_server)
        assert context.count == count_request(context.request(), dialect=dialect, model=model)
        assert verify(context.request(), dialect=dialect) == []
        again = Assembler(Budget(100_000, model=model), dialect=dialect).add_messages(context.messages).build()
        assert again.request() == context.request()


def test_a_turn_that_is_pinned_next_to_the_servers_summary_follows_ours() -> None:
    history, floor = compacted(ANTHROPIC, after=6)
    policy = TrimOldest(note="Some turns are gone.", pins={floor + 1})
    context = Assembler(Budget(600), dialect=ANTHROPIC, on_overflow=policy).add_messages(history).build()
    note = {"role": "user", "content": "Some turns are gone."}
    assert context.messages[:3] == [history[floor], note, history[floor + 1]]


def test_the_objects_of_a_framework_have_our_summary_after_the_servers() -> None:
    history, _ = compacted(ANTHROPIC, after=6)
    policy = TrimOldest(note="Some turns are gone.")
    plan = Assembler(Budget(600), dialect=ANTHROPIC, on_overflow=policy).add_messages(history).build().inside
    objects = [f"object {index}" for index in range(len(history))]
    one_each = kept_objects(plan, objects, rewritten=lambda own, *_: own, of_summary=str)
    grouped = kept_groups(plan, objects, [1] * len(history), rewritten=lambda own, _: own, of_summary=str)
    assert one_each == grouped
    assert one_each[:2] == ["object 3", "Some turns are gone."]
    assert len(one_each) == len(plan.layout.messages)


def test_a_failed_compaction_replaces_nothing() -> None:
    history, _ = compacted(ANTHROPIC)
    history[3] = {"role": "assistant", "content": [{**BLOCK, "content": None}, {"type": "text", "text": "clams"}]}
    assert Assembler(dialect=ANTHROPIC).add_messages(history).build().messages == history


def test_a_summary_of_one_question_replaces_it() -> None:
    history = [{"role": "user", "content": LONG}, {"role": "assistant", "content": [BLOCK]}, ANSWERED]
    assert Assembler(dialect=ANTHROPIC).add_messages(history).build().messages == history[1:]
    counted = count_request({"messages": history}, dialect=ANTHROPIC)
    assert counted == count_request({"messages": history[1:]}, dialect=ANTHROPIC)


def test_the_window_of_a_compact_call_stays_whole() -> None:
    window = [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}, ITEM]
    history = [*window, {"role": "user", "content": "three"}]
    assert Assembler(dialect=RESPONSES).add_messages(history).build().messages == history


def test_the_newest_of_two_summaries_is_the_floor() -> None:
    first, _ = compacted(RESPONSES)
    again = {**ITEM, "id": "cmp_2"}
    history = [*first, again, {"role": "assistant", "content": "so"}, {"role": "user", "content": "on"}]
    assembler = Assembler(dialect=RESPONSES)
    for message in history[:-1]:
        assembler.add_message(message)
    assert assembler.plan().dropped[-1].index == len(first) - 1
    assert assembler.add_message(history[-1]).build().messages == history[-3:]


def test_another_api_gets_the_whole_history_and_the_summary_as_text() -> None:
    history, _ = compacted(ANTHROPIC)
    context = Assembler(dialect=DIALECTS["openai_chat"]).add_messages(history).build()
    assert len(context.messages) == len(history)
    assert BLOCK["content"] in str(context.request())
    assert "'compaction'" not in str(context.request())


def test_a_summary_inside_a_tool_loop_is_a_floor_too() -> None:
    def step(number: int) -> list[Dict]:
        call = {"type": "function_call", "call_id": f"c{number}", "name": "ask", "arguments": "{}"}
        return [call, {"type": "function_call_output", "call_id": f"c{number}", "output": "found " * 30}]

    history = [{"role": "user", "content": "q"}, *step(1), *step(2), ITEM, *step(3), *step(4), *step(5)]
    context = Assembler(dialect=RESPONSES).add_messages(history).build()
    assert context.messages == history[5:]
    small = Assembler(Budget(context.count.upper - 20), dialect=RESPONSES, on_overflow=TrimSteps(keep=1))
    request = small.add_messages(history).build().request()
    assert request["input"] == [ITEM, *history[8:]]


@pytest.mark.parametrize("window", range(140, 210, 10))
def test_a_cut_that_a_servers_summary_overtakes_does_not_hold_any_longer(window: int) -> None:
    """It kept messages that the API no longer reads, and was compared with the tokens left."""
    history: list[Dict] = [{"role": ["user", "assistant"][place % 2], "content": "x" * 20} for place in range(16)]
    found = {"role": "assistant", "content": [{"type": "compaction", "content": "the server's summary"}]}
    later = [{"role": "user", "content": text} for text in ("next", "y" * 15, "last")]
    ladder = [Summarize(lambda dropped, previous, most: "told", 1), TrimOldest(0.6)]
    made = Assembler(Budget(window, counter=len), dialect=DIALECTS["anthropic"], on_overflow=ladder)
    lived = made.fork()
    for message in [*history, {"role": "user", "content": "q"}, found, *later]:
        lived.add_message(message)
        if message["role"] == "user":
            lived.build()
    fresh = made.add_messages([*history, {"role": "user", "content": "q"}, found, *later])
    assert lived.build().request() == fresh.build().request()


@pytest.mark.parametrize("dialect", ["plain", "openai_chat", "openai_responses", "anthropic"])
@pytest.mark.parametrize("summary", [BLOCK, ITEM], ids=["Anthropic's", "OpenAI's"])
def test_a_summary_replaces_what_its_own_server_wrote_it_for_and_nothing_elsewhere(summary: Dict, dialect: str) -> None:
    """A request that is no server's was counted without what stands before a summary in it."""
    messages = [{"role": "assistant", "content": LONG}, {"role": "assistant", "content": [summary]}]
    history = [{"role": "user", "content": "q"}, *messages, ANSWERED]
    context = Assembler(dialect=dialect).add_messages(history).build()
    assert context.count == count_request(context.request(), dialect=dialect)
    own = {"anthropic": BLOCK, "openai_responses": ITEM}.get(dialect)
    assert (LONG in str(context.request())) == (summary is not own)


ELSEWHERE = [
    ("bedrock", "amazon.nova-pro-v1:0"),
    ("bedrock", "anthropic.claude-sonnet-4-5"),
    ("gemini", "gemini-2.5-pro"),
]
"""APIs that begin with the user, and that did not write the summary."""


def _opening(request: Dict) -> list[tuple[str, list[str]]]:
    """The role and the texts of each message."""
    listed: list[Dict] = request.get("messages") or request["contents"]
    return [(each["role"], [part["text"] for part in each.get("content") or each["parts"]]) for each in listed]


@pytest.mark.parametrize(("name", "model"), ELSEWHERE)
def test_a_summary_that_begins_the_history_is_not_lost_where_the_user_has_to_begin(name: str, model: str) -> None:
    """It was left out like a greeting, with a note that it was sent, and not listed as dropped."""
    says = [BLOCK, {"type": "text", "text": "clams"}]
    context = (
        Assembler(Budget(10_000, model=model), dialect=name)
        .add_messages([{"role": "assistant", "content": says}, {"role": "user", "content": "and then?"}])
        .build()
    )
    (first, texts), (second, answered), last = _opening(context.request())
    assert (first, [text.endswith(BLOCK["content"]) for text in texts]) == ("user", [True])
    assert (second in ("assistant", "model"), answered) == (True, ["clams"])
    assert last == ("user", ["and then?"])
    assert not context.dropped
    assert "1 summary of another API's server sent as the user's words" in context.notes()
    assert verify(context.request(), dialect=name) == []
    assert count_request(context.request(), dialect=name, model=model) == context.count


@pytest.mark.parametrize(("name", "model"), ELSEWHERE)
@pytest.mark.parametrize("note", [None, "Older turns are gone."])
@pytest.mark.parametrize("summaries", [1, 2])
def test_a_history_that_begins_with_a_summary_is_sent_whole_if_it_fits(
    name: str, model: str, note: str | None, summaries: int
) -> None:
    """What was not sent of it was more than an API may spare by merging, so the whole seemed too large."""
    history: list[Dict] = [{"role": "assistant", "content": [BLOCK] * summaries}]
    history += [{"role": "user", "content": "go on"}, {"role": "user", "content": "and then?"}]

    def built(window: int) -> Dict:
        budget = Budget(window, model=model)
        return (
            Assembler(budget, dialect=name, on_overflow=TrimOldest(note=note)).add_messages(history).build().request()
        )

    budget = Budget(10_000, model=model)
    exact = Assembler(budget, dialect=name).add_messages(history).build().count.upper
    assert [built(window) == built(10_000) for window in range(exact - 1, exact + 12)] == [False] + [True] * 12


def test_a_summary_alone_is_no_question() -> None:
    only: list[Dict] = [{"role": "assistant", "content": [BLOCK]}]
    with pytest.raises(ConversationError, match="needs a user message"):
        Assembler(Budget(10_000), dialect="bedrock").add_messages(only).build().request()
