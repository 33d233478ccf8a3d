"""Every spelling in every dialect: each text is sent once, without another API's parts, or noted."""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assembler import Assembler, AssemblyError, Context, Truncate, UnsupportedContentError, count_request, verify
from assembler.dialects import DIALECTS, Dialect
from assembler.dialects.chat_template.dialect import ControlText, chat_template
from assembler.drawn.spelling import SPELLINGS, Medium
from assembler.policies import Policy
from budgets import Budget
from tests.assembler.one_price import (
    LADDERS,
    OF_EACH,
    SHARES,
    Api,
    assembled,
    costs_its_request,
    costs_its_request_whole_and_cut,
)
from tests.scaled import scaled

from .decorated import FORMS, PNG, Drawn, decorated, marks
from .dialects.test_chat_template import TOKENIZERS

TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "any", "parameters": {"type": "object", "properties": {}}},
}
# Drawn arguments hold control tokens: what is done about those is tested with the templates.
_TEMPLATE = chat_template(TOKENIZERS["chatml"], control_text=ControlText.ALLOW)
EVERY: dict[str, Dialect] = {**DIALECTS, "chat_template": _TEMPLATE}
IMAGE = {"type": "image_url", "image_url": {"url": "https://a.example/i.png"}, "width": 8, "height": 8}
MAY_BE_REFUSED: dict[str, Medium] = {"image": "image", "paper": "document", "shown": "image"}
"""What an API may have no word for: then it is refused, typed."""


def refuses(name: str, drawn: Drawn) -> bool:
    """Whether a medium was drawn that the dialect does not declare in its `drawn.py`."""
    media: frozenset[Medium] = SPELLINGS[name].media if name in SPELLINGS else frozenset()
    return any(MAY_BE_REFUSED[kind] not in media for kind in drawn.kinds & MAY_BE_REFUSED.keys())


@pytest.mark.parametrize("name", EVERY)
@scaled(0.3)
@given(drawn=st.sampled_from(FORMS).flatmap(decorated))
def test_every_part_of_a_history_is_sent_or_noted_as_left_out(name: str, drawn: Drawn) -> None:
    _is_sent_or_noted(name, drawn)


ONCE_LOST: dict[str, Any] = json.loads(Path(__file__).with_suffix(".lost.json").read_text("utf-8"))
"""What once was lost without a note, or could not be sent, each in its smallest history."""


@pytest.mark.parametrize("case", ONCE_LOST)
@pytest.mark.parametrize("name", EVERY)
def test_a_part_that_was_once_lost_without_a_note_is_sent_or_noted(name: str, case: str) -> None:
    found = ONCE_LOST[case]
    _is_sent_or_noted(name, Drawn(found["form"], found["history"], frozenset(found["kinds"]), marks(found["history"])))


def _is_sent_or_noted(name: str, drawn: Drawn) -> None:
    before = copy.deepcopy(drawn.history)
    assembler = Assembler(dialect=EVERY[name]).add_capability([TOOL]).add_messages(drawn.history)
    try:
        context = assembler.build()
        request = context.request()
    except UnsupportedContentError:
        assert drawn.kinds & MAY_BE_REFUSED.keys()
        return
    assert drawn.history == before
    went, report = marks(request), str(context.report)
    if name == "chat_template":
        report += str(request["prompt"])
    assert went - drawn.marks == {}
    lost = drawn.marks - went
    assert not [mark for mark in lost if mark[0] == "m"]
    for letter in {mark[0] for mark in lost}:
        assert letter != "t" or ("reasoning" in report and (context.dropped or name == "chat_template"))
        assert letter != "f" or "left out" in report or (name == "chat_template" and _is_given(drawn, report))
        assert letter != "u" or ("part(s) of another API" in report and context.dropped)
    if name not in ("plain", "chat_template"):
        assert _fields_noted(context.notes()) >= sum(times for mark, times in lost.items() if mark[0] == "f")
        # Whose a part or a field is that nobody knows, the message around it may not say: then the choice of the
        # dialect does, and it goes to the API that was asked for as it came, with the marks that it carries itself.
        own_words: set[str] = NOT_KNOWN if drawn.kinds & MAY_BE_UNKNOWN else set()
        assert _broken_rules(request, name) <= own_words


def _is_given(drawn: Drawn, report: str) -> bool:
    """Whether a template gets what its text does not show: a field, or a cache mark, which no server reads there."""
    return "given to it" in report or "mark" in drawn.kinds


def _broken_rules(request: dict[str, Any], name: str) -> set[str]:
    """The rules that a request breaks. The time of a cache mark is as its caller wrote it, however nonsensical."""
    return {
        finding.rule for finding in verify(request, dialect=name) if not finding.where.endswith("cache_control.ttl")
    }


def _fields_noted(notes: Iterable[str]) -> int:
    """How many fields, cache marks, citations and signatures the notes say were left out."""
    lost = [note for note in notes if note.endswith("left out") and re.search("field|mark|citation|signature", note)]
    return sum(int(note.split()[0]) for note in lost)


MAY_BE_UNKNOWN = frozenset({"unread", "pair", "pair in parts", "own field", "own key", "caller", "signature"})
"""What no list of an API's own words has: where it is sent, the rules do not know it."""


@pytest.mark.parametrize("name", EVERY)
@scaled(0.3)
@given(drawn=st.sampled_from(FORMS).flatmap(decorated), home=st.sampled_from([*EVERY]))
def test_from_every_api_to_every_other_each_text_is_sent_or_noted_and_no_foreign_part_is_sent(
    name: str, drawn: Drawn, home: str
) -> None:
    context = _built(home, drawn)
    if context is None:
        return
    try:
        request, notes = context.request(EVERY[name]), " ".join(context.notes(EVERY[name]))
    except UnsupportedContentError:
        assert refuses(name, drawn) or "drawn" in drawn.kinds
        return
    went = marks(request)
    assert went - drawn.marks == {}
    for letter in {mark[0] for mark in drawn.marks - went}:
        assert letter != "m"
        assert NOTED[letter] in notes or name == "chat_template"
    if name not in OF_NO_API and home not in OF_NO_API:
        # A `cache_control` is Anthropic's word, so the message around it goes there as it came.
        own = name in (home, drawn.form) or (name == "anthropic" and "mark" in drawn.kinds)
        assert _broken_rules(request, name) <= (NOT_KNOWN if own else set())


MOST_BUILDS = 12
"""Builds on the way of a conversation that grows."""
NOT_KNOWN = {"G2", "S4", "S5"}
"""What the rules say of a part, an item or a field that they have in no list: an API may have it back all the same."""
NOTED = {"t": "reasoning", "f": "left out", "u": "part(s) of another API"}
OF_NO_API = ("plain", "chat_template")


def _built(home: str, drawn: Drawn) -> Context[Any] | None:
    assembler = Assembler(dialect=EVERY[home]).add_capability([TOOL]).add_messages(drawn.history)
    try:
        context = assembler.build()
        context.request()
    except UnsupportedContentError:
        assert refuses(home, drawn)
        return None
    return context


@pytest.mark.parametrize("dialect", OF_EACH)
@scaled(0.6)
@given(
    drawn=st.sampled_from(FORMS).flatmap(decorated),
    data=st.data(),
    schema=st.none() | st.just({"type": "object", "properties": {"answer": {"type": "string"}}}),
)
def test_any_history_costs_the_build_what_it_costs_the_request(
    dialect: str, drawn: Drawn, data: st.DataObject, schema: dict[str, Any] | None
) -> None:
    models = st.sampled_from([*SPELLINGS[dialect].models, *(api.model for api in OF_EACH[dialect])])
    api = Api(dialect, data.draw(models))
    try:
        context = assembled(api, drawn.history, schema=schema).build()
    except UnsupportedContentError:
        assert drawn.kinds & MAY_BE_REFUSED.keys()
        return
    costs_its_request(context, api)


@pytest.mark.parametrize("dialect", OF_EACH)
@scaled(0.3)
@given(drawn=st.sampled_from(FORMS).flatmap(decorated), data=st.data(), ladder=LADDERS, share=SHARES)
def test_any_history_costs_what_it_costs_the_request_whatever_gave_way(
    dialect: str, drawn: Drawn, data: st.DataObject, ladder: tuple[Policy, ...], share: float
) -> None:
    models = st.sampled_from([*SPELLINGS[dialect].models, *(api.model for api in OF_EACH[dialect])])
    try:
        costs_its_request_whole_and_cut(Api(dialect, data.draw(models)), drawn.history, ladder, share)
    except UnsupportedContentError:
        assert drawn.kinds & MAY_BE_REFUSED.keys()


LONG = " it is so" * 60
"""What a text is made longer by, in more than a hundred tokens."""
FORGETFUL = re.compile("claude-(sonnet|haiku|opus)-4-5|claude-3")
"""The models to which an API sends past reasoning unbilled."""


@pytest.mark.parametrize("dialect", OF_EACH)
@scaled(0.3)
@given(drawn=st.sampled_from(FORMS).flatmap(decorated), data=st.data())
def test_any_text_that_is_sent_is_in_the_bound(dialect: str, drawn: Drawn, data: st.DataObject) -> None:
    model = data.draw(st.sampled_from([*SPELLINGS[dialect].models, *(api.model for api in OF_EACH[dialect])]))
    try:
        context = assembled(Api(dialect, model), drawn.history).build()
    except UnsupportedContentError:
        return
    request = context.request()
    sent = sorted(marks(request))
    letters = {mark[0] for mark in sent if mark[0] in ("m" if FORGETFUL.search(model or "") else "mt")}
    assume(letters)  # a picture alone has no text
    letter = data.draw(st.sampled_from(sorted(letters)))
    mark = data.draw(st.sampled_from([mark for mark in sent if mark[0] == letter]))
    longer = count_request(_with_longer(request, mark), dialect=dialect, model=model)
    assert longer.upper >= context.count.upper + 100


def _with_longer(value: Any, mark: str) -> Any:
    if isinstance(value, str):
        return value.replace(mark, mark + LONG)
    if isinstance(value, dict):
        return {key: _with_longer(held, mark) for key, held in cast("dict[str, Any]", value).items()}
    return [_with_longer(held, mark) for held in cast("list[Any]", value)] if isinstance(value, list) else value


@pytest.mark.parametrize("dialect", OF_EACH)
@scaled(0.3)
@given(drawn=st.sampled_from(FORMS).flatmap(decorated), data=st.data())
def test_any_history_that_fits_as_it_is_sent_is_not_cut(dialect: str, drawn: Drawn, data: st.DataObject) -> None:
    model = data.draw(st.sampled_from([*SPELLINGS[dialect].models, *(api.model for api in OF_EACH[dialect])]))
    api = Api(dialect, model)
    try:
        whole = assembled(api, drawn.history).build()
    except UnsupportedContentError:
        return
    context = assembled(api, drawn.history, whole.count.upper, [Truncate(2)]).build()
    assert context.request() == whole.request()
    assert context.count == whole.count


@pytest.mark.parametrize("name", EVERY)
@scaled(0.3)
@given(
    drawn=st.sampled_from(FORMS).flatmap(decorated),
    built_after=st.lists(st.booleans(), min_size=MOST_BUILDS, max_size=MOST_BUILDS),
)
def test_any_growing_conversation_is_sent_like_one_that_is_built_at_once(
    name: str, drawn: Drawn, built_after: list[bool]
) -> None:
    whole, growing = (Assembler(dialect=EVERY[name]).add_capability([TOOL]) for _ in range(2))
    try:
        wanted = whole.add_messages(drawn.history).build()
        wanted.request()
    except UnsupportedContentError:
        return
    for message, builds in itertools.zip_longest(drawn.history, built_after[: len(drawn.history) - 1]):
        growing.add_message(message)
        if builds:
            with contextlib.suppress(AssemblyError):  # a history that ends here may not be sent yet
                growing.build().request()
    grown = growing.build()
    assert grown.request() == wanted.request()
    assert grown.count == wanted.count
    assert sorted(grown.notes()) == sorted(wanted.notes())
    assert [(message.index, message.outcome) for message in grown.dropped] == [
        (message.index, message.outcome) for message in wanted.dropped
    ]


CASES: dict[str, Any] = json.loads(Path(__file__).with_suffix(".histories.json").read_text("utf-8"))
"""What cost the build more than the request, each in its smallest history."""


@pytest.mark.parametrize("case", CASES)
def test_histories_that_once_cost_the_build_more_cost_what_they_cost_the_request(case: str) -> None:
    found = CASES[case]
    for model in found["models"]:
        assembler = Assembler(Budget(1_000_000, model=model), dialect=EVERY[found["dialect"]])
        context = assembler.add_capability([TOOL]).add_messages(found["history"]).build()
        assert context.count == count_request(context.request(), dialect=EVERY[found["dialect"]], model=model)


def test_a_cache_mark_beside_an_image_does_not_reach_mistral() -> None:
    marked = {**IMAGE, "cache_control": {"type": "ephemeral"}}
    history = [{"role": "user", "content": [{"type": "text", "text": "q"}, marked]}]
    context = Assembler(dialect=EVERY["mistral"]).add_messages(history).build()
    assert verify(context.request(), dialect="mistral") == []
    assert "1 cache mark(s) of another API left out" in str(context.report)


BY_FILE = {"type": "input_image", "file_id": "f", "width": 8, "height": 8}


@pytest.mark.parametrize("image", [IMAGE, BY_FILE], ids=["address", "file"])
@pytest.mark.parametrize("name", DIALECTS)
def test_a_size_that_the_caller_gives_is_not_sent(name: str, image: dict[str, Any]) -> None:
    assembler = Assembler(dialect=EVERY[name]).add_messages([{"role": "user", "content": [image]}])
    try:
        request = assembler.build().request()
    except UnsupportedContentError as error:  # the dialect says itself that it has no word for an image
        assert error.kind == "image"
        assert image is BY_FILE or "image at an address" not in SPELLINGS[name].media
        return
    assert verify(request, dialect=name) == []


@pytest.mark.parametrize("content", [None, "", []], ids=["null", "empty text", "empty list"])
@pytest.mark.parametrize("name", EVERY)
def test_a_refusal_without_content_is_sent_to_every_api_as_text(name: str, content: Any) -> None:
    refused = {"role": "assistant", "content": content, "refusal": "m1m"}
    history = [{"role": "user", "content": "m0m"}, refused, {"role": "user", "content": "m2m"}]
    context = Assembler(dialect=EVERY[name]).add_messages(history).build()
    assert marks(context.request()) == {"m0m": 1, "m1m": 1, "m2m": 1}
    assert not context.dropped


@pytest.mark.parametrize("dialect", ["openai_chat", "anthropic"])
@pytest.mark.parametrize("kind", ["item_reference", "web_search_call"])
def test_an_item_that_an_api_cannot_be_sent_is_reported_as_dropped(kind: str, dialect: str) -> None:
    messages = [{"role": "user", "content": "hi"}, {"type": kind, "id": "item_1"}, {"role": "user", "content": "go on"}]
    context = Assembler(dialect=dialect).add_messages(messages).build()
    assert [left_out.index for left_out in context.dropped] == [1]


@pytest.mark.parametrize("name", [name for name in DIALECTS if name not in ("anthropic", "plain")])
def test_a_message_that_loses_a_part_for_an_api_is_reported_as_shortened(name: str) -> None:
    found = [{"type": "text", "text": "Paris."}, {"type": "container_upload", "file_id": "file_1"}]
    asked, thanked = {"role": "user", "content": "Where?"}, {"role": "user", "content": "Thanks."}
    history = [asked, {"role": "assistant", "content": found}, thanked]
    from_anthropic = Assembler(dialect="anthropic").add_messages(history).build()
    context = Assembler(dialect=name).add_messages(history).build()
    assert not from_anthropic.dropped
    assert [(message.index, message.outcome) for message in context.dropped] == [(1, "shortened")]
    assert "Paris." in str(context.request())


def _call(call_id: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "any", "arguments": "{}"}


def _output(call_id: str, text: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


@pytest.mark.parametrize("name", [name for name in DIALECTS if name != "plain"])
def test_an_id_that_repeats_within_a_step_is_replaced_if_its_calls_are_one_message(name: str) -> None:
    step = [_call("a"), _call("b"), _output("a", "m0m"), _call("a"), _output("b", "m1m"), _output("a", "m2m")]
    history = [{"role": "user", "content": "q"}, *step, {"role": "user", "content": "q"}]
    request = Assembler(dialect=name).add_capability([TOOL]).add_messages(history).build().request()
    assert verify(request, dialect=name) == []
    assert marks(request) == {"m0m": 1, "m1m": 1, "m2m": 1}
    assert re.findall("m[0-9]m", str(request)) == ["m0m", "m1m", "m2m"]


APPROVED: dict[str, Any] = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
DREAM: dict[str, Any] = {"type": "dream_call", "id": "d", "call_id": "d1", "input": {}}
DREAMT: dict[str, Any] = {"type": "dream_call_output", "call_id": "d1", "output": "m9m"}
STEPS: dict[str, list[dict[str, Any]]] = {
    "an approval between results": [_call("a"), _call("b"), _output("a", "m0m"), APPROVED, _output("b", "m1m")],
    "an approval between calls": [_call("a"), APPROVED, _call("b"), _output("a", "m0m"), _output("b", "m1m")],
    "an output that nobody knows before a result": [DREAM, _call("a"), DREAMT, _output("a", "m0m")],
    "an output that nobody knows between results": [
        *(DREAM, _call("a"), _call("b"), _output("a", "m0m"), DREAMT, _output("b", "m1m"))
    ],
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", [name for name in DIALECTS if name != "plain"])
@pytest.mark.parametrize("shown", [False, True], ids=["texts", "a picture"])
def test_a_callers_item_splits_no_step_whose_calls_and_results_must_be_neighbours(
    name: str, step: str, shown: bool
) -> None:
    """Chat and Mistral got a step that the API refuses, and the APIs of blocks raised `ConversationError`."""
    history: list[dict[str, Any]] = [
        {"role": "user", "content": "q"},
        *copy.deepcopy(STEPS[step]),
        {"role": "user", "content": "q"},
    ]
    if shown:
        picture = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}
        first = next(item for item in history if item.get("output") == "m0m")
        first["output"] = [{"type": "input_text", "text": "m0m"}, picture]
    for model in SPELLINGS[name].models:
        made = Assembler(Budget(1_000_000, model=model), dialect=name).add_capability([TOOL]).add_messages(history)
        try:
            context = made.build()
        except UnsupportedContentError:
            assert shown  # of some models no price of a picture is known
            continue
        assert {fault.rule for fault in verify(context.request(), dialect=name)} <= NOT_KNOWN
        assert marks(context.request()) == marks(history)
        assert context.count == count_request(context.request(), dialect=name, model=model)
