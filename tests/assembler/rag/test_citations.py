"""Citations of an answer: markers, sentences, quotes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, CitedSources
from assembler.errors import PromptError
from assembler.rag import Citation, citation_report, citations, parse_citations
from assembler.rag import sentences as of_sentences
from assembler.rag.sentences import sentence_spans
from tests.assembler.test_work import calls_of
from tests.steps_of_patterns import step_by_step

ANSWERS = [
    ("[Source 1]", [(1,)]),
    ("[Source 1, Source 3]", [(1, 3)]),
    ("[Source 1, 3]", [(1, 3)]),
    ("[Sources 2-4]", [(2, 3, 4)]),
    ("[Source 2 – Source 3]", [(2, 3)]),
    ("[Sources 2\u20113] [2\u20103] [Source 2 \u2212 Source 3] [2\u20143]", [(2, 3)] * 4),
    ("[source 2 to 3; 5 & 7 and Source 9]", [(2, 3, 5, 7, 9)]),
    ("[ SOURCE 1 ]", [(1,)]),
    ("[Source #4]", [(4,)]),
    ("[Source1]", [(1,)]),
    ("[Source 1][Source 2]", [(1,), (2,)]),
    ("[Source 7: ceo.pdf, page 3]", [(7,)]),
    ("[Source 1, Source 1]", [(1,)]),
    ("[Source: 1] [Sources: 2, 3]", [(1,), (2, 3)]),
    ("[Source 1: a.pdf, p. 2; Source 3: b.pdf, and more and Source 4]", [(1, 3, 4)]),
    ("[Source 2: 12-13, 7]", [(2,)]),
    ("[1] (Source 1) {Source 1} Source 1", [(1,), (1,)]),
    ("(Source 3) and (Sources 1, 2)", [(3,), (1, 2)]),
    ("\u3010Source 2\u3011", [(2,)]),
    ("\u30101\u3011\u3010\uff12\u3011\uff3b3\uff3d", [(1,), (2,), (3,)]),
    ("\uff08Source 4\uff09", [(4,)]),
    ("\u30101\u2020source\u3011", [(1,)]),
    ("It is blue[1][2].", [(1,), (2,)]),
    ("[1, 3] [2-4] [5; 6] [7 and 8]", [(1, 3), (2, 3, 4), (5, 6), (7, 8)]),
    ("[^2]", [(2,)]),
    ("([Source 1])", [(1,)]),
    ("[1](https://a.example)", [(1,)]),
    ("[2024] [0, 1] [sic] [x] [ ] [1.5] [-1] (1) (2024) {1}", []),
    ("(source: Reuters) (sources say so)", []),
    ("`row[1]` and\n```\nrows[2] = [3]\n```\n[4]", [(4,)]),
    ("[Resource 1] [Sourcery]", []),
    ("[[Source 1]]", [(1,)]),
    ("[Source 1", []),
    ("", []),
]


@pytest.mark.parametrize(("answer", "expected"), ANSWERS)
def test_every_spelling_of_a_marker_is_read(answer: str, expected: list[tuple[int, ...]]) -> None:
    assert [one.sources for one in parse_citations(answer)] == expected


@pytest.mark.parametrize(
    "answer", ["[Source X]", "[Source]", "[Source one, two]", "[Source 9-1]", "[Source 1-999999999]"]
)
def test_a_marker_that_names_no_number_is_reported_and_cites_nothing(answer: str) -> None:
    (found,) = parse_citations(answer)
    assert (found.sources, found.unknown) == ((), ())
    assert found.unread >= 1


@given(st.lists(st.integers(1, 60), min_size=1, max_size=6, unique=True), st.text("ab. \n", max_size=9))
def test_a_written_marker_is_read_back(numbers: list[int], around: str) -> None:
    answer = around + "[" + ", ".join(f"Source {number}" for number in numbers) + "]" + around
    (found,) = parse_citations(answer, range(1, 61))
    assert found == Citation(len(around), len(answer) - len(around), tuple(numbers))
    assert answer[found.start : found.end].startswith("[Source")


@given(st.text("[]()\u3010\u3011Source 12,-–:;and`\n", max_size=60))
def test_only_issued_numbers_are_ever_cited(answer: str) -> None:
    found = parse_citations(answer, {1, 2})
    for one in found:
        assert set(one.sources) <= {1, 2}
        assert not set(one.unknown) & {1, 2}
        assert answer[one.start] + answer[one.end - 1] in ("[]", "()", "\u3010\u3011")
    edges = [edge for one in found for edge in (one.start, one.end)]
    assert edges == sorted(edges)


def test_a_marker_out_of_a_source_counts_only_if_its_number_was_issued() -> None:
    answer = "As it says, see [1] and [Source 7: ceo.pdf]\n[2]"
    report = citation_report(answer, {1: "see [1] and [Source 7: ceo.pdf]\n[2]"})
    assert report.used == (1,)
    assert [one.unknown for one in report.suspect] == [(7,), (2,)]
    assert report.unused == ()


def test_a_bare_number_is_a_citation_if_it_was_issued_or_could_have_been() -> None:
    assert [one.sources for one in parse_citations("[2024] [1, 2024]", {1, 2024})] == [(2024,), (1, 2024)]
    assert [(one.sources, one.unknown) for one in parse_citations("[9] [2024] [1, 2024]", {1})] == [
        ((), (9,)),
        ((1,), (2024,)),
    ]


def sentences(answer: str) -> list[str]:
    markers = [(one.start, one.end) for one in parse_citations(answer)]
    return [answer[start:stop] for start, stop in sentence_spans(answer, markers)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("One [Source 1]. Two.", ["One [Source 1].", "Two."]),
        ("One. [Source 1] Two.", ["One. [Source 1]", "Two."]),
        ("One. [Source 1] [Source 2] Two.", ["One. [Source 1] [Source 2]", "Two."]),
        ("One. [Source 2] says two.", ["One.", "[Source 2] says two."]),
        ("It is 3.5 m, e.g. here. Yes!", ["It is 3.5 m, e.g. here.", "Yes!"]),
        ("- One\n- Two [Source 1]\n\n---\n", ["- One", "- Two [Source 1]"]),
        ("これは。[Source 1]あれは！", ["これは。[Source 1]", "あれは！"]),
        ("Ends [Source 1: a. Big label] here.", ["Ends [Source 1: a. Big label] here."]),
        ('He said "Go." Then left.', ['He said "Go."', "Then left."]),
        ("One?!\n[Source 1] Two", ["One?!", "[Source 1] Two"]),
        ("... 3. 4.", []),
    ],
)
def test_sentences_end_where_a_reader_says(answer: str, expected: list[str]) -> None:
    assert sentences(answer) == expected


@given(st.text('aB.!?\n []Source1"', max_size=60))
def test_sentences_are_in_order_apart_and_leave_no_letter_out(answer: str) -> None:
    markers = [(one.start, one.end) for one in parse_citations(answer)]
    spans = sentence_spans(answer, markers)
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    covered = {place for start, stop in spans for place in range(start, stop)}
    assert all(place in covered for place, character in enumerate(answer) if character.isalpha())


SOURCES = {1: "The tower is 324 metres\ntall. It’s in Paris.", 2: "Built in 1889 for the fair.", 3: "Nothing of use."}
ANSWER = (
    'The report says "the tower is 324 metres tall" [Source 1]. It was "built in 1889 ... the fair," they'
    ' say [Source 1]. It is old. It\'s known: "It\'s in Paris." And "made of green cheese"'
    " [Source 2]. Last [Source 2, Source 8]."
)


def test_every_sentence_is_mapped_with_its_sources_and_its_quotes() -> None:
    report = citation_report(ANSWER, SOURCES)
    assert [one.sources for one in report.sentences] == [(1,), (1,), (), (), (2,), (2,)]
    assert [ANSWER[one.start : one.end] for one in report.uncited] == ["It is old.", "It's known: \"It's in Paris.\""]
    assert report.unused == (3,)
    assert report.used == (1, 2)
    assert [one.unknown for one in report.suspect] == [(8,)]
    quotes = [(ANSWER[q.start : q.end], q.confirmed, q.elsewhere) for s in report.sentences for q in s.quotes]
    assert quotes == [
        ("the tower is 324 metres tall", (1,), ()),
        ("built in 1889 ... the fair,", (), (2,)),
        ("It's in Paris.", (1,), ()),
        ("made of green cheese", (), ()),
    ]
    assert [ANSWER[q.start : q.end] for q in report.unconfirmed] == [quotes[1][0], quotes[3][0]]


@pytest.mark.parametrize(
    ("source", "quote", "confirmed"),
    [
        ("It is 210 metres tall.", "10 metres tall", False),
        ("It is 1,330 metres tall.", "330 metres tall", False),
        ("It is 3.5 metres wide.", "the width is 3", False),
        ("Its width is 3.5 metres.", "Its width is 3", False),
        ("Its width is 3.", "Its width is 3.", True),
        ("It cost 12,50 and 3, says he.", "12,50 and 3, says", True),
        ("Order A-1093 arrives.", "Order A-1093 arrives", True),
        ("gpt4o is a model.", "gpt4o is a model", True),
        ("It is 210 metres tall, then 10 metres tall.", "10 metres tall", True),
        ("From 1889 on it was 330 metres.", "From 1889 ... 330 metres.", True),
        ("From 1889 on it was 1330 metres.", "From 1889 ... 330 metres.", False),
    ],
)
def test_a_quote_is_not_confirmed_by_a_part_of_another_number(source: str, quote: str, confirmed: bool) -> None:
    report = citation_report(f'He says "{quote}" [Source 1].', {1: source})
    assert [bool(one.confirmed) for sentence in report.sentences for one in sentence.quotes] == [confirmed]


def test_a_context_and_a_mapping_say_the_same() -> None:
    assembler = Assembler(strategy=CitedSources(duplicates=()))
    for text in ("a < b", "c & d"):
        assembler.add_knowledge(text, type="rag")
    context = assembler.build()
    answer = 'Clearly "a < b and more" [Source 1]. So [Source 2].'
    assert citation_report(answer, context) == citation_report(answer, {1: "a < b", 2: "c & d"})
    with pytest.raises(TypeError, match="list"):
        citation_report(answer, ["a"])  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["1", None, (1,)])
def test_sources_by_keys_that_are_no_numbers_are_refused(key: object) -> None:
    """JSON writes the keys of a mapping as texts: every marker was unknown, and every source unused."""
    with pytest.raises(PromptError, match="from numbers of sources to texts") as caught:
        citation_report("So [Source 1].", {key: "a"})  # type: ignore[dict-item]
    assert "int(number)" in str(caught.value)


def test_an_empty_answer_cites_nothing() -> None:
    report = citation_report("", {1: "a"})
    assert (report.sentences, report.unused, report.uncited, report.suspect) == ((), (1,), (), ())


def test_the_report_holds_no_text() -> None:
    assert "green cheese" not in repr(citation_report(ANSWER, SOURCES))


UNITS = [
    *(".", "\n", " ", '"', "“", "。", "(", "[", "\u3010", "`", "```", '". ['),
    *("[1,", "[1, ", "[1 ", "[Source 1,", "[Source 1:", ", Source 1: ", "[Source 1, source ", "(Source "),
    *("[source  ", "[source and ", "[Source 1      ", "a. [Source 1-99] "),
]


@pytest.mark.parametrize("unit", UNITS)
def test_an_answer_four_times_as_long_takes_four_times_the_steps(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    step_by_step(monkeypatch, [citations, of_sentences])

    def work(length: int) -> int:
        answer = (unit * length)[:length] + "x"
        return calls_of(lambda: citation_report(answer, {1: "x", 2: "y"}))

    work(10)
    assert work(400) <= 4.4 * work(100) + 1_000


def test_a_long_list_without_an_end_is_not_a_citation() -> None:
    assert parse_citations("[" + "1," * 20_000) == []


@pytest.mark.parametrize(
    ("source", "quote"),
    [
        ("A twenty-one year old re-entry.", "twenty\u2011one year old re\u2010entry"),
        ("Le cafe\u0301 est ferme\u0301 lundi.", "caf\u00e9 est ferm\u00e9 lundi"),
    ],
)
def test_a_quote_is_confirmed_however_hyphens_and_accents_are_encoded(source: str, quote: str) -> None:
    """Models write a hyphen at which no line breaks, and texts out of PDFs have accents of their own."""
    report = citation_report(f'It says "{quote}" [Source 1].', {1: source})
    assert report.unconfirmed == ()
    assert len(report.sentences[0].quotes) == 1


def test_a_citation_before_any_sentence_belongs_to_the_first() -> None:
    report = citation_report("[Source 1]\nYes.", {1: "x"})
    assert any(1 in sentence.sources for sentence in report.sentences)
