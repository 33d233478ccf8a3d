"""Wrong names, numbers and marks are refused in one line, or read as what they are."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from assembler import Assembler, AssemblyError, CitedSources, ConversationError, PromptError, UnsupportedContentError
from assembler.conversation.messages.message import Media
from assembler.dialects import openai_chat
from assembler.dialects.blocks.media import Inline
from assembler.files.json_text import read_json
from assembler.files.place import Place, SpecError
from assembler.files.reading import file_text
from assembler.greedy import Config
from assembler.pricing.media import MediaFacts, openai, read_media
from assembler.prompts import read_prompt
from assembler.rag.result import read_results
from budgets import Budget, BudgetError, TokenCountError, UnknownModelError, models, tiktoken_counter
from budgets.models.names import LONGEST_NAME
from tests.hostile.test_dos import deep
from tests.hostile.test_secrets import spoken_by

CANARY = "xyzzy"


def repr_short(value: object) -> str:
    return repr(value)[:12]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("unit", ["a", "openai/", "models:", "-v1", ":1", "1", "ft:", "us.", "/"])
@pytest.mark.parametrize("length", [LONGEST_NAME - 1, LONGEST_NAME, LONGEST_NAME + 1, 84_000, 1_400_000])
def test_a_models_name_is_looked_up_up_to_its_longest_and_refused_beyond(unit: str, length: int) -> None:
    name = (unit * length)[:length]
    kind = UnknownModelError if length <= LONGEST_NAME else BudgetError
    for ask in (models.facts, Budget.for_model):
        with pytest.raises(kind) as refused:
            ask(name)
        assert len(str(refused.value)) <= 1_100
    if length > LONGEST_NAME:
        for ask in (models.family_of, models.encoding_of, models.dialect_of):
            with pytest.raises(BudgetError, match=f"{length} characters, not a name"):
                ask(name)


@pytest.mark.parametrize("name", ["gpt\x1b[31m", "a\u202eb", "\ud800", "x\r\ny"])
def test_an_error_cannot_control_the_terminal(name: str) -> None:
    for ask in (tiktoken_counter, models.facts):
        with pytest.raises((TokenCountError, UnknownModelError)) as refused:
            ask(name)
        assert str(refused.value).replace("\n", "").isprintable()


@pytest.mark.parametrize("encoding", [None, 5, ["o200k_base"], {}])
def test_a_vocabulary_whose_name_is_not_text_is_refused(encoding: Any) -> None:
    with pytest.raises(TokenCountError, match="has no bundled vocabulary"):
        tiktoken_counter(encoding)


@pytest.mark.parametrize("component", [10**400, -(10**400), math.inf, math.nan, "x", None, [1]], ids=repr_short)
def test_a_wrong_component_of_an_embedding_is_refused_or_similar_to_nothing(component: Any) -> None:
    strategy = CitedSources()
    assembler = Assembler(strategy=strategy, dialect=openai_chat).add_messages([("user", "q")])
    assembler.add_knowledge("a", type="rag", embedding=[1.0, 0.0])
    try:
        assembler.add_knowledge("b", type="rag", embedding=[component, 1.0]).build()
    except AssemblyError as error:
        assert CANARY not in str(error)


EDGE = 1 << 32


@pytest.mark.parametrize("key", ["width", "height", "pages", "seconds"])
@pytest.mark.parametrize(
    "value", [EDGE - 1, EDGE, EDGE + 1, 10**400, 1e308, math.inf, math.nan, 0, -1, True, "5"], ids=repr_short
)
def test_a_length_of_a_medium_is_taken_up_to_the_largest_that_a_format_can_say(key: str, value: Any) -> None:
    part = Media("audio", {"type": "input_audio", key: value})
    legal = type(value) is int and 0 < value <= EDGE
    for ask in (lambda: getattr(read_media(part), key), lambda: getattr(MediaFacts(kind="audio", **{key: value}), key)):
        try:
            assert ask() == value
            assert legal or value == 0
        except ConversationError:
            assert not legal


@pytest.mark.parametrize("seconds", [0.5, EDGE])
def test_a_sound_of_any_length_that_is_taken_has_a_price(seconds: float) -> None:
    facts = MediaFacts(kind="audio", mime="audio/wav", seconds=seconds)
    assert openai.price_media(facts, "auto", "gpt-4o-audio-preview").tokens > 0


def test_the_error_for_invalid_base64_holds_none_of_it() -> None:
    with pytest.raises(UnsupportedContentError) as refused:
        _ = Inline("image/png", f"{CANARY}é").octets
    assert not any(CANARY in text for text in spoken_by(refused.value))


def test_a_file_that_cannot_be_read_leaves_no_trace_of_its_text(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(CANARY.encode() + b"\xff")
    (tmp_path / "text.json").write_text(f'{{"{CANARY}": ')
    for ask in (
        lambda: file_text(tmp_path / "bytes", Place("f"), limit=100),
        lambda: read_json(tmp_path / "text.json", Place("f")),
        lambda: Config.read(tmp_path / "bytes"),
        lambda: Config.read(tmp_path / "text.json"),
    ):
        with pytest.raises((SpecError, BudgetError)) as refused:
            ask()
        assert not any(CANARY in text for text in spoken_by(refused.value))


def test_a_retrieval_result_that_cannot_be_read_to_its_end_is_refused_by_its_place() -> None:
    nested: Any = {"content": "x"}
    paired: Any = {"content": "x"}
    for _ in range(5_000):
        nested, paired = {"content": "x", "node": nested}, (paired, 0.5)
    loop: dict[str, Any] = {"content": "x"}
    loop["node"] = loop
    unwritable = ({"content": "x", "chunk_id": 10**5_000}, {"content": "x", "section_title": deep(100_000)})
    for odd in (nested, paired, loop, *unwritable):
        with pytest.raises(PromptError, match="retrieval result 1"):
            read_results([{"content": "x"}, odd])


def test_the_error_for_a_wrong_score_holds_none_of_it() -> None:
    with pytest.raises(PromptError) as refused:
        read_results([{"content": "a", "score": CANARY}])
    assert not any(CANARY in text for text in spoken_by(refused.value))


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_byte_order_mark_does_not_enter_a_prompt(mark: bytes, tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_bytes(mark + b"Be brief.")
    assert read_prompt(path) == "Be brief."
    path.write_bytes(mark + b"Be \xff")
    with pytest.raises(PromptError, match=f"byte {len(mark) + 3}"):
        read_prompt(path)


def called(*names: str) -> list[dict[str, Any]]:
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for n, name in enumerate(names)
    ]
    answers = [{"role": "tool", "tool_call_id": call["id"], "content": CANARY} for call in calls]
    return [{"role": "user", "content": CANARY}, {"role": "assistant", "content": None, "tool_calls": calls}, *answers]


def notes_of(tools: list[str], *names: str, after: str | None = None) -> str:
    messages: list[Any] = [*(called(*names) if names else [("user", "q")])]
    messages += [] if after is None else [("assistant", "done"), ("user", after)]
    assembler = Assembler(dialect=openai_chat).add_capability([{"name": tool} for tool in tools])
    assembler.add_messages(messages)
    return " ".join(assembler.build().report.notes)


@pytest.mark.parametrize("after", [None, "and now?"])
def test_a_report_names_the_calls_of_tools_that_are_not_offered(after: str | None) -> None:
    assert "not offered" not in notes_of(["f", "g"], "f", "g", after=after)
    assert "called but not offered: g." in notes_of(["f"], "f", "g", "g", after=after)
    many = notes_of([], *[f"tool_{n}" for n in range(8)], after=after)
    assert "tool_0, tool_1, tool_2, tool_3, tool_4 and 3 more" in many
    strange = notes_of(["f"], f"\x1b[31m {CANARY}", after=after)
    assert "a name of 11 characters" in strange
    assert CANARY not in strange


def test_a_report_names_the_tools_that_differ_in_case_alone() -> None:
    assert "case" not in notes_of(["search", "find"])
    assert "differ only in case: Search, search." in notes_of(["Search", "find", "search"])
