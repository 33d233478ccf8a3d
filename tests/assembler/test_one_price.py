"""A build's count equals `count_request` of its request, in every API and for every policy."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from functools import partial
from typing import Any

import attrs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assembler import (
    Assembler,
    ChatRegions,
    CitedSources,
    Context,
    ContextLengthError,
    ConversationError,
    FittedTemplate,
    count_request,
)
from assembler.conversation.messages import read_message
from assembler.dialects import DIALECTS
from assembler.dialects.chat_template.dialect import ControlText, chat_template
from assembler.policies import ClearToolResults, Offload, Policy, TrimOldest, TrimSteps, Truncate
from assembler.strategies import Placement, Strategy
from assembler.strategies.sources.layout import NativeSources
from assembler.testing import conversations
from budgets import Budget, Count, Limit
from tests.assembler.one_price import (
    APIS,
    GATEWAYS,
    LADDERS,
    OF_EACH,
    SHARES,
    Api,
    adds_up,
    assembled,
    billed,
    costs_its_request,
    costs_its_request_whole_and_cut,
)
from tests.assembler.steps import Message, part, step, together
from tests.assembler.strategies import LISTING
from tests.budgets.toy_tokenizers import byte_level
from tests.scaled import in_turns, scaled

SHAPES = ["openai_chat", "openai_responses", "anthropic", "gemini"]
histories = st.sampled_from(SHAPES).flatmap(conversations)
limits = st.sampled_from([{}, {"knowledge": Limit(cap=0.3)}, {"conversation": Limit(floor=0.1)}])


@pytest.mark.parametrize("dialect", OF_EACH)
@scaled(0.3)
@given(
    data=st.data(),
    history=histories,
    ladder=LADDERS,
    limits=limits,
    documents=st.integers(0, 2),
    share=SHARES,
)
def test_a_build_costs_what_its_own_request_is_counted(
    dialect: str,
    data: st.DataObject,
    history: list[Any],
    ladder: tuple[Policy, ...],
    limits: dict[str, Limit],
    documents: int,
    share: float,
) -> None:
    api = data.draw(st.sampled_from(OF_EACH[dialect]))
    costs_its_request_whole_and_cut(api, history, ladder, share, limits=limits, documents=documents)


ESCAPED = '{"a": "caf\\u00e9 \\ud83d\\ude42"}'
INDENTED = json.dumps({"rows": [1, 2]}, indent=4)
RESULTS = st.sampled_from(["", "{}", "[]", "plain words", ESCAPED, INDENTED])
POINT = {"cachePoint": {"type": "default"}}


def in_messages_with_marks(results: list[str]) -> list[Message]:
    """Each in a message of its own, with a mark of a cache behind each."""
    calls, *answers = step("bedrock", results)
    return [calls, *(message for answer in answers for message in together("bedrock", [answer], POINT))]


in_chat = partial(step, "openai_chat")
SPELLINGS: dict[str, Callable[[list[str]], list[Message]]] = {
    "chat": in_chat,
    "gemini without ids": partial(step, "gemini", named=False),
    "converse with a mark behind": partial(step, "bedrock", apart=False, behind=[POINT]),
    "converse with a mark behind each": in_messages_with_marks,
    "blocks before words": partial(step, "anthropic", apart=False, behind=[part("anthropic", "and now?")]),
    "blocks before silence": partial(step, "anthropic", apart=False, behind=[part("anthropic", "")]),
    "blocks before what nobody knows": partial(step, "anthropic", apart=False, behind=[{"type": "weather", "x": 1}]),
}


@pytest.mark.parametrize(("spelled", "api"), in_turns(2, SPELLINGS, APIS), ids=str)
def test_two_results_of_one_step_cost_what_they_are_sent_as(spelled: str, api: Api) -> None:
    for words in range(5):  # a share of each price is rounded up
        results = ["a " * words, "{}", json.dumps({"a": "é" * words})]
        costs_its_request(assembled(api, [{"role": "user", "content": "q"}, *SPELLINGS[spelled](results)]).build(), api)


@pytest.mark.parametrize("api", [*APIS, *GATEWAYS], ids=str)
def test_each_of_more_results_than_a_price_looks_back_on_costs_what_it_is_sent_as(api: Api) -> None:
    """A bound that is rounded for a whole list did not add up once the list was longer than what was looked back on."""
    texts = [("é " if number % 3 else "a ") * (number % 7) + '{"a": 1}' * (number % 2) for number in range(25)]
    history = [{"role": "user", "content": "q"}, *in_chat(texts), {"role": "user", "content": "and now?"}]
    ladder = (ClearToolResults(keep=0, placeholder=""), TrimOldest())
    whole = assembled(api, history, ladder=ladder).build()
    costs_its_request(whole, api)
    for less in (1, 7, 40):
        costs_its_request(assembled(api, history, whole.count.upper - less, ladder).build(), api)


@scaled(3)
@given(
    api=st.sampled_from(APIS),
    spelled=st.sampled_from([*SPELLINGS.values()]),
    steps=st.lists(st.lists(RESULTS, min_size=1, max_size=3), min_size=1, max_size=3),
    less=st.integers(0, 3),
)
def test_results_of_one_step_cost_what_they_are_sent_as_however_they_are_spelled(
    api: Api, spelled: Callable[[list[str]], list[Message]], steps: list[list[str]], less: int
) -> None:
    history = [one for step in steps for one in ({"role": "user", "content": "q"}, *spelled(step))]
    whole = assembled(api, history).build()
    assert whole.count == billed(whole, api)
    try:
        tight = assembled(api, history, whole.count.upper - less).build()
    except ContextLengthError:
        assert less
        return
    assert tight.count == billed(tight, api)
    assert any(message.outcome == "dropped" for message in tight.dropped) == bool(less)


@pytest.mark.parametrize(
    ("ladder", "texts"),
    [
        ((TrimOldest(low_water=0.5), ClearToolResults(keep=0)), ("a b", "word " * 60, "y")),
        ((TrimOldest(low_water=0.8), Truncate(5)), ("word " * 60, "x")),
        ((TrimOldest(low_water=0.5), Offload({}, min_tokens=5, preview=0)), ("word " * 40,) * 3),
        ((ClearToolResults(keep=0), TrimOldest(low_water=0.3)), ("h\n" * 40, "word " * 5)),
    ],
    ids=["cleared", "shortened", "stored", "cleared, then cut"],
)
def test_half_a_step_that_was_shortened_at_a_mark_costs_what_it_is_sent_as(
    ladder: tuple[Policy, ...], texts: tuple[str, ...]
) -> None:
    """OpenAI's models are shown a step's results as one list: the next result costs what it does in that list.

    What was saved before it came was found of a list that was shorter.
    """
    history = [{"role": "user", "content": "q"}, *in_chat(texts)]
    whole = assembled(APIS[0], history, ladder=ladder).build().count.upper
    built = 0
    for window in range(whole // 2, whole, 2):
        try:
            tight = assembled(APIS[0], history, window, ladder).build()
        except ContextLengthError:
            continue
        built += 1
        costs_its_request(tight, APIS[0])
    assert built > 10


RUNGS = [ClearToolResults(keep=0), ClearToolResults(keep=1), Truncate(5), Truncate(20), TrimSteps(keep=0), TrimSteps(1)]


@scaled(2)
@given(
    api=st.sampled_from(APIS),
    spelled=st.sampled_from([*SPELLINGS.values()]),
    steps=st.lists(st.lists(RESULTS | st.just("word " * 30), min_size=1, max_size=4), min_size=1, max_size=3),
    mark=st.sampled_from([0.3, 0.5, 0.8, 1.0]),
    rungs=st.lists(st.sampled_from(RUNGS), min_size=1, max_size=2),
    place=st.integers(0, 2),
    turns=st.sets(st.integers(0, 2)),
    share=st.floats(0.3, 1.0),
)
def test_a_ladder_with_a_mark_costs_what_its_own_request_costs(
    api: Api,
    spelled: Callable[[list[str]], list[Message]],
    steps: list[list[str]],
    mark: float,
    rungs: list[Policy],
    place: int,
    turns: set[int],
    share: float,
) -> None:
    question = {"role": "user", "content": "q"}
    asked = [[question] if number in {0, *turns} else [] for number in range(len(steps))]
    history = [one for before, step in zip(asked, steps, strict=True) for one in (*before, *spelled(step))]
    ladder = (*rungs[:place], TrimOldest(low_water=mark), *rungs[place:])
    costs_its_request_whole_and_cut(api, history, ladder, share)


@pytest.mark.parametrize("placement", Placement)
@pytest.mark.parametrize("layout", [CitedSources, ChatRegions])
def test_knowledge_costs_once_beside_results_that_cost_less_together(layout: Any, placement: Placement) -> None:
    made = Assembler(Budget(10_000, model="gpt-4o"), dialect="openai_chat", strategy=layout(placement=placement))
    made.add_knowledge("Snow delays parcels.", type="rag", source="delays.md")
    context = made.add_messages(
        [*in_chat([json.dumps({"a": "é" * 20}), "{}"]), {"role": "user", "content": "Why?"}]
    ).build()
    assert context.count == billed(context, Api("openai_chat", "gpt-4o"))


words = st.lists(st.sampled_from(["alpha", "walrus", "Osaka", "12", "a\n"]), min_size=1, max_size=20).map(" ".join)

AROUND = [
    FittedTemplate(LISTING),
    CitedSources(layout=NativeSources(), placement=Placement.QUESTION),
    *(kind(placement=each) for kind in (CitedSources, ChatRegions) for each in Placement),
]


@pytest.mark.parametrize("api", [*APIS, Api("openai_responses", "my-own"), Api("plain", "my-own")], ids=str)
@scaled(0.5)
@given(
    documents=st.lists(words, min_size=1, max_size=4),
    question=words,
    strategy=st.sampled_from(AROUND),
)
def test_documents_around_the_question_cost_what_they_are_sent_as(
    api: Api, documents: list[str], question: str, strategy: Strategy
) -> None:
    """The bound of an unknown model was rounded for each document, and came to more than that of the message."""
    made = Assembler(Budget(100_000, model=api.model), dialect=api.dialect, strategy=strategy)
    for place, text in enumerate(documents):
        made.add_knowledge(text, type="rag", source="a.md", score=place / 10)
    context = made.add_message({"role": "user", "content": question}).build()
    assert context.count == billed(context, api)


@scaled(0.5)
@given(api=st.sampled_from(APIS), history=histories, policy=LADDERS)
def test_the_window_that_the_whole_fills_exactly_holds_the_whole(
    api: Api, history: list[Any], policy: tuple[Policy, ...]
) -> None:
    whole = assembled(api, history, ladder=policy, documents=1).build()
    exactly = assembled(api, history, whole.count.upper, policy, documents=1).build()
    assert (exactly.count, exactly.request()) == (whole.count, whole.request())


@pytest.mark.parametrize("api", APIS, ids=str)
def test_a_long_thought_that_is_not_sent_takes_no_tokens_of_the_window_that_the_rest_fills(api: Api) -> None:
    """Nova priced another model's reasoning, which Converse is not sent, so a ladder with a mark dropped a turn."""
    thought = {"role": "model", "parts": [{"text": "a" * 1_500, "thought": True}, {"text": "b"}]}
    question = {"role": "user", "parts": [{"text": "a"}]}
    history = [question, {"role": "model", "parts": [{"text": "b"}]}, question, thought, question]
    policy = (TrimOldest(low_water=0.5),)
    whole = assembled(api, history, ladder=policy, documents=1).build()
    exactly = assembled(api, history, whole.count.upper, policy, documents=1).build()
    assert (exactly.count, exactly.request()) == (whole.count, whole.request())


TEMPLATE = """{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}{% for call in message.tool_calls or [] %}{{ call.function | tojson }}{% endfor %}
{% endfor %}{% if tools %}{{ tools | tojson }}{% endif %}"""


@functools.cache
def template() -> Any:
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level(), chat_template=TEMPLATE)
    return chat_template(tokenizer, control_text=ControlText.ALLOW)


@scaled(0.5)
@given(history=conversations("openai_chat"), policy=LADDERS, share=st.floats(0.4, 1.1))
def test_a_prompt_of_a_chat_template_costs_its_ids_in_every_function(
    history: list[Any], policy: tuple[Policy, ...], share: float
) -> None:
    dialect = template()
    whole = Assembler(Budget(1_000_000), dialect=dialect).add_messages(history).build()
    try:
        budget = Budget(max(1, int(whole.count.upper * share)))
        context = Assembler(budget, dialect=dialect, on_overflow=policy).add_messages(history).build()
    except ContextLengthError:
        assume(False)
    request = context.request()
    assert count_request(request, dialect=dialect) == context.count == Count(len(request["prompt_token_ids"]))
    assert dialect.emit(dialect.parse(request)).request == request
    adds_up(context)


def test_ids_that_are_not_a_list_are_refused() -> None:
    with pytest.raises(ConversationError, match="expected the list of ids"):
        count_request({"prompt": "a", "prompt_token_ids": "a"}, dialect=template())


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5", "deepseek-chat", "claude-sonnet-4-5", "gemini-2.5-pro"])
def test_reasoning_of_another_model_costs_nothing_if_it_is_not_sent(model: str) -> None:
    thought = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm " * 400, "signature": "s"}]}
    if model.startswith("claude"):
        thought = {"role": "model", "parts": [{"text": "hm " * 400, "thought": True}]}
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    question = {"role": "user", "content": "c"}
    with_it = Assembler(Budget.for_model(model)).add_messages([*messages, thought, question]).build()
    without = Assembler(Budget.for_model(model)).add_messages([*messages, question]).build()
    assert with_it.request() == without.request()
    assert with_it.count == without.count
    assert with_it.costs == without.costs


NOTHING_TO_SEND = [
    {"role": "assistant", "content": None},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
]
OF_A_HOST_WITH_A_TEXT = [
    Api(dialect, model)
    for dialect in ("openai_chat", "openai_responses")
    for model in ("moonshotai/kimi-k2-instruct", "llama-3.3-70b-versatile")
]


@pytest.mark.parametrize("nothing", NOTHING_TO_SEND)
@pytest.mark.parametrize("api", OF_A_HOST_WITH_A_TEXT)
def test_a_system_message_behind_one_that_is_not_sent_spares_the_host_its_own_text(api: Api, nothing: Any) -> None:
    """The head was decided before the empty message was dropped, so the host's text was counted beside it."""
    messages = [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}]
    budget = Budget(10_000, model=api.model)
    alone = Assembler(budget, dialect=DIALECTS[api.dialect]).add_messages(messages).build()
    whole = Assembler(budget, dialect=DIALECTS[api.dialect]).add_messages([nothing, *messages]).build()
    assert whole.request() == alone.request()
    assert whole.count == alone.count
    costs_its_request(whole, api)


@pytest.mark.parametrize("model", ["nobody-knows-this-model", "llama-3.3-70b-versatile", "gpt-4o"])
def test_a_late_head_costs_what_it_is_sent_as_behind_items_of_which_nothing_is_sent(model: str) -> None:
    """An item and the message after it are priced together, and were not noted as not sent."""
    item = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]}
    messages = [item, {"role": "assistant", "content": ""}, {"role": "system", "content": "be kind"}]
    made = Assembler(Budget(10_000, model=model), dialect=DIALECTS["openai_chat"]).add_messages(messages)
    costs_its_request(made.build(), Api("openai_chat", model))


@pytest.mark.parametrize("api", OF_A_HOST_WITH_A_TEXT)
def test_a_window_that_a_late_head_just_fits_is_filled_by_it(api: Api) -> None:
    history = [NOTHING_TO_SEND[0], {"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}]

    def fitted(window: int) -> Context:
        budget, ladder = Budget(window, model=api.model), [TrimSteps(keep=1), TrimOldest()]
        made = Assembler(budget, dialect=DIALECTS[api.dialect], on_overflow=ladder)
        return made.add_messages(history).build()

    whole = fitted(10_000)
    assert fitted(whole.count.upper).request() == whole.request()


@pytest.mark.parametrize("api", OF_A_HOST_WITH_A_TEXT)
def test_a_step_that_is_dropped_before_a_system_message_leaves_a_head(api: Api) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    asked: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [call]}
    answered = {"role": "tool", "tool_call_id": "c", "content": "word " * 200}
    made = Assembler(Budget(120, model=api.model), dialect=DIALECTS[api.dialect], on_overflow=TrimSteps(keep=0))
    made.add_messages([asked, answered, {"role": "system", "content": "be kind"}])
    context = made.build()
    assert len(context.dropped) == 2
    costs_its_request(context, api)


@pytest.mark.parametrize("length", range(1, 12))
def test_a_head_beside_an_instruction_costs_what_is_sent_for_an_unknown_model(length: int) -> None:
    """Its bound was rounded together with the instruction in the build, and alone in the request."""
    api = Api("plain", "nobody-knows-this-model")
    made = Assembler(Budget(100_000, model=api.model), dialect=DIALECTS[api.dialect]).add_instruction("Be brief.")
    made.add_messages([{"role": "developer", "content": " one" * length}, {"role": "user", "content": "?"}])
    costs_its_request(made.build(), api)


@given(
    api=st.sampled_from([*APIS, *GATEWAYS]),
    role=st.sampled_from(["user", "assistant", "system", "developer"]),
    text=st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(["a  ", " a", "\n", "(no text)"]),
)
def test_a_message_of_one_text_costs_what_the_parts_of_any_message_cost(api: Api, role: str, text: str) -> None:
    message = read_message({"role": role, "content": text}, 0)
    count = Budget(100, model=api.model).token_counter
    pricer = DIALECTS[api.dialect].pricer(api.model, count)
    assert message.shallow
    assert pricer.message(message) == pricer.message(attrs.evolve(message, shallow=False))
