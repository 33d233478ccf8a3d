"""`KeepRelevant` keeps the turns that matter to the question, and chooses again only when the window is full."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, PlanError, QuestionChunks
from assembler.dialects import anthropic, openai_chat, plain
from assembler.policies import BM25, Cosine, KeepRelevant, TrimOldest, first_user
from assembler.policies.relevance import words
from assembler.verify import verify
from budgets import Budget, BudgetError, ContextLengthError, tiktoken_counter
from tests.assembler import by_hand
from tests.assembler.by_hand import History
from tests.scaled import scaled

from .build import built, check, left, sent, wanted
from .drawn import NAMES, forms, sessions


def letters(text: str, question: str) -> int:
    """How often a text says the first letter of the question."""
    return text.count(question[0])


def shared(question: str, texts: Sequence[str]) -> list[float]:
    return [float(letters(text, question)) for text in texts]


def by_letters(turn: History, question: str) -> int:
    return sum(letters(text, question) for message in turn for text in by_hand.texts_of(without_thinking(message)))


def without_thinking(message: Any) -> Any:
    content = message.get("content")
    if not isinstance(content, list):
        return message
    return {**message, "content": [block for block in content if block["type"] != "thinking"]}


def kept_by_relevance(history: History, limit: int, keep_turns: int) -> list[int] | None:
    """Which turns stay: the least relevant goes first, of two alike the older, only while it is too much."""
    turns = by_hand.turns_of(history)
    question = turns[-1][0]["content"]
    kept = list(range(len(turns)))
    old = [
        at
        for at in kept[: max(len(turns) - keep_turns, 0)]
        if not by_hand.is_pinned(turns[at], lambda m: "pinned" in m)
    ]
    for at in sorted(old, key=lambda at: (by_letters(turns[at], question), at)):
        if by_hand.cost(by_hand.flat([turns[one] for one in kept])) <= limit:
            break
        kept.remove(at)
    return kept if by_hand.cost(by_hand.flat([turns[one] for one in kept])) <= limit else None


@scaled(0.3)
@given(forms.flatmap(lambda form: sessions(form, max_turns=6, max_steps=1)), st.integers(1, 3), st.data())
def test_the_least_relevant_turns_are_dropped_and_no_more_than_needed(
    history: History, keep_turns: int, data: st.DataObject
) -> None:
    whole = by_hand.cost(history)
    limit = max(whole - data.draw(st.integers(0, whole)), 1)
    turns = by_hand.turns_of(history)
    kept = kept_by_relevance(history, limit, keep_turns)
    policy = KeepRelevant(shared, keep_turns=keep_turns)
    assert left(history, limit, policy) == wanted(None if kept is None else by_hand.flat([turns[at] for at in kept]))
    if kept is not None:
        context = built(history, limit, policy)
        assert context is not None
        check(context, history, limit)
        assert all(item.outcome == "dropped" for item in context.dropped)


def run_session(turns: list[History], room: int, low: int, questions: int) -> list[int]:
    """The turns that stay if they are chosen only at the messages that fill the window, replayed one by one.

    It is chosen by so many questions, the newest among them.
    """
    kept: list[int] = []
    for at in range(len(turns)):
        kept.append(at)
        for message in range(len(turns[at])):
            seen = [*turns[:at], turns[at][: message + 1]]
            if by_hand.cost(by_hand.flat([seen[one] for one in kept])) > room:
                kept = list(range(at + 1))
                question = "\n".join(turns[one][0]["content"] for one in kept[-questions:])
                for one in sorted(range(at), key=lambda one: (by_letters(turns[one], question), one)):
                    if by_hand.cost(by_hand.flat([seen[two] for two in kept])) <= low:
                        break
                    kept.remove(one)
    return kept


talks = st.lists(
    st.tuples(st.text("abc", min_size=1, max_size=9), st.text("abc", min_size=0, max_size=9)), min_size=1, max_size=14
)


@scaled(0.3)
@given(talks, st.integers(20, 60), st.sampled_from([0.3, 0.5, 0.8]), st.sampled_from([None, 1, 2, 5]))
def test_with_a_mark_the_turns_that_stay_are_those_of_a_replayed_session(
    talk: list[tuple[str, str]], room: int, share: float, questions: int | None
) -> None:
    history: History = [
        message
        for asked, answer in talk
        for message in ({"role": "user", "content": asked}, {"role": "assistant", "content": answer})
    ]
    turns = by_hand.turns_of(history)
    wanted_turns = by_hand.flat([turns[at] for at in run_session(turns, room, int(share * room), questions or 32)])
    policy = KeepRelevant(shared, keep_turns=1, low_water=share, questions=questions)
    assert left(history, room, policy) == wanted_turns
    live = Assembler(Budget(room, counter=len), dialect=plain, on_overflow=policy)
    for message in history:
        context = live.add_message(message).build()
    assert sent(context) == wanted_turns


def talk(*texts: str) -> History:
    return [{"role": "assistant" if at % 2 else "user", "content": text} for at, text in enumerate(texts)]


FACT = ("My locker code is 4711, remember the locker.", "I will.")


def test_the_turn_that_holds_the_answer_stays_and_newer_ones_go() -> None:
    chatter = [text for at in range(20) for text in (f"What of the weather on day {at}?", "Rain again.")]
    history = talk(*FACT, *chatter, "What is the code of my locker?")
    for policy, found in ((KeepRelevant(), True), (TrimOldest(), False)):
        context = built(history, 200, policy)
        assert context is not None
        assert (history[0] in context.messages) is found
        check(context, history, 200)


@pytest.mark.parametrize("share", [None, 0.8])
def test_a_dropped_turn_returns_when_a_question_is_about_it(share: float | None) -> None:
    chatter = [text for at in range(20) for text in (f"What of the weather on day {at}?", "Rain again.")]
    policy = KeepRelevant(low_water=share, questions=1)
    assembler = Assembler(Budget(400, counter=len), dialect=plain, on_overflow=policy)
    history = talk(*FACT, *chatter)
    for message in history:
        context = assembler.add_message(message).build()
    assert history[0] not in context.messages
    assembler.add_message({"role": "user", "content": "What is the code of my locker?"})
    contexts = [assembler.add_message({"role": "assistant", "content": "Let me think."}).build() for _ in range(10)]
    assert history[0] in contexts[-1].messages


def test_a_standing_choice_follows_the_topic_and_not_the_last_question() -> None:
    about = [text for at in range(12) for text in (f"Sails the ferry on route {at}?", f"Route {at} is open.")]
    history = talk("The ferry has a new captain.", "Noted.", *about, "Lunch?", "Noon.")
    limit = by_hand.cost(history) - 1  # the window is full at the last message

    def kept(questions: int | None) -> bool:
        context = built(history, limit, KeepRelevant(low_water=0.6, keep_turns=1, questions=questions))
        assert context is not None
        assert context.dropped
        return history[0] in context.messages

    assert kept(None)
    assert not kept(1)


@pytest.mark.parametrize("wrong", [0, -1, 1.5])
def test_a_choice_uses_at_least_one_question(wrong: Any) -> None:
    with pytest.raises(BudgetError, match="questions"):
        KeepRelevant(questions=wrong)


def test_with_a_mark_most_requests_begin_like_the_one_before() -> None:
    history = talk(*(text for at in range(40) for text in (f"Question {at} about topic {at % 7}?", f"Answer {at}.")))

    def changes(policy: KeepRelevant) -> int:
        assembler = Assembler(Budget(300, counter=len), dialect=plain, on_overflow=policy)
        contexts = [assembler.add_message(message).build() for message in history]
        return sum(later.first_changed(one) is not None for one, later in itertools.pairwise(contexts))

    assert changes(KeepRelevant(low_water=0.5)) * 3 < changes(KeepRelevant())


@pytest.mark.parametrize("share", [None, 0.5])
def test_pinned_turns_stay_and_leave_no_gap_note(share: float | None) -> None:
    history = talk(*(text for at in range(30) for text in (f"Question {at}, and so on?", "An answer.")), "And now?")
    history[20]["pinned"] = True
    context = built(history, 200, KeepRelevant(low_water=share, pins=first_user))
    assert context is not None
    check(context, history, 200)
    assert {0, 1, 20, 21} <= set(context.inside.kept)


def test_the_report_says_which_turns_went_and_why() -> None:
    history = talk(*FACT, *["Rain?", "Rain."] * 20, "What is the code of my locker?")
    context = built(history, 150, KeepRelevant())
    assert context is not None
    gone = [row for row in context.report.rows if row.outcome == "dropped"]
    assert sum(row.messages for row in gone) == len(context.dropped)
    assert "turn dropped as less relevant" in gone[0].reason
    assert "locker" not in str(context.report)


@pytest.mark.parametrize("dialect", [anthropic, openai_chat])
@scaled(0.15)
@given(sessions("anthropic", max_turns=5, max_steps=1), st.data())
def test_the_api_accepts_the_request_that_is_left(dialect: Any, history: History, data: st.DataObject) -> None:
    history = [*history, {"role": "user", "content": "and now?"}]
    counter = tiktoken_counter()
    tools = [{"name": name, "description": "d", "parameters": {"type": "object", "properties": {}}} for name in NAMES]
    roomy = Assembler(Budget(100_000, counter=counter), dialect=dialect, on_overflow=KeepRelevant(keep_turns=1))
    whole = roomy.add_capability(tools).add_messages(history).plan().count.upper
    budget = Budget(max(whole - data.draw(st.integers(1, whole)), 1), counter=counter)
    made = Assembler(budget, dialect=dialect, on_overflow=KeepRelevant(keep_turns=1))
    try:
        context = made.add_capability(tools).add_messages(history).build()
    except ContextLengthError:
        return
    assert context.count.upper <= budget.input_limit
    assert not verify(context.request(), dialect=dialect)


def test_knowledge_that_is_chosen_may_displace_old_turns() -> None:
    history = talk(*(text for at in range(20) for text in (f"Question {at}, and so on?", "An answer.")), "And now?")
    made = Assembler(
        Budget(400, counter=len), dialect=plain, on_overflow=KeepRelevant(keep_turns=1), strategy=QuestionChunks()
    )
    for number in range(5):
        made.add_knowledge("k" * 20, type="rag", source=f"d{number}", score=1.0)
    context = made.add_messages(history).build()
    assert str(context.request()).count("k" * 20) == 5


NO_SCORES: list[Any] = [
    None,
    5,
    "ab",
    [1.0],
    [1.0, math.nan],
    [1.0, "x"],
    [1.0, math.inf],
    [1.0, 2.0, 3.0],
    [1.0, None],
]


@pytest.mark.parametrize("answer", NO_SCORES)
def test_wrong_scores_are_refused_by_the_name_of_the_policy(answer: Any) -> None:
    with pytest.raises(PlanError, match=r"KeepRelevant.*(one for each text|cannot order)"):
        built(talk("a", "b", "c", "d", "e"), 2, KeepRelevant(lambda question, texts: answer, keep_turns=1))


@pytest.mark.parametrize(
    "options",
    [{"score": 5}, {"keep_turns": 0}, {"keep_turns": True}, {"low_water": 0}, {"low_water": 1.5}, {"pins": 5}],
)
def test_an_illegal_option_is_refused_at_construction(options: dict[str, Any]) -> None:
    with pytest.raises(BudgetError):
        KeepRelevant(**options)


def scores_by_hand(question: str, texts: Sequence[str], k1: float, b: float) -> list[float]:
    """BM25 by its formula, over words separated by blanks."""
    documents = [text.split() for text in texts]
    mean = sum(map(len, documents)) / len(documents)
    scores: list[float] = []
    for document in documents:
        score = 0.0
        for word in set(question.split()):
            held = sum(word in other for other in documents)
            times = document.count(word)
            if times:
                idf = math.log(1 + (len(documents) - held + 0.5) / (held + 0.5))
                score += idf * times * (k1 + 1) / (times + k1 * (1 - b + b * len(document) / mean))
        scores.append(score)
    return scores


wordy = st.lists(st.sampled_from(["ab", "c", "dé", "4711"]), max_size=8).map(" ".join)


@given(
    wordy, st.lists(wordy, min_size=1, max_size=6), st.sampled_from([0.0, 1.2, 2.0]), st.sampled_from([0.0, 0.75, 1.0])
)
def test_bm25_is_its_formula_and_remembering_changes_nothing(
    question: str, texts: list[str], k1: float, b: float
) -> None:
    score = BM25(k1, b)
    first = score(question, texts)
    assert first == pytest.approx(scores_by_hand(question, texts, k1, b)) if any(texts) else first == [0.0] * len(texts)
    assert score(question, texts) == first == BM25(k1, b)(question, texts)


def test_words_ignore_case_and_han_is_read_in_pairs() -> None:
    assert list(words("Straße, don't 4711_x!")) == ["strasse", "don", "t", "4711", "x"]
    assert list(words("東京都庁 in 東京 か")) == ["東京", "京都", "都庁", "in", "東京", "か"]
    assert (
        BM25()("東京はどこ", ["北京の天気", "東京都の天気"])[1]
        > BM25()("東京はどこ", ["北京の天気", "東京都の天気"])[0]
    )


def test_the_cosine_of_short_vectors_is_that_of_long_ones() -> None:
    vectors = {"a": [0.3, 0.0], "b": [0.0, 0.5], "c": [0.2, 0.2]}
    score = Cosine(lambda texts: [vectors[text] for text in texts])
    assert score("a", ["a", "b", "c"]) == pytest.approx([1, 0, math.sqrt(0.5)])


def test_cosine_asks_for_each_text_once_and_orders_by_angle() -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[float(text.count("a")), float(text.count("b"))] for text in texts]

    score = Cosine(embed)
    assert score("a", ["aa", "ab", "bbb", "zero"]) == pytest.approx([1, math.sqrt(0.5), 0, 0])
    assert score("b", ["aa", "ab", "b"]) == pytest.approx([0, math.sqrt(0.5), 1])
    assert asked == ["a", "aa", "ab", "bbb", "zero", "b"]
    history = talk("bbb", "b", "aaa", "a", "bb", "b", "a?")
    context = built(history, 12, KeepRelevant(Cosine(embed), keep_turns=1))
    assert context is not None
    assert context.inside.kept[0] == 2 or 2 in context.inside.kept


def test_vectors_may_be_of_any_kind_of_number() -> None:
    vectors = {"a": [Decimal("0.3"), 0], "b": [Fraction(1, 2), Fraction(1, 2)]}
    assert Cosine(lambda texts: [vectors[text] for text in texts])("a", ["b"]) == pytest.approx([math.sqrt(0.5)])


@pytest.mark.parametrize(
    "vectors", [None, [1.0], [[1.0]], [[1.0], [1.0, 2.0]], [[math.nan], [1.0]], "ab", [["x"], ["y"]]]
)
def test_wrong_vectors_are_refused(vectors: Any) -> None:
    with pytest.raises(BudgetError, match="Cosine"):
        Cosine(lambda texts: vectors)("a", ["b"])


def test_a_policy_with_its_memory_pickles_and_is_equal() -> None:
    import pickle

    policy = KeepRelevant()
    built(talk("a b", "b", "c d", "d", "e f"), 6, policy)
    again = pickle.loads(pickle.dumps(policy))
    assert again == policy
    assert hash(again) == hash(policy)


def test_the_cache_row_and_served_after_account_for_gaps() -> None:
    history = talk(*FACT, *["Rain?", "Rain."] * 20, "What is the code of my locker?")
    context = built(history, 150, KeepRelevant(keep_turns=1))
    assert context is not None
    assert context.report.cache is not None
    before_the_question = by_hand.cost(sent(context)[:-1])
    assert context.report.cache.stable_prefix == before_the_question > 0
    again = built([*history, {"role": "assistant", "content": "4711"}], 150, KeepRelevant(keep_turns=1))
    other = built([*history[:-1], {"role": "user", "content": "Rain?"}], 150, KeepRelevant(keep_turns=1))
    assert again is not None
    assert other is not None
    assert again.first_changed(context) is None
    assert other.first_changed(context) == 0
    assert other.served_after(context).upper == 0
    assert again.served_after(context).upper == context.count.tokens


def test_a_score_gets_each_turns_words_a_line_each_and_never_its_thoughts() -> None:
    asked: list[tuple[str, list[str]]] = []

    def score(question: str, texts: Sequence[str]) -> list[float]:
        asked.append((question, list(texts)))
        return [0.0] * len(texts)

    call: dict[str, Any] = {"type": "tool_use", "id": "c", "name": "look", "input": {"at": 1}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "r"}] * 2}
    thinking = {"type": "thinking", "thinking": "t" * 30, "signature": "s"}
    history: History = [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": [thinking, {"type": "text", "text": "let me"}, call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": "done"},
        *talk("second", "answer", "third"),
    ]
    built(history, 30, KeepRelevant(score, keep_turns=1))
    assert asked == [("third", ['first\nlet me\nlook {"at":1}\nr\nr\ndone', "second\nanswer"])]
    asked.clear()
    built(history, 30, KeepRelevant(score, keep_turns=2, questions=2))
    assert asked == [("second\nthird", ['first\nlet me\nlook {"at":1}\nr\nr\ndone'])]


def vector_of(text: str) -> list[float]:
    return [1.0, float("apples" in text)]


def in_batches(texts: Sequence[str]) -> list[list[float]]:
    """Takes the texts off the list that it was given, one by one, as a loop over batches may."""
    given, found = cast("list[str]", texts), list[list[float]]()
    while given:
        found.append(vector_of(given.pop(0)))
    return found


def shares_apples(_question: str, texts: Sequence[str]) -> list[float]:
    return [apples for _, apples in in_batches(texts)]


@pytest.mark.parametrize("score", [shares_apples, Cosine(in_batches)], ids=["score", "embed"])
def test_a_function_may_use_up_the_list_of_texts_that_it_gets(score: Any) -> None:
    """The list was read again afterwards: an error that named 0 texts, or a bare IndexError."""
    history = talk("apples", "yes", "pears", "no", "apples?")
    kept = left(history, by_hand.cost(history) - 1, KeepRelevant(score, keep_turns=1))
    assert kept == wanted([*history[:2], history[-1]])
