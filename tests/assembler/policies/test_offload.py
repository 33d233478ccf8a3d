"""An offloaded result is in the store byte for byte, and its placeholder says how to fetch it."""

from __future__ import annotations

import contextlib
import copy
import itertools
import pickle
import random
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler
from assembler.dialects import anthropic, gemini, openai_chat, openai_responses
from assembler.policies import Fetch, Offload, Policy, Truncate
from assembler.policies.passage import PassageView
from assembler.policies.truncate import MARKER
from assembler.verify import verify
from budgets import Budget, BudgetError, ContextLengthError, tiktoken_counter
from tests.assembler import by_hand
from tests.assembler.by_hand import History
from tests.scaled import scaled

from .build import built, check, sent
from .drawn import any_session, ladders

POINTER = re.compile(r'\[(stored, ([\d,]+) characters|the same as an earlier result); fetch_result\(id="(\w+)"\) .*?\]')


def talk(*bodies: str, name: str = "read") -> History:
    """One question, and a step for each body."""
    history: History = [{"role": "user", "content": "q"}]
    for at, body in enumerate(bodies):
        call = {"id": f"c{at}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        history.append({"role": "assistant", "content": None, "tool_calls": [call]})
        history.append({"role": "tool", "tool_call_id": f"c{at}", "content": body})
    return history


def passage_of(history: History) -> Any:
    """All of a history, as the policy meets it."""
    ledger = Assembler(Budget(1_000_000, counter=len)).add_messages(history).build().inside.ledger
    return PassageView(ledger, {}, None, [(0, ledger.length)], ledger.newest_turns(1))


def results_of(messages: History) -> list[str]:
    return [says() for _, says, _ in by_hand.bodies(messages)]


def held(body: str, original: str, tool: Fetch) -> bool:
    """True if a body is the original or its replacement."""
    pointer = POINTER.match(body)
    return body == original or (pointer is not None and tool(pointer[3]).encode() == original.encode())


def long_ones(history: History, times: int) -> History:
    longer = copy.deepcopy(history)
    for _, says, say in list(by_hand.bodies(longer)):
        say(says() * times)
    return longer


@scaled(0.5)
@given(any_session, st.integers(1, 60), st.integers(0, 60), st.integers(1, 120), st.data())
def test_every_result_is_there_or_can_be_fetched_byte_for_byte(
    drawn: History, times: int, preview: int, least: int, data: st.DataObject
) -> None:
    history = long_ones(drawn, times)
    before = copy.deepcopy(history)
    limit = max(by_hand.cost(history) - data.draw(st.integers(1, 2_000)), 1)
    offload = Offload({}, min_tokens=least, preview=preview)
    context = built(history, limit, offload)
    assert history == before
    if context is None:
        return
    check(context, history, limit)
    for now, body in zip(results_of(sent(context)), results_of(history), strict=True):
        assert held(now, body, offload.tool)


@scaled(0.3)
@given(any_session, ladders, st.data())
def test_in_any_ladder_the_store_gets_the_original_text(
    drawn: History, ladder: Sequence[Policy], data: st.DataObject
) -> None:
    history = long_ones(drawn, 20)
    limit = max(by_hand.cost(history) - data.draw(st.integers(1, 4_000)), 1)
    store: dict[str, str] = {}
    context = built(history, limit, [Offload(store, min_tokens=30, preview=20), *ladder])
    if context is not None:
        check(context, history, limit)
    assert set(store.values()) <= set(results_of(history))


def bodies_drawn(draw: random.Random, number: int) -> list[str]:
    """Texts of many kinds and lengths, some of them twice."""
    kinds = ["log line {n}\n", "é\u0301\U0001f1e9\U0001f1ea", '{{"a": {n}}}', " ", "東京", 'fetch_result(id="{n}")\r\n']
    found: list[str] = []
    for _ in range(number):
        text = draw.choice(kinds).format(n=draw.randrange(9)) * draw.randrange(1, 60) + draw.choice(["", "x", "\n"])
        found.append(draw.choice(found) if found and draw.random() < 0.2 else text)
    return found


def fetched_are_the_originals(seed: int, number: int, at_once: int = 50) -> int:
    """How many bodies left the window; each was fetched and compared."""
    draw, gone = random.Random(seed), 0
    for _ in range(number // at_once):
        bodies = bodies_drawn(draw, at_once)
        offload = Offload({}, min_tokens=draw.choice([20, 200]), preview=draw.choice([0, 10, 100]))
        whole = by_hand.cost(talk(*bodies))
        context = built(talk(*bodies), draw.randrange(whole // 2, whole), [offload, Truncate(30)])
        assert context is not None
        for now, body in zip(results_of(sent(context)), bodies, strict=True):
            pointer = POINTER.match(now)
            if pointer is not None and pointer.end() <= len(now):
                assert offload.tool(pointer[3]).encode() == body.encode()
                assert pointer[2] is None or int(pointer[2].replace(",", "")) == len(body)
                gone += 1
    return gone


@pytest.mark.parametrize(("copies", "done"), [(1, "2 × tool result stored"), (2, "1 × equal result sent once")])
def test_the_report_says_what_was_stored_and_what_was_sent_once(copies: int, done: str) -> None:
    bodies = ["a" * 900, "b" * 900] if copies == 1 else ["a" * 900] * copies
    context = built(talk(*bodies), 700 if copies == 1 else 1_100, Offload({}, min_tokens=20, preview=0))
    assert context is not None
    assert done in str(context.report)


def test_fifty_generated_bodies_come_back_as_they_were() -> None:
    assert fetched_are_the_originals(seed=11, number=50) > 5


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_hundred_thousand_generated_bodies_come_back_as_they_were() -> None:
    assert fetched_are_the_originals(seed=12, number=100_000) > 20_000


def test_equal_results_are_deduplicated_before_anything_else_is_dropped() -> None:
    bodies = ["a" * 300, "b" * 300, "a" * 300, "a" * 300]
    offload = Offload({}, min_tokens=100)
    context = built(talk(*bodies), by_hand.cost(talk(*bodies)) - 400, offload)
    assert context is not None
    now = results_of(sent(context))
    assert now[:2] == bodies[:2]
    assert all("the same as an earlier result" in text and held(text, "a" * 300, offload.tool) for text in now[2:])
    assert "2 × equal result sent once" in str(context.report)


def test_the_oldest_result_is_offloaded_first() -> None:
    bodies = ["a" * 300, "b" * 300, "c" * 300, "a" * 300]
    context = built(talk(*bodies), by_hand.cost(talk(*bodies)) - 400, Offload({}, min_tokens=100, preview=0))
    assert context is not None
    assert [text.startswith("[") for text in results_of(sent(context))] == [
        False,
        True,
        False,
        True,
    ]  # a was said again


def test_a_result_below_the_least_size_stays() -> None:
    for body, gone in (("x" * 199, False), ("x" * 200, True)):
        context = built(talk(body), 150, Offload({}, min_tokens=200, preview=0))
        assert (context is not None) is gone


def test_a_fetched_result_stays_until_its_turn_is_over() -> None:
    offload = Offload({}, min_tokens=100, preview=0)
    body = "line\n" * 100
    asked = talk(body)
    fetched = talk("x", body, name="fetch_result")[3:]
    history = [*asked, *fetched]
    limit = by_hand.cost(history) - 200
    context = built(history, limit, offload)
    assert context is not None
    assert [text == body for text in results_of(sent(context))] == [False, True]
    later = [*history, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "And now?"}]
    context = built(later, by_hand.cost(later) - 600, offload)
    assert context is not None
    assert not any(text == body for text in results_of(sent(context)))


def test_a_pointer_is_neither_stored_nor_replaced() -> None:
    store: dict[str, str] = {}
    offload = Offload(store, min_tokens=20, preview=200)
    first = built(talk("a" * 900, "b" * 900), 900, offload)
    assert first is not None
    again = built(sent(first), 500, [offload, Truncate(100)])
    assert again is not None
    assert set(store.values()) == {"a" * 900, "b" * 900}


def test_a_preview_shows_both_ends_and_splits_no_grapheme() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    body = "start " + family * 100 + " end"
    context = built(talk(body), 400, Offload({}, min_tokens=50, preview=40))
    assert context is not None
    head, tail = results_of(sent(context))[0].split("]\n", 1)[1].split("\n[… shortened …]\n")
    assert head == "start " + family * 2
    assert tail == family * 3 + " end"


@pytest.mark.parametrize("dialect", [openai_chat, openai_responses, anthropic, gemini])
def test_a_request_with_a_stored_result_is_accepted_by_the_api(dialect: Any) -> None:
    offload = Offload({}, min_tokens=100)
    history = talk("words and more words\n" * 800, "{}")
    budget = Budget(1_100, counter=tiktoken_counter())
    reader = {"name": "read", "description": "d", "parameters": {"type": "object", "properties": {}}}
    made = Assembler(budget, dialect=dialect, on_overflow=offload).add_capability([offload.tool, reader])
    context = made.add_messages(history).build()
    assert context.count.upper <= 1_100
    assert not verify(context.request(), dialect=dialect)
    assert [tool for tool in context.tool_classes if isinstance(tool, Fetch)] == [offload.tool]
    found = re.search(r'id=\\?"(\w+)', str(context.request()))
    assert found is not None
    assert offload.tool(found[1]) == history[2]["content"]


def test_a_result_with_an_image_stays_and_texts_are_joined_by_lines() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    texts = [{"type": "text", "text": "a" * 1_000}, {"type": "text", "text": "b" * 1_000}]
    for content, stored in ((texts, {"a" * 1_000 + "\n" + "b" * 1_000}), ([*texts, image], set())):
        store: dict[str, str] = {}
        use = {"type": "tool_use", "id": "c", "name": "read", "input": {}}
        history = [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": content}]},
        ]
        reader = {"name": "read", "description": "d", "parameters": {"type": "object", "properties": {}}}
        made = Assembler(Budget(2_400, counter=len), dialect=anthropic, on_overflow=Offload(store, min_tokens=100))
        made.add_capability([reader]).add_messages(history)
        with contextlib.suppress(ContextLengthError):
            made.build()
        assert set(store.values()) == stored


@given(st.text(max_size=60), st.lists(st.integers(-5, 70), max_size=4))
def test_ranges_that_follow_each_other_join_to_the_whole(body: str, cuts: list[int]) -> None:
    tool = Offload({"id": body}).tool
    places = [0, *sorted(max(cut, 0) for cut in cuts), 80]
    assert "".join(tool("id", start, stop) for start, stop in itertools.pairwise(places)) == body
    assert tool("id") == body


def test_a_search_shows_where_the_text_stands() -> None:
    body = "x" * 1_000 + "Needle" + "y" * 1_000 + "NEEDLE"
    tool = Offload({"id": body}).tool
    found = tool("id", search="needle").split("\n")
    assert [line[:12] for line in found] == ["[from 800] x", "[from 1806] "]
    assert tool("id", start=801, stop=805) == "xxxx"
    assert tool("id", start=1_500, search="needle").startswith("[from 1806] ")
    assert tool("id", search="[") == "None of these 2,012 characters hold this text."
    assert tool("id", search="y").count("[from") <= 20


@pytest.mark.parametrize("asked", [{"id": "no"}, {"id": 5}, {"id": None}])
def test_a_model_that_asks_for_an_unknown_result_gets_an_answer_that_says_so(asked: Any) -> None:
    assert Offload({"id": "x"}).tool(**asked) == "No result is stored under this id."


@pytest.mark.parametrize("asked", [{"start": "1", "stop": "2"}, {"start": 1.0, "stop": 2}, {"start": 1, "stop": 2}])
def test_numbers_are_read_as_models_write_them(asked: Any) -> None:
    assert Offload({"id": "abc"}).tool("id", **asked) == "b"
    assert Offload({"id": "abc"}).tool("id", start="x", stop=[], search=5) == "abc"  # type: ignore[arg-type]


class Bytes(dict[str, Any]):
    """A store that gives back something else."""

    def setdefault(self, key: str, default: Any = None) -> Any:
        return default.encode()


class Full(dict[str, Any]):
    def setdefault(self, key: str, default: Any = None) -> Any:
        raise OSError("disk full")


def test_a_store_that_does_not_keep_what_it_is_given_is_refused() -> None:
    with pytest.raises(BudgetError, match="does not return what was put in"):
        built(talk("x" * 500), 200, Offload(Bytes(), min_tokens=100))
    with pytest.raises(OSError, match="disk full"):
        built(talk("x" * 500), 200, Offload(Full(), min_tokens=100))
    with pytest.raises(BudgetError, match="MutableMapping"):
        Offload([])  # type: ignore[arg-type]


def test_a_taken_id_makes_the_next_one_longer() -> None:
    store: dict[str, str] = {}
    built(talk("x" * 500), 200, Offload(store, min_tokens=100))
    (taken,) = store
    store[taken] = "another text"
    offload = Offload(store, min_tokens=100, preview=0)
    context = built(talk("x" * 500), 450, offload)
    assert context is not None
    assert held(results_of(sent(context))[0], "x" * 500, offload.tool)
    assert store[taken] == "another text"


def test_a_policy_pickles_with_its_store_and_two_stores_are_two_policies() -> None:
    offload = Offload({"id": "x"})
    again = pickle.loads(pickle.dumps(offload))
    assert again.tool("id") == "x"
    assert offload == Offload(offload.store)
    assert hash(offload) == hash(Offload(offload.store))
    assert offload != again


@pytest.mark.parametrize("letters", [79, 80, 81])
def test_an_equal_result_of_more_than_eighty_letters_is_sent_once(letters: int) -> None:
    changes = list(Offload({}, min_tokens=10_000).rewrites(passage_of(talk("r" * letters, "r" * letters))))
    assert len(changes) == (letters > 80)


@pytest.mark.parametrize("preview", [2, 100, 400, 1_000])
def test_a_preview_shows_as_much_of_the_end_as_of_the_beginning(preview: int) -> None:
    body = "".join(chr(ord("!") + place * place % 90) for place in range(3_000))
    (change,) = Offload({}, min_tokens=1, preview=preview).rewrites(passage_of(talk(body)))
    (message,) = change.messages.values()
    (result,) = message.parts
    head, _, tail = result.parts[0].partition("\n")[2].partition(MARKER)
    assert (head, tail) == (body[: preview // 2], body[-(preview // 2) :])


@pytest.mark.parametrize("made", [Offload, Fetch])
def test_a_wrong_store_is_refused_by_the_name_of_its_policy(made: Any) -> None:
    with pytest.raises(
        BudgetError, match=rf"^{made.__name__}\.store: expected a dict or another MutableMapping, got list"
    ):
        made([])
