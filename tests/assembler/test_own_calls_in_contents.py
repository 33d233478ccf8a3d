"""A call of a provider's own tool in a message's content is read as it is where it stands as an item of its own."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from assembler import Assembler, Context, ConversationError, Truncate, count_request, repair, verify
from assembler.conversation.messages import Call, read_message
from budgets import Budget
from tests.assembler.decorated import PNG
from tests.scaled import in_turns

Dict = dict[str, Any]
ASKED: Dict = {"role": "user", "content": "q"}
LOOK: Dict = {"name": "look", "parameters": {"type": "object", "properties": {}}}
SAID: Dict = {"type": "text", "text": "Which one?"}
MODEL: Dict = {"role": "assistant", "content": "It is."}
SHOT: Dict = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG}"}
RAN: list[Dict] = [{"stdout": "found", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]
FIELDS: dict[str, tuple[Dict, Dict]] = {
    "local_shell": ({"action": {"type": "exec", "command": ["ls"], "env": {}}}, {"id": "c", "output": "found"}),
    "shell": ({"action": {"commands": ["ls -l"]}}, {"output": RAN}),
    "computer": ({"action": {"type": "screenshot"}, "pending_safety_checks": []}, {"output": SHOT}),
    "apply_patch": ({"operation": {"type": "delete_file", "path": "a b"}}, {"status": "completed", "output": "ok"}),
    "custom_tool": ({"name": "look", "input": "some words"}, {"output": "found"}),
}
PAIRS: dict[str, tuple[Dict, Dict]] = {
    kind: (
        {"type": f"{kind}_call", "id": "i", "call_id": "c", "status": "completed", **asked},
        {"type": f"{kind}_call_output", "call_id": "c", **answer},
    )
    for kind, (asked, answer) in FIELDS.items()
}
PAIRS["tool_search"] = (
    {"type": "tool_search_call", "id": "i", "call_id": "c", "execution": "client", "arguments": {"q": "a b"}},
    {"type": "tool_search_output", "call_id": "c", "execution": "client", "tools": []},
)

MODELS = ["gpt-5", "gpt-4o", "grok-4.3", "kimi-k2", "qwen3-32b", "openrouter/z-ai/glm-4.6", "a-model-of-nobody"]
GATEWAYS = ["openrouter/anthropic/claude-sonnet-4-5", "openrouter/google/gemini-2.5-flash"]
SUMMARY: Dict = {"type": "compaction", "id": "cmp", "encrypted_content": "gAAA" * 30}
SEARCHED: Dict = {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"query": "walrus"}}


def of(role: str, *content: Dict) -> Dict:
    return {"role": role, "content": [*content]}


def built(history: list[Any], model: str | None = "gpt-4o", dialect: str = "openai_responses") -> Context:
    return Assembler(Budget(1_000_000, model=model), dialect=dialect).add_messages(copy.deepcopy(history)).build()


def costs_its_request(history: list[Dict], model: str, dialect: str = "openai_responses") -> None:
    context = built(history, model, dialect)
    assert context.count == count_request(context.request(), dialect=dialect, model=model), history


@pytest.mark.parametrize("kind", PAIRS)
def test_a_call_in_an_answers_content_is_a_call_and_goes_back_at_its_place(kind: str) -> None:
    call, output = PAIRS[kind]
    message = of("assistant", SAID, call, SAID)
    _, read, _ = read_message(message, 0).parts
    assert isinstance(read, Call)
    assert read.id == "c"
    (alone,) = read_message(call, 0).parts
    assert isinstance(alone, Call)
    assert (read.name, read.arguments) == (alone.name, alone.arguments)
    spoken = {"role": "assistant", "content": SAID["text"]}
    kept = {key: held for key, held in call.items() if kind != "custom_tool" or key not in ("id", "status")}
    request = built([ASKED, message, output]).request()
    assert request["input"] == [ASKED, spoken, kept, spoken, output]
    assert verify(request, dialect="openai_responses") == []


@pytest.mark.parametrize("kind", PAIRS)
def test_a_call_in_a_content_without_its_output_is_refused_and_repaired(kind: str) -> None:
    """It was sent as it stood, and the API refuses it: `No tool output found`."""
    history = [ASKED, of("assistant", SAID, PAIRS[kind][0]), ASKED]
    with pytest.raises(ConversationError, match="'c' has no result"):
        built(history)
    mended, changes = repair(history)
    assert len(changes) == 1
    assert built(mended).count == count_request(built(mended).request(), dialect="openai_responses", model="gpt-4o")


@pytest.mark.parametrize("kind", PAIRS)
def test_another_api_gets_a_call_in_a_content_as_it_gets_the_item(kind: str) -> None:
    call, output = PAIRS[kind]
    for dialect, model in (("openai_chat", "gpt-4o"), ("anthropic", "claude-sonnet-4-5")):
        in_content, alone = (
            Assembler(Budget(90_000, model=model), dialect=dialect)
            .set_tools([LOOK])
            .add_messages([ASKED, asked, output])
            .build()
            for asked in (of("assistant", call), call)
        )
        assert in_content.request() == alone.request()
        assert in_content.count == alone.count


def places(call: Dict, output: Dict) -> Iterator[list[Dict]]:
    other, its_output = {**PAIRS["custom_tool"][0], "call_id": "d"}, {**PAIRS["custom_tool"][1], "call_id": "d"}
    yield [ASKED, of("assistant", call), output, ASKED]
    yield [ASKED, MODEL, of("assistant", {"type": "text", "text": ""}, call), output]
    yield [ASKED, of("assistant", SAID, call, other), output, its_output]
    yield [ASKED, of("assistant", call, SEARCHED, SAID), output, MODEL, ASKED]
    yield [ASKED, of("assistant", call, output, SAID), MODEL, ASKED]
    yield [ASKED, of("assistant", call, output, other), its_output]
    yield [ASKED, of("assistant", output), MODEL, ASKED]
    yield [ASKED, of("user", SAID, call), MODEL, ASKED]
    yield [of("user", call, SAID, other), MODEL, ASKED]
    yield [of("user", call, output), MODEL, ASKED]
    yield [of("system", call, output, SAID), ASKED]


@pytest.mark.parametrize(("kind", "model"), in_turns(2, PAIRS, [*MODELS, *GATEWAYS]))
def test_a_call_in_a_content_costs_what_its_request_costs_at_every_place(kind: str, model: str) -> None:
    """Beside others, in a user's content, or with its output, it was priced otherwise than it is sent."""
    for history in places(*PAIRS[kind]):
        costs_its_request(history, model)
        costs_its_request(history, model, "openai_chat")


@pytest.mark.parametrize("kind", PAIRS)
def test_a_call_in_a_users_content_is_no_call_of_the_models(kind: str) -> None:
    """As an item it would be the model's, and nothing answers it."""
    call, output = PAIRS[kind]
    context = built([of("user", SAID, call), MODEL, ASKED])
    assert call not in context.request()["input"]
    assert [message.index for message in context.dropped] == [0]
    assert any("left out" in note for note in context.notes())
    both = built([of("user", SAID, call, output), MODEL, ASKED]).request()["input"]
    assert not [item for item in both if "call_id" in item]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("role", ["system", "developer"])
def test_a_summary_in_a_system_message_replaces_nothing_and_is_left_out(model: str, role: str) -> None:
    """It replaced what came before, so that a system message in the middle became the request's first."""
    history = [ASKED, MODEL, of(role, SUMMARY, SAID), ASKED]
    context = built(history, model)
    costs_its_request(history, model)
    assert "gAAA" not in str(context.request())
    assert context.request()["input"] == [ASKED, MODEL, {"role": role, "content": SAID["text"]}, ASKED]
    assert [message.index for message in context.dropped] == [2]


def test_a_policy_leaves_a_call_of_a_providers_own_tool_in_a_content_as_it_is() -> None:
    call, output = copy.deepcopy(PAIRS["local_shell"])
    call["action"]["command"] = ["word " * 400]
    history = [ASKED, of("assistant", {"type": "text", "text": "much " * 400}, call), output]
    whole = built(history).count.upper
    made = Assembler(Budget(whole - 200, model="gpt-4o"), dialect="openai_responses", on_overflow=Truncate(50))
    context = made.add_messages(history).build()
    assert call in context.request()["input"]
    assert context.count == count_request(context.request(), dialect="openai_responses", model="gpt-4o")
