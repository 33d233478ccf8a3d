"""Every row in every table of families states its evidence and can be reached by a name."""

from __future__ import annotations

import re

import attrs
import pytest

from assembler.dialects.anthropic import families as anthropic
from assembler.dialects.bedrock import nova
from assembler.dialects.gemini import families as gemini
from assembler.dialects.hosts import families as hosts
from assembler.dialects.mistral import families as mistral
from assembler.dialects.openai import families as openai
from assembler.dialects.prices.families import Row, estimate_with_slack, evidence_of, first_match, guess, price, rows_of
from budgets import Grade
from budgets.count import NOTHING, Count

TABLES: dict[str, tuple[Row, ...]] = {
    "anthropic": anthropic.FAMILIES,
    "nova": nova.FAMILIES,
    "gemini": gemini.FAMILIES,
    "vertex": gemini.ON_VERTEX,
    "hosts": hosts.FAMILIES,
    "mistral": mistral.FAMILIES,
    "openai chat": openai.families("chat"),
    "openai responses": openai.families("responses"),
}
ROWS = [pytest.param(row, id=f"{table}: {row.name}") for table, rows in TABLES.items() for row in rows]


@pytest.mark.parametrize("row", ROWS)
def test_every_row_states_its_source_its_date_and_its_evidence(row: Row) -> None:
    assert row.evidence.source
    assert re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", row.evidence.read)
    assert row.evidence.rows >= row.evidence.repositories >= 0
    if row.evidence == evidence_of(row.evidence.rows, row.evidence.repositories):
        assert (row.evidence.rows > 0) == (row.evidence.repositories > 0)


@pytest.mark.parametrize("row", ROWS)
def test_a_number_without_a_recording_is_not_graded_exact(row: Row) -> None:
    if row.evidence.rows:
        return
    counts = [value for value in attrs.astuple(row, recurse=False) if isinstance(value, Count) and value.tokens]
    assert all(count.grade is not Grade.EXACT for count in counts)


@pytest.mark.parametrize("table", TABLES)
def test_no_row_shadows_another_of_its_name(table: str) -> None:
    names = [row.name for row in TABLES[table]]
    assert len(names) == len(set(names))


def test_the_first_row_that_matches_is_taken() -> None:
    wide, narrow = (Row(name=text, names=re.compile(text), evidence=evidence_of(1, 1)) for text in ("ab", "abc"))
    assert first_match((narrow, wide), "abcd") is narrow
    assert first_match((wide, narrow), "abcd") is wide
    assert first_match((wide, narrow), "x-ab") is None


def test_slack_is_added_to_a_recorded_number_and_a_guess_names_its_bound() -> None:
    assert estimate_with_slack(4, 2) == Count(4, Grade.BOUNDED, upper=6)
    assert guess(4, 6) == Count(4, Grade.ESTIMATED, upper=6)


@attrs.frozen(kw_only=True)
class Priced(Row):
    opening: Count
    call: Count = NOTHING
    letters: str = ""


TABLE = """
[late]
like = "early"
names = 'b+'
opening = "4 to 6"

[early]
names = 'a'
evidence = { rows = 3, repositories = 2 }
opening = "1 + 1"
call = "2 + 0"
letters = "x"
"""


def test_a_row_with_like_differs_from_its_model_only_in_its_own_fields() -> None:
    late, early = rows_of(TABLE, Priced, {"letters": str.upper})
    assert (late.name, late.names.pattern, late.opening) == ("late", "b+", guess(4, 6))
    assert (late.evidence, late.call, late.letters) == (evidence_of(3, 2), estimate_with_slack(2, 0), "X")
    assert early.opening == estimate_with_slack(1, 1)


@pytest.mark.parametrize("written", ["", "4", "4 - 2", "four to six", "4 to"])
def test_an_unreadable_price_in_a_table_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r"expected a price|invalid literal"):
        price(written)
