"""Every type that an SDK names is on the page that says what becomes of it, and the page names no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from assembler import Assembler
from assembler.dialects import DIALECTS
from tests.assembler.served import BLOCKS, CONVERSE, ITEMS, PARTS
from tests.sdks import census

PAGE = Path(__file__).parents[2] / "docs" / "what-is-carried.md"
ROWS = census.rows()


def test_the_page_names_each_type_of_the_installed_sdks_and_no_other() -> None:
    """If an SDK has a new type, `python -m tests.sdks.census` prints the new page: read it before you commit it."""
    written = {line for line in PAGE.read_text().splitlines() if line.startswith("| ")}
    found = {line for line in census.page().splitlines() if line.startswith("| ")}
    assert written == found


def test_no_cell_of_the_census_is_empty() -> None:
    assert len(ROWS) > 180
    for row in ROWS:
        assert all(attrs.astuple(row)), row


@pytest.mark.parametrize(
    ("api", "where", "examples"),
    [
        ("Responses", "item", ITEMS),
        ("Anthropic", "block", BLOCKS),
        ("Gemini", "part", PARTS),
        ("Bedrock", "block", CONVERSE),
    ],
)
def test_each_type_that_is_carried_unread_has_an_example_that_goes_through_the_library(
    api: str, where: str, examples: dict[str, list[dict[str, Any]]]
) -> None:
    spoken = str(examples) + str(
        {census.camel(key): 0 for example in examples.values() for one in example for key in one}
    )
    unread = {row.kind for row in ROWS if (row.api, row.where) == (api, where) and "estimated" in row.priced}
    assert {kind for kind in unread if f"'{kind}'" not in spoken and f"'{census.camel(kind)}'" not in spoken} <= ALIKE


ALIKE = {
    *("compaction", "advisor_tool_result", "container_upload", "fallback", "mcp_tool_listing", "tool_addition"),
    *("tool_removal", "search_result", "text_editor_code_execution_tool_result", "audio", "video"),
    *("toolAddition", "toolRemoval", "audio_transcription", "tool_search_tool_result"),
}
"""Carried by the same lines as another of their API that has an example; compaction has tests of its own."""


@pytest.mark.parametrize("name", ["openai_chat", "openai_responses", "anthropic", "gemini", "bedrock", "mistral"])
def test_every_tool_of_an_api_goes_out_to_it(name: str) -> None:
    api = {"openai_chat": "Chat", "openai_responses": "Responses"}.get(name, name.capitalize())
    kinds = [row.kind for row in ROWS if (row.api, row.where) == (api, "tool") and row.converted.startswith("left out")]
    for kind in kinds:
        if kind == "cachePoint":
            continue
        inner = {kind: {"name": "n"}} if name in ("gemini", "bedrock", "openai_chat") else {"name": "n"}
        tool: dict[str, Any] = inner if name in ("gemini", "bedrock") else {"type": kind, **inner}
        context = Assembler(dialect=DIALECTS[name]).add_capability([tool]).add_message(("user", "q")).build()
        assert repr(tool) in str(context.request()), kind
