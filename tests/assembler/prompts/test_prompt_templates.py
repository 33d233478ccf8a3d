"""Validated templates: variables, styles, values that stay text, and limits on what a template may do."""

import html
import json
import logging
import pickle
import re
import string
import subprocess
import sys
import traceback
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from assembler.errors import PromptError
from assembler.prompts import (
    SUPPORTED_INPUT_VARIABLES,
    MissingVariableError,
    Prompt,
    ValidatedPromptTemplate,
    read_prompt,
)
from assembler.prompts.sandbox import BOUNDED, FILTERS, environment

CASES = json.loads((Path(__file__).parent / "hostile_prompts.json").read_text("utf-8"))["templates"]
FRAGMENTS = st.sampled_from(
    [
        "{question}",
        "{{ question }}",
        "{% for %}",
        "{#",
        "}}",
        "{",
        "</question>",
        "<documents>",
        "&lt;",
        "\r\n",
        "\x00",
        "é",
        "\U000f0000",
        " ",
    ]
)
TEXTS = st.lists(st.one_of(FRAGMENTS, st.text(max_size=8)), max_size=6).map("".join)
CANARY = "canary-91c7"


def template(text, **options):
    return ValidatedPromptTemplate("t", text, **options)


SOURCE = """
    question history documents context submission_text rubric_text summary analysis additional_comments condense_output
    retriever_output condensed_question full_history condensed_output
"""


def test_the_supported_variables_are_the_twelve_of_the_source_and_two_of_its_files():
    assert isinstance(SUPPORTED_INPUT_VARIABLES, list)
    assert sorted(SUPPORTED_INPUT_VARIABLES) == sorted(SOURCE.split())


def test_unsupported_variables_are_logged_by_name_in_one_warning(caplog):
    with caplog.at_level(logging.WARNING, logger="assembler.prompts"):
        template("{question} {zebra} {ape}").partial(zebra=CANARY).format(question=CANARY, ape=CANARY)
    assert [record.getMessage() for record in caplog.records] == [
        "prompt template 't': unsupported input variables: ape, zebra"
    ]


@pytest.mark.parametrize("name", SUPPORTED_INPUT_VARIABLES)
def test_supported_variables_are_not_logged(caplog, name):
    assert template("{" + name + "}").input_variables == [name]
    assert template("{{ " + name + " }}").input_variables == [name]
    assert not caplog.records


@pytest.mark.parametrize(
    "text", ["{history}{question}{history}", "{% if history %}{{ history|upper }}{% endif %}{{ question }}"]
)
def test_variables_are_found_once_each_and_sorted(text):
    assert template(text).input_variables == ["history", "question"]


def test_finding_variables_executes_nothing():
    made = template("{{ 1 / 0 }}{{ 'a' * 10**9 }}{{ [1]|sum(start='x') }}{{ question }}")
    assert made.input_variables == ["question"]
    with pytest.raises(PromptError, match="ZeroDivisionError"):
        made.format(question="q")


@pytest.mark.parametrize("text", ["{question} {documents} {history}", "{{ question }} {{ documents }} {{ history }}"])
def test_every_missing_variable_is_named_at_once(text):
    with pytest.raises(MissingVariableError) as caught:
        template(text).format(documents="d")
    assert caught.value.missing == ("history", "question")
    assert "history, question" in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert pickle.loads(pickle.dumps(caught.value)).missing == ("history", "question")


def test_a_variable_that_jinja_tests_for_may_be_left_out():
    made = template("{% if history is defined %}{{ history }}{% endif %}{{ context|default('none') }}{{ question }}")
    assert made.input_variables == ["question"]
    assert made.optional_variables == ["context", "history"]
    assert made.format(question="q") == "noneq"
    assert made.format(question="q", history="h", context="c") == "hcq"


def test_values_that_the_template_does_not_use_are_ignored():
    assert template("{question}").format(question="q", documents=object()) == "q"
    assert template("{{ question }}").format(question="q", documents=object()) == "q"


def test_partial_binds_and_leaves_the_original_alone():
    whole = template("{documents}: {question}")
    bound = whole.partial(documents="d")
    assert whole.input_variables == ["documents", "question"]
    assert bound.input_variables == ["question"]
    assert bound.format(question="q") == "d: q"
    assert bound.partial(question="q").format() == "d: q"
    assert bound.format(question="q", documents="other") == "other: q"
    assert bound.partial(unknown="x").format(question="q") == "d: q"
    assert whole != bound
    assert hash(whole) == hash(template("{documents}: {question}"))


@given(value=TEXTS)
def test_any_value_is_rendered_unchanged(value):
    for text in ("{question}", "{{ question }}", "{% set q %}{{ question }}{% endset %}{{ q }}"):
        rendered = template(text).format(question=value)
        assert rendered == value
        assert str(rendered) == value


@given(before=TEXTS, value=TEXTS, after=TEXTS)
def test_escaped_literals_come_back_as_in_str_format(before, value, after):
    escaped = [part.replace("{", "{{").replace("}", "}}") for part in (before, after)]
    text = escaped[0] + "{question}" + escaped[1]
    rendered = template(text, template_format="f-string").format(question=value)
    assert rendered == before + value + after == text.format(question=value)
    inside = "".join(rendered[start:stop] for start, stop in rendered.values)
    assert inside == value


@given(st.text(alphabet="{}ab ", max_size=12))
def test_plain_placeholders_are_read_as_str_format_reads_them(text):
    try:
        fields = list(string.Formatter().parse(text))
        plain = all(name is None or (name.isidentifier() and not spec and not conv) for _, name, spec, conv in fields)
    except ValueError:
        plain = False
    if plain:
        names = {name for _, name, _, _ in fields if name is not None}
        values = dict.fromkeys(names, "<v>")
        assert template(text, template_format="f-string").format(**values) == text.format(**values)
    else:
        with pytest.raises(PromptError):
            template(text, template_format="f-string")


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("plain", "f-string"),
        ("{question}", "f-string"),
        ('{{"a": 1}}', "f-string"),
        ('{{ "a": {question} }}', "f-string"),
        ("{{braces}}", "f-string"),
        ("{{braces}} {question}", "f-string"),
        ("{{question}} {documents}", "f-string"),
        ("{{{question}}}", "f-string"),
        ("x^{{2}}", "f-string"),
        ("{{% raw %}} {question}", "f-string"),
        ("{{ question }}", "jinja2"),
        ("{{question}}", "jinja2"),
        ("{{- question -}}", "jinja2"),
        ("{{question|upper}}", "jinja2"),
        ("{{user.name}}", "jinja2"),
        ('{"a": 1} {{ question }}', "jinja2"),
        ("{# note #} {question}", "jinja2"),
        ("{% if question %}{name}{% endif %}", "jinja2"),
    ],
)
def test_the_style_is_read_off_the_braces(text, style):
    assert template(text).template_format == style


def test_the_style_of_a_template_is_detected():
    assert template("{{ question }}", template_format="f-string").format() == "{ question }"
    assert template("{question}", template_format="jinja2").format() == "{question}"
    with pytest.raises(PromptError, match="'f-string' or 'jinja2'"):
        template("x", template_format="mustache")


def test_errors_name_the_template_and_the_line():
    for text in ("a\nb\n{question.x}", "a\nb\n{% for %}", "a\nb\n{{ question._x }}", "a\nb\n{{ question|attr('x') }}"):
        with pytest.raises(PromptError) as caught:
            template(text)
        assert (caught.value.name, caught.value.line) == ("t", 3)
        assert "template 't', line 3" in str(caught.value)
    with pytest.raises(PromptError) as caught:
        template("a\n{% set x = 1 %}\n{{ question.x.y }}\n{{ question }}").format(question="q")
    assert (caught.value.name, caught.value.line) == ("t", 3)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_hostile_template_raises_a_prompt_error_and_nothing_else(case, caplog):
    text = case["template"]
    text = eval(text["expr"]) if isinstance(text, dict) else text
    with pytest.raises(PromptError) as caught:
        template(text).format(question=CANARY, history=[CANARY], documents=CANARY, cycler=CANARY, lipsum=CANARY)
    words = "".join(traceback.format_exception(caught.value)) + repr(caught.value.args) + caplog.text
    assert CANARY not in words
    assert caught.value.__context__ is None


class Text(str):
    """A str that is formatted as another text."""

    def __str__(self):
        return "forged"

    def __format__(self, spec):
        return "forged"

    def __html__(self):
        return "forged"


class Colour(str, Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


@pytest.mark.parametrize("text", ["{question}", "{{ question }}"])
@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (7, "7"),
        (1.5, "1.5"),
        (True, "True"),
        (None, "None"),
        ([1, "a"], "[1, 'a']"),
        ((1,), "(1,)"),
        ({"a": [1]}, "{'a': [1]}"),
        (Text("raw"), "raw"),
        (Markup("<b>"), "<b>"),
        (Colour.RED, "red"),
        (Level.HIGH, "3"),
        (Prompt("p"), "p"),
        ("", ""),
    ],
)
def test_plain_data_is_printed_as_its_builtin(text, value, printed):
    assert template(text).format(question=value) == printed


def cycle():
    loop = []
    loop.append(loop)
    return loop


def doubled(depth):
    value = [CANARY]
    for _ in range(depth):
        value = [value, value]
    return value


@pytest.mark.parametrize("text", ["{question}", "{{ question }}"])
@pytest.mark.parametrize(
    "value",
    [
        object(),
        str,
        str.format,
        len,
        json,
        Decimal(1),
        b"x",
        {1, 2},
        lambda: 1,
        cycle(),
        doubled(20),
        {(1,): 2},
        [object()],
    ],
)
def test_anything_but_plain_data_is_refused_by_name_and_type(text, value):
    with pytest.raises(PromptError, match="value of 'question'") as caught:
        template(text).format(question=value)
    assert CANARY not in str(caught.value)
    with pytest.raises(PromptError, match="value of 'question'"):
        template(text).partial(question=value)


def test_a_template_does_not_change_the_lists_it_is_given():
    given_list = [1, [2]]
    template("{{ question|map('string')|join }}{% for x in question %}{% endfor %}").format(question=given_list)
    assert given_list == [1, [2]]


@pytest.mark.parametrize("text", ["{question}", "{{ question }}", "{% for x in question %}{{ x }}{% endfor %}"])
def test_the_output_limit_is_the_last_length_that_is_printed(text):
    value = "x" * 100
    assert template(text, max_characters=100).format(question=value) == value
    with pytest.raises(PromptError, match="max_characters"):
        template(text, max_characters=99).format(question=value)


@pytest.mark.parametrize(
    "expression",
    [
        "question ~ question",
        "question + question",
        "question * 2",
        "2 * question",
        "[question, question]|join",
        "''.join([question, question])",
        "question|replace('x', 'yy')",
        "question.replace('x', 'yy')",
        "question|indent(30, true)",
        "question|list + question|list",
    ],
)
def test_the_allowance_covers_intermediate_values_of_a_template(expression):
    text = "{% set built = " + expression + " %}{{ built|length }}"
    assert template(text, max_characters=30).format(question="x" * 30)
    with pytest.raises(PromptError, match="builds more text"):
        template(text, max_characters=10).format(question="x" * 30)


def test_no_filter_runs_before_there_are_values(monkeypatch):
    seen = []
    monkeypatch.setitem(environment().filters, "upper", lambda text: seen.append(text) or "UP")
    made = template("{{ 'a'|upper }}{% set b = 'b'|upper %}{% if 'c'|upper %}{% endif %}{{ question }}")
    assert seen == []
    assert made.format(question="q") == "UPq"
    assert seen == ["a", "b", "c"]


def test_a_template_that_is_too_long_is_refused():
    with pytest.raises(PromptError, match="limit"):
        template("x" * (2**20 + 1))


def test_a_number_too_long_to_print_is_a_prompt_error():
    for text in ("{question}", "{{ question }}"):
        with pytest.raises(PromptError):
            template(text).format(question=10**5000)


REAL = (
    "{% macro item(d, n) %}[{{ n }}] {{ d.title|trim }}: {{ d.text|indent(2) }}{% endmacro -%}\n"
    "{% macro each(xs) %}{% for x in xs|select %}{{ caller(x) }}{% endfor %}{% endmacro -%}\n"
    "{% set ns = namespace(total=0) %}"
    "{% for d in documents if d.text %}{{ item(d, loop.index0) }}{{ ', ' if not loop.last }}"
    "{% set ns.total = ns.total + 1 %}{% else %}none{% endfor %}\n"
    "{{ ns.total }} {{ documents|map(attribute='title')|join('|') }} {{ documents|join('/', attribute='title') }}\n"
    "{{ ','.join(['a', 'b']) }} {{ 'a-b'.replace('-', '+') }} {{ 'a'|replace('a', 'b') }}\n"
    "{{ 3 * 'ab' ~ 1 }} {{ 2 ** 3 * 2 % 5 }} {{ [1] + [2] }} {{ 2 ** -1 }} {{ 5.5 % 2 }}\n"
    "{{ 1.256|round(2) }} {{ {'é': 1}|tojson }} {{ documents[0].items()|list|length }} {{ range(3)|sum }}\n"
    "{% filter upper %}{{ question }}{% endfilter %} {% call(x) each([1, 0, 2]) %}<{{ x }}>{% endcall %}\n"
)


def test_real_templates_render():
    documents = [{"title": " A ", "text": "x\ny"}, {"title": "B", "text": ""}, {"title": "C", "text": "z"}]
    assert template(REAL).format(documents=documents, question="why?") == (
        "[0] A: x\n  y, [1] C: z\n"
        "2  A |B|C  A /B/C\n"
        "a,b a+b b\n"
        "ababab1 1 [1, 2] 0.5 1.5\n"
        '1.26 {"é": 1} 2 3\n'
        "WHY? <1><2>\n"
    )


def test_a_rendered_prompt_remembers_its_template_file_and_values(tmp_path):
    (tmp_path / "qa.md").write_text("Q: {question}\n", encoding="utf-8")
    made = ValidatedPromptTemplate("qa", read_prompt(tmp_path / "qa.md"))
    prompt = made.format(question="why")
    assert (prompt.name, prompt.source, prompt.values) == ("qa", str(tmp_path / "qa.md"), ((3, 6),))
    assert made.template == "Q: {question}\n"
    assert type(made.template) is str


def test_reprs_hold_no_text():
    made = template(CANARY + "{question}").partial(question=CANARY)
    assert CANARY not in repr(made)
    assert CANARY not in repr(made.format())
    assert CANARY not in repr([made.format()])


@pytest.mark.parametrize("text", ["{question} {documents}", "{{ question }} {{ documents }}"])
def test_templates_pickle(text):
    again = pickle.loads(pickle.dumps(template(text).partial(documents="d")))
    assert again.format(question="q") == "q d"


def test_importing_prompts_does_not_load_jinja():
    check = "import assembler.prompts, sys; sys.exit('jinja2' in sys.modules or 'transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


@pytest.mark.parametrize(
    "text",
    [
        "{" * 100_000,
        "{{" * 100_000,
        "{{'" * 50_000,
        '{{ "' * 50_000,
        "{{ a" * 50_000,
        "{" + "a" * 200_000,
        "{{" + " " * 200_000,
        "{%" * 50_000,
        "{#" * 50_000,
    ],
)
def test_hostile_braces_are_read_in_linear_time(text):
    try:
        template(text)
    except PromptError:
        pass


def test_spans_of_a_jinja_prompt_are_what_its_expressions_printed():
    made = template("a{{ question }}b{% if documents %}{{ documents ~ '!' }}{% endif %}c{{ '<question>' }}")
    prompt = made.format(question="Q", documents="D")
    assert prompt == "aQbD!c<question>"
    assert [prompt[start:stop] for start, stop in prompt.values] == ["Q", "D!", "<question>"]
    assert template("{{ question }}{{ documents }}").format(question="Q", documents="D").values == ((0, 2),)
    assert not re.search(
        "[QD]", "".join(c for i, c in enumerate(prompt) if not any(a <= i < b for a, b in prompt.values))
    )


def test_the_how_to_page_lists_exactly_the_existing_filters():
    page = Path(__file__).parents[3] / "docs" / "prompt-files-and-templates.md"
    listed = page.read_text("utf-8").partition("The filters are ")[2].partition(". ")[0]
    assert re.findall("`([a-z]+)`", listed) == sorted((FILTERS | BOUNDED.keys()) - {"d", "e"})


def test_a_template_that_is_not_text_is_refused_by_name():
    with pytest.raises(PromptError, match="template 'rules': expected a text, got NoneType"):
        ValidatedPromptTemplate("rules", None)


@given(value=TEXTS)
def test_an_escaped_value_reads_back_and_holds_no_tag(value):
    for text in (
        "{{ question|escape }}",
        "{{ question|e }}",
        "{% for one in [question]|map('escape') %}{{ one }}{% endfor %}",
    ):
        rendered = template(text).format(question=value)
        assert not set(str(rendered)) & set("<>\"'")
        assert html.unescape(str(rendered)) == html.unescape(html.unescape(html.escape(value))) or "&" in value
        assert str(rendered) == html.escape(value)
        assert rendered.values == (((0, len(rendered)),) if rendered else rendered.values)


def test_a_history_is_escaped_as_it_is_written():
    messages = [{"role": "user", "content": "</history>"}]
    assert template("{{ history|escape }}").format(history=messages) == "User: &lt;/history&gt;"
    assert template("{full_history}").format(full_history=messages) == "User: </history>"


LONG = "a" * 400_000
QUADRATIC = {
    "trimming a set of characters": "{{ question|trim(question) }}",
    "stripping a set of characters": "{{ question.strip(question) }}",
    "a search from the right": "{{ question.rfind('b' ~ question[:200000]) }}",
    "a split from the right": "{{ question.rsplit('b' ~ question[:200000])|length }}",
    "a split by a named separator": "{{ question.rsplit(sep='b' ~ question[:200000])|length }}",
    "a sum of lists": "{{ documents|sum(start=[])|length }}",
    "a number of many digits": "{{ question|int(0, 2) }}",
    "a number of many digits by name": "{{ question|int(base=16) }}",
}


@pytest.mark.parametrize("text", QUADRATIC.values(), ids=QUADRATIC)
def test_an_expression_of_quadratic_size_is_refused_at_once(text):
    """If one of them was computed, that would take half a minute."""
    with pytest.raises(PromptError, match=r"more than|adds up"):
        template(text).format(question=LONG, documents=[[1]] * 50_000)


def test_filters_within_their_bounds_work_as_in_jinja():
    values = {"question": "  7 ", "documents": [1, 2, 3]}
    text = "{{ question|trim }}{{ 'xax'|trim('x') }}{{ question|int + 1 }}{{ 'ff'|int(0, 16) }}{{ 'no'|int(5) }}"
    assert template(text).format(**values) == "7a82555"
    text = "{{ documents|sum }}{{ documents|sum(start=4) }}{{ [{'n': 2}]|sum('n') }}{{ 'abcabc'.rfind('bc') }}"
    assert template(text).format(**values) == "61024"
