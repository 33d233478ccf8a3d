"""The citations that an API writes beside its answer are read as those in its text are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, CitedSources, Context, Placement
from assembler.errors import PromptError
from assembler.rag import Citation, NativeSources, Order, answer_text, citation_report
from budgets import Budget

STRATEGY = CitedSources(layout=NativeSources(), placement=Placement.QUESTION, order=Order.GIVEN)
APIS = {"anthropic": "claude-sonnet-4-5", "bedrock": "anthropic.claude-sonnet-4-5"}
TEXTS = ["It is 330 metres tall.", "It was built in 1889.", "It has three floors."]


def block(source: str, text: str) -> dict[str, Any]:
    return {"type": "search_result", "source": source, "title": source, "content": [{"type": "text", "text": text}],
            "citations": {"enabled": True}}  # fmt: skip


def built(
    dialect: str, history: list[Any] | None = None, texts: list[str] = TEXTS, strategy: Any = STRATEGY
) -> Context:
    made = Assembler(Budget(100_000, model=APIS.get(dialect)), dialect=dialect, strategy=strategy)
    for at, text in enumerate(texts):
        made.add_knowledge(text, type="rag", source=f"{at}.pdf")
    return made.add_messages(history or [{"role": "user", "content": "What is it?"}]).build()


def in_anthropic(*sentences: tuple[str, list[int]]) -> dict[str, Any]:
    content: list[dict[str, Any]] = [
        {
            "type": "text",
            "text": text,
            "citations": [
                {
                    "type": "search_result_location",
                    "search_result_index": place,
                    "source": "s",
                    "title": None,
                    "cited_text": "c",
                    "start_block_index": 0,
                    "end_block_index": 1,
                }
                for place in places
            ]
            or None,
        }
        for text, places in sentences
    ]
    return {"role": "assistant", "content": content}


def in_converse(*sentences: tuple[str, list[int]]) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    for text, places in sentences:
        located = [{"searchResultLocation": {"searchResultIndex": place, "start": 0, "end": 1}} for place in places]
        citations = [{"source": "s", "location": location} for location in located]
        cited = {"citationsContent": {"content": [{"text": text}], "citations": citations}}
        content.append(cited if places else {"text": text})
    return {"role": "assistant", "content": content}


SPELLED = {"anthropic": in_anthropic, "bedrock": in_converse}


@pytest.mark.parametrize("dialect", APIS)
def test_a_passage_cites_the_sources_that_the_api_names_in_every_sentence_of_it(dialect: str) -> None:
    answer = SPELLED[dialect](
        ("I looked. ", []),
        ("It is 330 metres tall, and old. It has floors.", [0, 2]),
        (" It is ", []),
        ("from 1889", [1]),
        (". It is lovely.", []),
    )
    report, text = citation_report(answer, built(dialect)), answer_text(answer)
    assert [(text[one.start : one.end], one.sources) for one in report.sentences] == [
        ("I looked.", ()),
        ("It is 330 metres tall, and old.", (1, 3)),
        ("It has floors.", (1, 3)),
        ("It is from 1889.", (2,)),
        ("It is lovely.", ()),
    ]
    marked = {text[one.start : one.end] for sentence in report.sentences for one in sentence.citations}
    assert marked == {"It is 330 metres tall, and old. It has floors.", "from 1889"}
    assert (report.used, report.unused, report.suspect) == ((1, 2, 3), (), ())


@pytest.mark.parametrize("dialect", APIS)
def test_blocks_of_the_caller_s_own_before_and_after_count_and_are_not_our_sources(dialect: str) -> None:
    """The API counts all blocks of a request."""
    history = [
        {"role": "user", "content": [block("own", "Before."), {"type": "text", "text": "Hi"}]},
        {"role": "assistant", "content": "Ho"},
        {"role": "user", "content": "What is it?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "a", "content": [block("own", "After.")]}],
        },
    ]
    look = {"name": "look", "description": "d", "parameters": {"type": "object", "properties": {}}}
    made = Assembler(Budget(100_000, model=APIS[dialect]), dialect=dialect, strategy=STRATEGY).add_capability([look])
    for text in TEXTS:
        made.add_knowledge(text, type="rag")
    context = made.add_messages(history).build()
    own = 1 if dialect == "anthropic" else 0  # Converse gets them as text
    answer = SPELLED[dialect](*((f"This is {place}. ", [place]) for place in range(3 + 2 * own + 1)))
    report = citation_report(answer, context)
    ours = [(1,), (2,), (3,)]
    assert [one.sources for one in report.sentences] == ([(), *ours, (), ()] if own else [*ours, ()])
    assert [one.unknown for one in report.suspect] == [(4 + own,)]


def test_the_same_blocks_in_an_older_message_are_not_taken_for_the_newest() -> None:
    first = built("anthropic")
    history = [*first.messages, {"role": "assistant", "content": "So."}, {"role": "user", "content": "Why?"}]
    report = citation_report(in_anthropic(("One.", [3]), (" Other.", [0])), built("anthropic", history))
    assert [one.sources for one in report.sentences] == [(1,), ()]


def test_a_number_in_the_text_is_suspect_where_the_model_was_shown_none() -> None:
    report = citation_report(in_anthropic(("It is tall [Source 1].", [0])), built("anthropic"))
    assert report.sentences[0].sources == (1,)
    assert [one.unknown for one in report.suspect] == [(1,)]


def test_an_answer_s_message_is_read_by_its_markers_where_the_sources_were_text() -> None:
    context = built("openai_chat")
    answer = {"role": "assistant", "content": "It is tall [Source 1]. It flies [Source 9]."}
    assert citation_report(answer, context) == citation_report(answer["content"], context)
    there = citation_report(in_anthropic(("It is tall [Source 1].", [5])), context)
    assert [one.sources for one in there.sentences] == [(1,)]
    assert [one.unknown for one in there.suspect] == [(6,)]  # there is no such block


def test_a_text_is_read_by_its_markers_beside_a_context_without_a_request() -> None:
    made = Assembler(strategy=CitedSources()).add_knowledge("It is tall.", type="rag")
    assert citation_report("It is tall [Source 1].", made.build()).used == (1,)


def test_without_a_context_the_first_block_is_number_1() -> None:
    report = citation_report(in_anthropic(("It is tall.", [0]), (" It flies.", [1])), {1: "It is tall."})
    assert [one.citations for one in report.sentences] == [
        (Citation(0, 11, (1,)),),
        (Citation(12, 21, (), (2,)),),
    ]


def test_citations_of_other_kinds_are_not_of_our_sources() -> None:
    answer = in_anthropic(("It is tall.", [0]))
    answer["content"][0]["citations"] = [
        {"type": "web_search_result_location", "url": "u", "title": "t", "encrypted_index": "e", "cited_text": "c"},
        {"type": "char_location", "document_index": 0, "start_char_index": 0, "end_char_index": 1, "cited_text": "c"},
        {"type": "search_result_location"},
        "odd",
    ]
    answer["content"] += [{"type": "thinking", "thinking": "Hm.", "signature": "x"}]
    report = citation_report(answer, built("anthropic"))
    assert [one.citations for one in report.sentences] == [()]
    assert answer_text(answer) == "It is tall."


def test_a_passage_of_blanks_counts_for_the_sentence_before_it() -> None:
    report = citation_report(in_anthropic(("It is tall.", []), ("  ", [0])), built("anthropic"))
    assert [one.sources for one in report.sentences] == [(1,)]
    assert citation_report(in_anthropic((" ", [0])), built("anthropic")).sentences == ()


@pytest.mark.parametrize(
    ("before", "passage"),
    [("It rains. ", "1889. He sings."), ("雨です。", "雪です。"), ("It rains.\n", "\nHe sings.\n")],
)
def test_a_passage_does_not_count_for_the_sentence_that_ends_before_it(before: str, passage: str) -> None:
    report = citation_report(in_anthropic((before, []), (passage, [0])), built("anthropic"))
    assert [one.sources for one in report.sentences] == [(), (1,)]


@pytest.mark.parametrize("answer", [3, None, {}, {"role": "assistant"}, {"role": "assistant", "content": [3]}, ["a"]])
def test_what_is_no_answer_is_refused_with_what_to_pass(answer: Any) -> None:
    with pytest.raises(PromptError, match="a text"):
        citation_report(answer, {1: "a"})


sentences = st.lists(
    st.tuples(st.sampled_from(["It rains", "Snow falls in Oslo", "He sings"]), st.sets(st.integers(0, 3), max_size=3)),
    min_size=1,
    max_size=6,
)


@given(st.sampled_from(sorted(APIS)), sentences, st.integers(1, 4))
def test_each_sentence_in_a_passage_of_its_own_has_the_sources_that_it_was_given(
    dialect: str, sentences: list[tuple[str, set[int]]], count: int
) -> None:
    """The same answer with markers says the same, where every number was issued."""
    texts = [f"{text} {at}" for at, text in enumerate(TEXTS * 2)][:count]
    context = built(dialect, texts=texts)
    answer = SPELLED[dialect](*((f"{text}. ", sorted(places)) for text, places in sentences))
    report = citation_report(answer, context)
    expected = [tuple(place + 1 for place in sorted(places) if place < count) for _, places in sentences]
    assert [one.sources for one in report.sentences] == expected
    marked = [text + "".join(f" [Source {place + 1}]" for place in sorted(places)) + ". " for text, places in sentences]
    there = citation_report("".join(marked), dict(enumerate(texts, 1)))
    assert [one.sources for one in there.sentences] == expected
    assert (there.used, there.unused) == (report.used, report.unused)
    unknown = {number for one in report.suspect for number in one.unknown}
    assert unknown == {number for one in there.suspect for number in one.unknown}
