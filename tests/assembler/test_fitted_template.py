"""A template of your own is sent as Jinja renders it, with the most documents that fit. Counted here with tiktoken."""

from __future__ import annotations

import datetime
import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import jinja2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assembler import Assembler, Context, FittedTemplate, PromptError, TrimOldest, count_request
from assembler.cli.request_file.strategies import read_strategy as read_strategy
from assembler.dialects import DIALECTS
from assembler.files.place import Place
from assembler.prompts import Prompt, ValidatedPromptTemplate
from assembler.strategies import Piece
from assembler.strategies.sources.ordering import Order
from assembler.strategies.sources.pieces import Titled, cut_prompt, join_where_counts_do_not_add
from budgets import Budget, BudgetError, ContextLengthError, Limit, tiktoken_counter
from tests.scaled import scaled

from .strategies import LISTING

COUNT = tiktoken_counter()
JINJA = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)

FEW_OR_MANY = (
    "{% if documents|length > 2 %}Many:{% else %}These few documents were found in the archive of ours:{% endif %}\n"
    "{% for document in documents %}- {{ document.text }}\n{% endfor %}{{ question }}"
)
WITH_AN_EXCUSE = (
    "{% if documents %}{% for document in documents %}{{ document.text }}\n\n{% endfor %}{% else %}"
    "Nothing at all was found in the archive, so say in a long and polite sentence that you cannot answer.\n"
    "{% endif %}Q: {{ question }}\nA:"
)
JINJA_TEMPLATES = {
    "a list": LISTING,
    "in one line": "{% for document in documents %}{{ document.text }}; {% endfor %}Q: {{ question }}",
    "the question first": "{{ question }}\n\n{% for document in documents %}* {{ document.text }}\n{% endfor %}",
    "the question twice": "{{ question }}\n{% for each in documents %}{{ each.text }}{% endfor %}\n{{ question }}",
    "fewer words for more documents": FEW_OR_MANY,
    "more words without documents": WITH_AN_EXCUSE,
    "documents twice": "{% for d in documents %}{{ d.source }} {% endfor %}\n{% for d in documents %}{{ d.text }}\n"
    "{% endfor %}\n {{ question }}",
}
F_STRINGS = {
    "f-string": "Context:\n{documents}\n\nQuestion: {question}\nAnswer:",
    "f-string in one line": "{documents}{question}",
}


def oracle(template: str, texts: Sequence[tuple[str, str]], question: str) -> str:
    """What Jinja, or Python, renders of pairs of source and text."""
    if template in F_STRINGS.values():
        return template.format(documents="\n\n".join(text for _, text in texts), question=question)
    each = [{"source": source, "text": text, "type": "rag"} for source, text in texts]
    return _compiled(template).render(documents=each, question=question)


@functools.cache
def _compiled(template: str) -> jinja2.Template:
    return JINJA.from_string(template)


def counted(dialect: str, *texts: str) -> int:
    """Tokens of a request of these messages. OpenAI adds three, and four for each message (its cookbook)."""
    framing = 3 + 4 * len(texts) if dialect == "openai_chat" else 0
    return framing + sum(map(COUNT, texts))


def assembled(
    strategy: Any, texts: Sequence[str], question: Any, window: int | None, dialect: str = "plain", **budget: Any
) -> Assembler:
    """Texts in the order of their scores, from the sources f0, f1, …"""
    limited = None if window is None else Budget(window, **({"model": "gpt-4o"} | budget))
    made = Assembler(limited, dialect=DIALECTS[dialect], strategy=strategy, on_overflow=TrimOldest())
    for place, text in enumerate(texts):
        made.add_knowledge(text, type="rag", source=f"f{place}", score=1 - place / 100)
    return made.add_messages([{"role": "user", "content": question}]) if question is not None else made


def places(context: Context[Any]) -> list[int]:
    return [int(source.source[1:]) for source in context.sources]


texts = st.lists(
    st.sampled_from(["Oslo", "rain\nand wind\n", "in /tmp", " b ", "31 degrees " * 6, "漢字かな", "{{ 7 * 7 }}", "a"])
    | st.text("ab \n.", min_size=1, max_size=40).filter(str.strip),
    max_size=7,
)
questions = st.sampled_from(["What?", "Where is\nit?", "a", "  so? ", "{{ question }}", "31 degrees"])
templates = st.sampled_from([*JINJA_TEMPLATES.values(), *F_STRINGS.values()])


@scaled(2)
@given(templates, texts, questions, st.sampled_from(["plain", "openai_chat"]), st.data())
def test_what_is_sent_is_what_jinja_renders_and_no_document_left_out_would_fit(
    template: str, given_texts: list[str], question: str, dialect: str, data: st.DataObject
) -> None:
    pairs = [(f"f{place}", text) for place, text in enumerate(given_texts)]

    def cost(chosen: Sequence[int]) -> int:
        return counted(dialect, oracle(template, [pairs[place] for place in sorted(chosen)], question))

    drawn = data.draw(st.sets(st.sampled_from(range(len(pairs)))) if pairs else st.just(set()))
    window = max(1, cost([*drawn]) + data.draw(st.integers(-2, 2)))
    try:
        context = assembled(FittedTemplate(template), given_texts, question, window, dialect).build()
    except ContextLengthError:
        assert cost([]) > window
        assert all(cost([place]) > window for place in range(len(pairs)))
        return
    stay = places(context)
    assert stay == sorted(stay)
    assert context.system is None
    assert context.messages == [
        {"role": "user", "content": oracle(template, [pairs[place] for place in stay], question)}
    ]
    assert context.count.tokens == context.count.upper == cost(stay) <= window
    gone = {*range(len(pairs))} - {*stay}
    assert all(cost([*stay, place]) > window for place in gone)
    dropped = [(row.name, row.before, row.reason) for row in context.report.rows if row.outcome == "dropped"]
    more = {place: max(0, cost([*stay, place]) - cost(stay)) for place in gone}
    assert dropped == [(f"f{place}", more[place], "does not fit") for place in sorted(gone)]


OTHERS = [
    ("openai_chat", "some/unknown"),
    ("openai_responses", "gpt-5"),
    ("anthropic", "claude-sonnet-4-5"),
    ("gemini", "gemini-2.5-pro"),
    ("mistral", "mistral-large-latest"),
    ("bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
]


@scaled(0.5)
@given(st.sampled_from(OTHERS), templates, texts, questions, st.booleans(), st.floats(0, 1), st.integers(-2, 2))
def test_where_counts_are_bounds_no_document_left_out_would_fit_by_what_the_request_costs_with_it(
    api: tuple[str, str],
    template: str,
    given_texts: list[str],
    question: str,
    talk: bool,
    share: float,
    beside: int,
) -> None:
    def made(window: int, chosen: Sequence[int]) -> Assembler:
        budget = Budget(window, model=api[1])
        made = Assembler(budget, dialect=DIALECTS[api[0]], strategy=FittedTemplate(template), on_overflow=TrimOldest())
        for place in chosen:
            made.add_knowledge(given_texts[place], type="rag", source=f"f{place}", score=1 - place / 100)
        made.add_messages([("user", "Hello."), ("assistant", "Hello!")] if talk else [])
        return made.add_message({"role": "user", "content": question})

    def cost(chosen: Sequence[int]) -> int:
        alone = made(100_000, sorted(chosen)).add_messages([("user", question)])
        return alone.build().count.upper

    whole = range(len(given_texts))
    window = max(1, round(cost([]) + share * (cost(whole) - cost([]))) + beside)
    try:
        context = made(window, whole).build()
    except ContextLengthError:
        assert cost([]) > window
        return
    stay = places(context)
    assert context.count.upper <= window
    assert all(cost([*stay, place]) > window for place in {*whole} - {*stay})
    prompt = oracle(template, [(f"f{place}", given_texts[place]) for place in stay], question)
    assert context.messages[-1] == {"role": "user", "content": prompt}


def one_by_one(template: str, given_texts: Sequence[str], window: int) -> list[int] | None:
    """The documents in order, each kept if it fits beside those before it, by its length in characters."""
    pairs = [(f"f{place}", text) for place, text in enumerate(given_texts)]

    def fits(chosen: Sequence[int]) -> bool:
        return len(oracle(template, [pairs[place] for place in chosen], "What?")) <= window

    kept: list[int] = []
    for place in range(len(pairs)):
        if fits([*kept, place]):
            kept.append(place)
    return kept if fits(kept) else None


@pytest.mark.parametrize("template", [LISTING, F_STRINGS["f-string"]])
def test_at_every_window_the_best_documents_stay_as_if_each_were_tried_in_turn(template: str) -> None:
    given_texts = ["a" * 9, "b" * 30, "c" * 3, "d", "e" * 14, "f" * 14, "g"]
    whole = [(f"f{place}", text) for place, text in enumerate(given_texts)]
    for window in range(len(oracle(template, [], "What?")) - 2, len(oracle(template, whole, "What?")) + 3):
        made = assembled(FittedTemplate(template), given_texts, "What?", window, model=None, counter=len)
        expected = one_by_one(template, given_texts, window)
        try:
            context = made.build()
        except ContextLengthError:
            assert expected is None, window
            continue
        assert places(context) == expected, window
        dropped = [int(row.name[1:]) for row in context.report.rows if row.outcome == "dropped"]
        assert dropped == sorted({*range(len(given_texts))} - {*places(context)})


def test_a_document_that_did_not_fit_is_tried_again_after_another_made_the_words_fewer() -> None:
    given_texts = ["a" * 20, "b" * 40, "c" * 3]
    pairs = [(f"f{place}", text) for place, text in enumerate(given_texts)]
    cost = {
        chosen: len(oracle(FEW_OR_MANY, [pairs[place] for place in chosen], "What?"))
        for chosen in ((0,), (0, 1), (0, 2), (0, 1, 2))
    }
    window = max(cost[0, 2], cost[0, 1, 2])
    assert cost[0,] <= window < cost[0, 1]
    made = assembled(FittedTemplate(FEW_OR_MANY), given_texts, "What?", window, model=None, counter=len)
    assert places(made.build()) == [0, 1, 2]


def test_old_turns_give_way_to_documents_and_the_instruction_and_tools_are_priced() -> None:
    def made(window: int) -> Assembler:
        made = assembled(FittedTemplate(LISTING), ["Oslo: rain", "Rome: sun"], None, window, "openai_chat")
        made.add_instruction("Be brief.").add_capability([{"name": "search", "parameters": {"type": "object"}}])
        return made.add_messages([("user", "old " * 30), ("assistant", "yes"), ("user", "Where does it rain?")])

    prompt = oracle(LISTING, [("f0", "Oslo: rain"), ("f1", "Rome: sun")], "Where does it rain?")
    whole = made(10_000).build()
    least = whole.count.upper - counted("openai_chat", "old " * 30, "yes") + 3
    for window, sources in ((whole.count.upper, 2), (least, 2), (least - 1, 1)):
        context = made(window).build()
        assert len(context.sources) == sources
        assert context.count.upper <= window
        contents = [message["content"] for message in context.request()["messages"]]
        assert contents[0] == "Be brief."
        assert len(contents) == (4 if window > least else 2)
        assert sources == 1 or contents[-1] == prompt


# ── where the question is


def test_the_question_may_stand_in_a_document_too() -> None:
    context = assembled(FittedTemplate(LISTING), ["So? So?", "So?"], "So?", None).build()
    assert context.messages[0]["content"] == oracle(LISTING, [("f0", "So? So?"), ("f1", "So?")], "So?")


@pytest.mark.parametrize(
    ("template", "question", "system"),
    [
        ("{% for d in documents %}{{ d.text }}\n{% endfor %}", "So?", "Oslo\n"),
        ("{% for d in documents %}{{ d.text }}\n{% endfor %}{{ question|upper }}", "So?", "Oslo\nSO?"),
        (
            "{% for d in documents %}{{ d.text }}\n{% endfor %}{{ question }}",
            [{"type": "text", "text": "So?"}] * 2,
            "Oslo\n",
        ),
        ("{{ documents[0].text if documents else '-' }}{% if not documents %}{{ question }}{% endif %}", "So?", "Oslo"),
        (
            "So? {{ documents|map(attribute='text')|join }}{% if question == '' %}{{ question }}{% endif %}",
            "So?",
            "So? Oslo",
        ),
    ],
    ids=["no variable", "changed", "two texts", "not printed with documents", "words like it"],
)
def test_a_prompt_without_the_question_as_it_was_asked_stands_in_the_system_text(
    template: str, question: Any, system: str
) -> None:
    made = assembled(FittedTemplate(template), ["Oslo"], question, None)
    context = made.build()
    assert context.system == system
    assert context.messages == made.messages
    assert made.add_instruction("Be brief.").build().system == f"Be brief.\n\n{system}"


def test_without_any_question_its_variable_is_empty_and_without_a_text_nothing_follows_the_instruction() -> None:
    assert assembled(FittedTemplate("{documents} {question}."), ["Oslo"], None, None).build().system == "Oslo ."
    nothing = Assembler(strategy=FittedTemplate("{documents}")).add_instruction("Be brief.").build()
    assert nothing.system == "Be brief."


def test_a_template_of_the_question_alone_changes_nothing() -> None:
    template = "{% for d in documents if d.type == 'none' %}{{ d.text }}{% endfor %}{{ question }}"
    context = assembled(FittedTemplate(template), ["Oslo"], "So?", 1_000).build()
    assert context.messages == [{"role": "user", "content": "So?"}]
    assert not context.sources


@given(st.sampled_from(["\n", " ", "/", "\t", "x", ""]), texts, st.integers(-2, 2))
def test_in_the_system_text_it_is_priced_as_it_is_sent_wherever_pieces_meet(
    start: str, given_texts: list[str], beside: int
) -> None:
    strategy = FittedTemplate(start + "{% for d in documents %}" + start + "{{ d.text }}\n{% endfor %}")
    made = assembled(strategy, given_texts, "So?", 100_000).add_instruction("Be brief.")
    system = f"Be brief.\n\n{start}" + "".join(f"{start}{text}\n" for text in given_texts)
    system = system if start or given_texts else "Be brief."
    whole = made.build()
    assert whole.system == system
    assert whole.count.tokens == counted("plain", system, "So?")
    window = whole.count.tokens + beside
    try:
        context = assembled(strategy, given_texts, "So?", window).add_instruction("Be brief.").build()
    except ContextLengthError:
        assert counted("plain", f"Be brief.\n\n{start}" if start else "Be brief.", "So?") > window
        return
    assert context.count.tokens == counted("plain", context.system or "", "So?") <= window


# ── what documents are in a template


def test_metadata_is_printed_as_jinja_prints_it_and_no_name_of_this_library_is_hidden() -> None:
    metadata = {"title": "Weather", "day": datetime.date(2026, 11, 3), "text": "no", "tags": ["a", {"b": 1}], 7: "n"}
    template = "{% for d in documents %}{{ d.title }} {{ d.day }} {{ d.tags[1].b }} {{ d[7] }} {{ d.text }}{% endfor %}"
    made = Assembler(strategy=FittedTemplate(template)).add_knowledge("Oslo", type="rag", metadata=metadata)
    assert made.build().system == "Weather 2026-11-03 1 n Oslo"


@pytest.mark.parametrize(("own", "metadata", "shown"), [("a", "b", "a"), (None, "b", "b"), (None, None, "None")])
def test_a_source_of_the_metadata_counts_if_the_document_has_none(
    own: str | None, metadata: str | None, shown: str
) -> None:
    given_metadata = None if metadata is None else {"source": metadata}
    made = Assembler(strategy=FittedTemplate("{% for d in documents %}{{ d.source }}{% endfor %}"))
    assert made.add_knowledge("x", type="rag", source=own, metadata=given_metadata).build().system == shown


def test_fields_may_be_those_of_another_framework_or_a_text() -> None:
    haystack = "{% for d in documents %}{{ d.content }} ({{ d.meta.source }}){% endfor %}"
    strategy = FittedTemplate(haystack, fields=lambda d: {"content": d.text, "meta": {"source": d.source}})
    assert assembled(strategy, ["Oslo"], None, None).build().system == "Oslo (f0)"
    strategy = FittedTemplate("{documents}", fields=lambda d: f"{d.source}: {d.text}")
    assert assembled(strategy, ["Oslo", "Rome"], None, None).build().system == "f0: Oslo\n\nf1: Rome"


def test_the_order_is_best_first_or_another_one() -> None:
    template = "{% for d in documents %}{{ d.text }}{% endfor %}"
    shown = {}
    for order in (Order.SCORE, Order.GIVEN, Order.EDGES_FIRST, lambda found: [*reversed(found)]):
        made = Assembler(strategy=FittedTemplate(template, order=order))
        for text, score in (("a", 0.1), ("b", 0.9), ("c", 0.5)):
            made.add_knowledge(text, type="rag", score=score)
        shown[order if isinstance(order, Order) else "own"] = made.build().system
    assert shown == {Order.SCORE: "bca", Order.GIVEN: "abc", Order.EDGES_FIRST: "bac", "own": "acb"}
    assert FittedTemplate(template).in_order(sorted) == FittedTemplate(template, order=sorted)


def test_a_document_that_the_template_does_not_print_is_no_source() -> None:
    template = "{% for d in documents[:2] %}{{ d.text|truncate(9) }}\n{% endfor %}{{ documents|length > 1 }}"
    context = assembled(
        FittedTemplate(template), ["Oslo is wet and cold", "Rome", "Bonn", "Rome"], None, 10_000
    ).build()
    assert places(context) == [0, 1]
    rows = [(row.name, row.before, row.reason) for row in context.report.rows if row.outcome == "dropped"]
    assert rows == [(name, 0, "not printed by the template") for name in ("f2", "f3")]


def test_a_template_that_prints_other_letters_prints_its_documents() -> None:
    template = "{% for d in documents %}{{ d.text|upper }}\n{% endfor %}"
    assert places(assembled(FittedTemplate(template), ["Oslo", "Rome", "Rome"], None, None).build()) == [0, 1, 2]


def test_nothing_in_a_document_or_question_is_run() -> None:
    text = "{{ 7 * 7 }} {% for x in y %} {question}"
    for template in (LISTING, F_STRINGS["f-string"]):
        context = assembled(FittedTemplate(template), [text], text, None).build()
        assert context.messages[0]["content"] == oracle(template, [("f0", text)], text)


# ── what the report says


def test_each_document_has_a_row_with_its_line_and_the_words_of_the_template_theirs() -> None:
    template = ValidatedPromptTemplate("rag\n prompt", LISTING)
    given_texts = ["Oslo & rain", "Rome", "in two\nlines"]
    made = assembled(FittedTemplate(template), given_texts, "So?", None, "plain").add_instruction("Be brief.")
    rows = {}
    for row in made.build().report.rows:
        rows.setdefault((row.region, row.name), []).append(row.after)
    lines = [f"[{number}] f{number - 1}: {text}\n" for number, text in enumerate(given_texts, 1)]
    assert [rows["knowledge", f"f{place}"] for place in range(2)] == [[COUNT(line)] for line in lines[:2]]
    assert rows["knowledge", "f2"] == [COUNT(f"{lines[2]}\n")]
    assert len(rows["instruction", "template rag prompt"]) == 2
    assert rows["instruction", "instruction"] == [COUNT("Be brief.")]


BEFORE, AFTER = "Q: {{ question }}\n%s", "%sQ: {{ question }}"


@pytest.mark.parametrize(("form", "question"), [(BEFORE, "So?"), (AFTER, "So?"), (AFTER, "rain")])
def test_a_document_that_repeats_the_question_stays_in_one_row(form: str, question: str) -> None:
    template = form % "{% for d in documents %}- {{ d.text }}\n{% endfor %}"
    context = assembled(FittedTemplate(template), ["So? rain. So?", "rain"], question, None).build()
    names = [row.name for row in context.report.rows if row.region == "knowledge"]
    assert names == ["f0", "f1"]


LONG = "word " * 12

CUTS: dict[str, tuple[str, str, list[str], list[tuple[str, str]]]] = {
    "each on its lines": (
        "Use:\n1 a\n2 b\n\nQ: ",
        "Use:\n\nQ: ",
        ["a", "b"],
        [("words", "Use:\n"), ("d0", "1 a\n"), ("d1", "2 b\n\n"), ("words", "Q: ")],
    ),
    "the same text twice": ("- a\n- a\n", "", ["a", "a"], [("d0", "- a\n"), ("d1", "- a\n")]),
    "two in a line": ("- a; b\n- c\n", "", ["a", "b", "c"], [("2 documents", "- a; b\n"), ("d2", "- c\n")]),
    "in one line with the words": ("Use: a. Q: ", "Use: Q: ", ["a"], [("d0", "Use: a. Q: ")]),
    "before a blank": ("a\n b\nc\n", "", ["a", "b", "c"], [("2 documents", "a\n b\n"), ("d2", "c\n")]),
    "escaped": (
        "<d>a &amp; b</d>\n<d>c</d>\n",
        "",
        ["a & b", "c"],
        [("d0", "<d>a &amp; b</d>\n"), ("d1", "<d>c</d>\n")],
    ),
    "without the blanks around": ("- a\n- b\n", "", ["  a\n\n", "b"], [("d0", "- a\n"), ("d1", "- b\n")]),
    "shortened": (f"{LONG[:45]}…\n- b\n", "", [LONG, "b"], [("d0", f"{LONG[:45]}…\n"), ("d1", "- b\n")]),
    "shortened, with a mark": (f"<{LONG[:45]}\nb", "", [f"<{LONG}", "b"], [("d0", f"<{LONG[:45]}\n"), ("d1", "b")]),
    "escaped and shortened": (
        f"&lt;{LONG[:45]}…\nb\n",
        "",
        [f"<{LONG}", "b"],
        [("d0", f"&lt;{LONG[:45]}…\n"), ("d1", "b\n")],
    ),
    "escaped, in two lines": (f"{LONG}&lt;\nb\nc", "", [f"{LONG}<\nb", "c"], [("d0", f"{LONG}&lt;\nb\n"), ("d1", "c")]),
    "the first in other letters": ("A\nb\nc\n", "", ["a", "b", "c"], [("2 documents", "A\nb\n"), ("d2", "c\n")]),
    "the last in other letters": ("a\nb\nC\n", "", ["a", "b", "c"], [("d0", "a\n"), ("2 documents", "b\nC\n")]),
    "all in other letters": ("A\nB\n", "", ["a", "b"], [("2 documents", "A\nB\n")]),
    "no document": ("Use:\nQ: ", "Use:\nQ: ", [], [("words", "Use:\nQ: ")]),
    "like the words": ("x\nx\nx\n", "x\nx\n", ["x"], [("words", "x\nx\n"), ("d0", "x\n")]),
    "in place of other words": (
        "Use:\na\nQ: ",
        "Use:\nnone\nQ: ",
        ["a"],
        [("words", "Use:\n"), ("d0", "a\n"), ("words", "Q: ")],
    ),
}


@pytest.mark.parametrize("name", CUTS)
def test_a_prompt_is_cut_after_the_line_in_which_a_document_ends(name: str) -> None:
    text, bare, found, expected = CUTS[name]
    pieces = cut_prompt(text, bare, [Titled(f"d{place}", each) for place, each in enumerate(found)], "words")
    assert [(piece.name, piece.text) for piece in pieces] == expected
    assert {piece.region for piece in pieces if piece.name == "words"} <= {"instruction"}
    assert {piece.region for piece in pieces if piece.name != "words"} <= {"knowledge"}


def test_pieces_that_do_not_meet_where_counts_add_are_joined_and_are_knowledge_if_either_is() -> None:
    words, document = Piece("instruction", "words", "Use: "), Piece("knowledge", "d0", "/a")
    for given_pieces, expected in (
        ([words, document], ("knowledge", "words, d0", "Use: /a")),
        ([document, words], ("knowledge", "d0, words", "/aUse: ")),
        ([words, words], ("instruction", "words", "Use: Use: ")),
    ):
        [joined] = join_where_counts_do_not_add(given_pieces)
        assert (joined.region, joined.name, joined.text) == expected


def test_a_limit_on_knowledge_is_one_on_the_documents() -> None:
    given_texts = ["a" * 10, "b" * 10, "c" * 10]
    for cap, stay in ((60, 3), (59, 2), (40, 2), (39, 1), (20, 1), (19, 0)):
        template = "Some words.\n{% for d in documents %}- {{ d.text }}{{ '.' * 7 }}\n{% endfor %}Q: {{ question }}"
        made = assembled(
            FittedTemplate(template),
            given_texts,
            "So?",
            1_000,
            model=None,
            counter=len,
            limits={"knowledge": Limit(cap=cap)},
        )
        assert len(made.build().sources) == stay, cap


words = st.sampled_from(["a", "b\n", "\n", " ", "/x", "<&>", "\n\nc", "dd\n"])


@given(st.lists(words, max_size=12).map("".join), st.lists(words, max_size=6).map("".join), st.lists(words, max_size=4))
def test_pieces_of_any_prompt_are_all_of_it_and_meet_where_counts_add(text: str, bare: str, found: list[str]) -> None:
    pieces = cut_prompt(text, bare, [Titled(f"d{place}", each) for place, each in enumerate(found)], "words")
    assert "".join(piece.text for piece in pieces) == text
    assert all(piece.text for piece in pieces)
    for one, following in itertools.pairwise(pieces):
        assert one.text.endswith("\n")
        assert following.text[0] not in "\n\r \t/"


# ── what is refused


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"template": "{question}"}, "no variable 'documents'.*documents="),
        ({"template": "{context} {question}", "documents": "contexts"}, "no variable 'contexts'"),
        ({"template": "{question}", "documents": "question"}, "no variable 'question'"),
        ({"template": "{documents} {rubric_text} {summary}"}, r"a value for: rubric_text, summary; .*partial\("),
        ({"template": "{documents}", "order": 3}, "an Order such as"),
        ({"template": "{documents}", "fields": 3}, "a function from a document"),
        ({"template": "{documents}", "question": None}, "question: expected"),
        ({"template": 3}, "template: expected"),
        ({"template": "{% for %}"}, "line 1"),
    ],
)
def test_what_is_no_such_template_is_refused(options: dict[str, Any], expected: str) -> None:
    with pytest.raises((PromptError, BudgetError), match=expected):
        FittedTemplate(**options)


def test_other_variables_have_the_values_of_the_template_and_a_bound_question_is_not_asked() -> None:
    template = ValidatedPromptTemplate("t", "{summary}: {context} {question}").partial(summary="Weather")
    context = assembled(FittedTemplate(template, documents="context"), ["Oslo"], "So?", None).build()
    assert context.messages[0]["content"] == "Weather: Oslo So?"
    bound = FittedTemplate(template.partial(question="Bound?"), documents="context")
    assert assembled(bound, ["Oslo"], "So?", None).build().system == "Weather: Oslo Bound?"
    assert FittedTemplate(Prompt("{documents}", name="a.md")).template.name == "a.md"  # type: ignore[union-attr]


def test_an_error_in_the_template_has_its_line_and_quotes_no_document() -> None:
    made = assembled(FittedTemplate("\n{% for d in documents %}{{ d.title }}{% endfor %}"), ["secret"], "q", 1_000)
    with pytest.raises(PromptError, match="'prompt', line 2: UndefinedError") as raised:
        made.build()
    assert "secret" not in str(raised.value)
    assert raised.value.__cause__ is None


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("secret")


def test_metadata_that_cannot_be_printed_is_an_error_of_this_library() -> None:
    loop: list[Any] = []
    loop.append(loop)
    for value, problem in ((Unprintable(), "a method of its own raised RuntimeError"), (loop, "nested deeper than")):
        made = Assembler(strategy=FittedTemplate("{% for d in documents %}{{ d.text }}{% endfor %}"))
        with pytest.raises(PromptError, match=problem) as raised:
            made.add_knowledge("x", type="rag", metadata={"it": value}).build()
        assert "secret" not in str(raised.value)


@pytest.mark.parametrize("template", [LISTING, F_STRINGS["f-string"]])
def test_a_document_longer_than_the_template_may_print_does_not_fit(template: str) -> None:
    limited = ValidatedPromptTemplate("t", template, max_characters=200)
    context = assembled(FittedTemplate(limited), ["b" * 9, "a" * 500, "c" * 9], "So?", 100_000).build()
    assert places(context) == [0, 2]
    with pytest.raises(PromptError, match="max_characters"):
        assembled(FittedTemplate(limited), ["a" * 500], "So?", None).build()


def test_a_loop_too_long_leaves_documents_out_and_any_other_fault_does_not() -> None:
    looping = "{% for d in documents %}{{ d.text }}{% for i in range(40000) %}{% endfor %}\n{% endfor %}"
    assert places(assembled(FittedTemplate(looping), ["a", "b", "c"], "So?", 1_000).build()) == [0, 1]
    for faulty in ("{{ documents|map(attribute='text') }}", "{{ documents[0].text }}"):
        with pytest.raises(PromptError, match="line 1"):
            assembled(FittedTemplate(faulty), ["a", "b", "c"], "So?", 1_000).build()


# ── what it costs, and where it is named


def test_each_line_is_counted_a_few_times_at_most() -> None:
    counted_characters = 0

    def counter(text: str) -> int:
        nonlocal counted_characters
        counted_characters += len(text)
        return len(text)

    counter.additive_at_tag_seams = True  # type: ignore[attr-defined]
    given_texts = [f"{place} " + "x" * 200 for place in range(200)]
    made = assembled(FittedTemplate(LISTING), given_texts, "So?", 20_000, model=None, counter=counter)
    assert 80 < len(made.build().sources) < 100
    assert counted_characters < 3 * sum(map(len, given_texts))


def test_it_renders_about_once_for_each_document_that_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rendered, original = 0, ValidatedPromptTemplate.format

    def counting(self: ValidatedPromptTemplate, /, **values: object) -> Prompt:
        nonlocal rendered
        rendered += 1
        return original(self, **values)

    monkeypatch.setattr(ValidatedPromptTemplate, "format", counting)
    for count, window in ((300, 100_000_000), (100, 10_000)):
        rendered = 0
        made = assembled(FittedTemplate(LISTING), ["x" * 200] * count, "So?", window, model=None, counter=len)
        left_out = count - len(made.build().sources)
        assert rendered <= 2 * left_out + 2 * math.log2(count) + 8


def test_a_request_file_can_name_it_with_its_template() -> None:
    place = Place("bot.yaml").key("strategy")
    options = {"template": "{context} {query}", "question": "query", "documents": "context", "order": "given"}
    found = read_strategy(place, {"fitted_template": options})
    assert found == FittedTemplate("{context} {query}", "query", "context", Order.GIVEN)


@pytest.mark.parametrize("dialect", ["plain", "openai_chat"])
@scaled(0.3)
@given(
    before=st.sampled_from([" ", "\n", "  "]),
    question=st.sampled_from(["naïve", "Über", "ok", "1"]) | st.text("aï1 \n"),
)
@example(" ", "naïve")
def test_a_blank_before_the_question_costs_what_it_costs_in_the_request(
    dialect: str, before: str, question: str
) -> None:
    """It may make the tokens of the question fewer than they are alone."""
    made = Assembler(Budget(1_000), dialect=dialect, strategy=FittedTemplate("{documents}" + before + "{question}"))
    context = made.add_message(("user", question)).build()
    counted = count_request(context.request(), dialect=dialect, counter=COUNT)
    assert context.count == counted
    assert context.costs.total == counted.tokens
    tight = Assembler(
        Budget(counted.upper), dialect=dialect, strategy=FittedTemplate("{documents}" + before + "{question}")
    )
    assert tight.add_message(("user", question)).build().request() == context.request()
