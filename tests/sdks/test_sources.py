"""Blocks for sources are of the SDKs' own types, and citations are read from the SDKs' own answers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, CitedSources, Context, Placement
from assembler.rag import NativeSources, Order, answer_text, citation_report
from budgets import Budget

from .emitted import FEW, MODELS, TOOLS
from .shapes import SHAPES

texts = st.lists(st.text("aé \n<&", min_size=1, max_size=30).filter(str.strip), min_size=1, max_size=4, unique=True)
QUESTION = [{"role": "user", "content": "What is it?"}]
CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
SEARCHED = [
    *QUESTION,
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "1 page"},
]


def built(name: str, texts: list[str], placement: Placement = Placement.QUESTION) -> Context:
    strategy = CitedSources(layout=NativeSources(), placement=placement, order=Order.GIVEN, duplicates=())
    made = Assembler(Budget(100_000, model=MODELS[name]), dialect=name, strategy=strategy).add_capability(TOOLS)
    for text in texts:
        made.add_knowledge(text, type="rag", source="a.pdf", metadata={"page_number": 2})
    return made.add_messages(SEARCHED if placement is Placement.TOOL else QUESTION).build()


@pytest.mark.parametrize("name", ["anthropic", "bedrock"])
@pytest.mark.parametrize("placement", [Placement.QUESTION, Placement.TOOL])
@FEW
@given(texts=texts)
def test_blocks_for_sources_have_the_shape_of_the_sdk(name: str, placement: Placement, texts: list[str]) -> None:
    request = built(name, texts, placement).request()
    SHAPES[name](request)
    assert str(request).count("search_result" if name == "anthropic" else "searchResult") == len(texts)


def of_anthropic() -> Any:
    from anthropic.types import CitationsSearchResultLocation, Message, TextBlock, Usage

    def located(place: int) -> CitationsSearchResultLocation:
        return CitationsSearchResultLocation(
            type="search_result_location",
            cited_text="b",
            search_result_index=place,
            source="a.pdf",
            start_block_index=0,
            end_block_index=1,
        )

    return Message(
        id="m",
        type="message",
        role="assistant",
        model="claude",
        content=[
            TextBlock(type="text", text="I looked. "),
            TextBlock(type="text", text="It is tall and old.", citations=[located(1), located(0)]),
        ],
        usage=Usage(input_tokens=1, output_tokens=1),
    )


def of_converse() -> Any:
    """The message as botocore reads it from a response."""
    import botocore.parsers
    import botocore.session

    operation = botocore.session.get_session().get_service_model("bedrock-runtime").operation_model("Converse")
    body = b"""{"output": {"message": {"role": "assistant", "content": [
        {"text": "I looked. "},
        {"citationsContent": {"content": [{"text": "It is tall and old."}], "citations": [
            {"title": "t", "source": "a.pdf", "sourceContent": [{"text": "b"}],
             "location": {"searchResultLocation": {"searchResultIndex": 1, "start": 0, "end": 1}}},
            {"location": {"searchResultLocation": {"searchResultIndex": 0, "start": 0, "end": 1}}}]}}]}}}"""
    parser = botocore.parsers.create_parser("rest-json")
    found = parser.parse({"status_code": 200, "headers": {}, "body": body}, operation.output_shape)
    return found["output"]["message"]


@pytest.mark.parametrize(("name", "answer"), [("anthropic", of_anthropic), ("bedrock", of_converse)])
def test_the_citations_of_an_answer_name_the_sources(name: str, answer: Any) -> None:
    context, answered = built(name, ["a", "b"]), answer()
    report, text = citation_report(answered, context), answer_text(answered)
    assert [(text[one.start : one.end], one.sources) for one in report.sentences] == [
        ("I looked.", ()),
        ("It is tall and old.", (2, 1)),
    ]
    assert report.suspect == ()
