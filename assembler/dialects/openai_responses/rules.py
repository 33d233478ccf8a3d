"""OpenAI Responses: rules R0 to R4.

One direction of R3 cannot be checked in a request: whether a reasoning item before an item is missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from assembler.verify import definitions, shape
from assembler.verify.checker import Checker
from assembler.verify.definitions import Definition, listed_tools, wrong_choice, wrong_definitions, wrong_name
from assembler.verify.encoded import wrong_data_urls
from assembler.verify.foreign import walk_parts
from assembler.verify.neutral import N1
from assembler.verify.pairing import N2, N3, find_repeated, refs
from assembler.verify.place import Place
from assembler.verify.violation import Violation, rules_in, shown

RULE = rules_in(__name__)
RULES = (*RULE.values(), *definitions.RULES, N1, N2, N3)

_ID_LIMIT = 64
"""Characters of a call_id (L1)."""

# Item and part types: openai 3.54.0, types/responses, read 2026-11.
_ITEMS = frozenset(
    [
        *("additional_tools", "apply_patch_call", "apply_patch_call_output", "code_interpreter_call"),
        *("compaction", "compaction_trigger", "computer_call", "computer_call_output", "configuration_update"),
        *("custom_tool_call", "custom_tool_call_output", "file_search_call", "function_call"),
        *("function_call_output", "image_generation_call", "item_reference", "local_shell_call"),
        *("local_shell_call_output", "mcp_approval_request", "mcp_approval_response", "mcp_call"),
        *("mcp_list_tools", "message", "program", "program_output", "reasoning", "shell_call"),
        *("shell_call_output", "tool_search_call", "tool_search_output", "web_search_call"),
    ]
)
_MODEL_PARTS = frozenset(["output_text", "refusal"])
_INPUT_PARTS = frozenset(["input_text", "input_image", "input_file", "input_audio"])
_RESULT_PARTS = frozenset({"input_text", "input_image", "input_file"})
_TOOLS = frozenset(
    [
        *("apply_patch", "code_interpreter", "computer", "computer_use_preview", "custom", "file_search", "function"),
        *("image_generation", "local_shell", "mcp", "namespace", "programmatic_tool_calling", "shell", "tool_search"),
        *("web_search", "web_search_2025_08_26", "web_search_preview", "web_search_preview_2025_03_11"),
    ]
)
_ROLES = frozenset({"user", "assistant", "system", "developer"})

_CALLS = ("function_call", "custom_tool_call", "computer_call", "shell_call", "apply_patch_call")
"""The item types that need an item of type `<call>_output` with the same call_id."""
_OUTPUTS = tuple(f"{call}_output" for call in _CALLS)

_HELD_ELSEWHERE = ("previous_response_id", "conversation", "prompt")
"""With one of these keys the server adds stored items to the request."""


def check(request: Place, _model: str | None) -> Iterator[Violation]:
    """Every breach in a request, for any model. Linear."""
    given, tools = request.at("input"), request.at("tools")
    stored = [key for key in _HELD_ELSEWHERE if not request.at(key).absent]
    yield from shape.may_be(request.at("instructions"), shape.TEXT_OR_LIST)
    if not stored:
        yield from shape.must_be(given, shape.TEXT_OR_LIST)
        if given.empty:
            yield N1.broken(given.path, "an empty input, and no stored conversation to go on from")
    yield from shape.items_must_be(given, shape.OBJECT)
    for item in given.objects():
        yield from _wrong_item(item)
    yield from _wrong_pairs(given.objects(), stored)
    yield from _wrong_reasoning(given.objects())
    yield from _wrong_tools(request, tools)
    pictures = (part.at("image_url") for part in walk_parts(request, "input", ("content", "output")))
    yield from wrong_data_urls(pictures, RULE["R4"])


def _read_kind(item: Place) -> str:
    """The type of an item. A message and a reference may have none."""
    kind = item.at("type")
    if item.filled_keys == ["id"]:
        return "item_reference"
    return "message" if kind.absent and not item.at("role").absent else kind.text or ""


def _wrong_item(item: Place) -> Iterator[Violation]:
    kind = _read_kind(item)
    if kind not in _ITEMS:
        yield from shape.must_be_of_a_kind(item.at("type"), _ITEMS, "item type")
    if kind == "message":
        yield from shape.must_be_one_of(item.at("role"), _ROLES, shape.S3, "role")
        yield from shape.must_be(item.at("content"), shape.TEXT_OR_LIST)
        known = _MODEL_PARTS if item.at("role").text == "assistant" else _INPUT_PARTS
        yield from shape.typed_parts(item.at("content"), known)
    elif kind == "function_call":
        yield from shape.must_be(item.at("call_id"), shape.TEXT)
        yield from wrong_name(item.at("name"))
        yield from shape.must_be(item.at("arguments"), shape.TEXT)
    elif kind == "function_call_output":
        yield from shape.must_be(item.at("output"), shape.TEXT_OR_LIST)
        yield from shape.typed_parts(item.at("output"), _RESULT_PARTS)
    elif kind == "reasoning":
        yield from shape.must_be(item.at("summary"), shape.LIST)
    call_id = item.at("call_id").text
    if call_id is not None and len(call_id) > _ID_LIMIT:
        path = item.at("call_id").path
        yield RULE["L1"].broken(path, f"call_id of {len(call_id)} characters; at most {_ID_LIMIT} are taken")


def _wrong_pairs(items: list[Place], stored: list[str]) -> Iterator[Violation]:
    """Check N2, N3 and R0 to R2. With one of the keys `stored`, half of a pair may be on the server."""
    yield from find_repeated(refs(item.at("call_id") for item in items if _read_kind(item) in _CALLS), N3)
    # A reference names a stored item, which may be the missing half of any pair.
    referring = any(_read_kind(item) == "item_reference" for item in items)
    open_calls: dict[str, Place] = {}
    answered: set[str] = set()
    for item in items:
        place = item.at("call_id")
        call_id = place.text
        if _read_kind(item) in _OUTPUTS:
            if call_id is None:
                yield RULE["R0"].broken(place.path, "an output without call_id")
            elif call_id in answered:
                yield N2.broken(place.path, f"answers {shown(call_id)} a second time")
            elif open_calls.pop(call_id, None) is None and not (stored or referring):
                yield RULE["R1"].broken(place.path, f"no call before this output has the call_id {shown(call_id)}")
            answered.update(() if call_id is None else (call_id,))
        elif _read_kind(item) in _CALLS and call_id is not None:
            open_calls[call_id] = place
    for call_id, place in open_calls.items():
        if not referring:
            yield RULE["R2"].broken(place.path, f"no output after this call has the call_id {shown(call_id)}")


def _wrong_reasoning(items: list[Place]) -> Iterator[Violation]:
    """Check R3: after a reasoning item comes another one, or an item that the model wrote."""
    followed = False
    for item in reversed(items):
        kind = _read_kind(item)
        if kind != "reasoning":
            is_input = kind == "message" and item.at("role").text != "assistant"
            followed = not is_input and kind not in _OUTPUTS
        elif not followed:
            yield RULE["R3"].broken(item.path, "a reasoning item that no message or call of the model follows")


def _wrong_tools(request: Place, tools: Place) -> Iterator[Violation]:
    yield from listed_tools(tools)
    for tool in tools.objects():
        # New hosted tools appear every month, so any type is accepted.
        yield from shape.must_be(tool.at("type"), shape.TEXT)
    functions = [tool for tool in tools.objects() if tool.at("type").text == "function"]
    yield from wrong_definitions(Definition(tool.at("name"), tool.at("parameters")) for tool in functions)
    if request.at("prompt").absent:  # a stored prompt may have its own tools
        choice = request.at("tool_choice")
        names = [tool.at("name").text for tool in tools.objects()]
        yield from wrong_choice(choice, choice.at("name"), tools, names)


CHECKER = Checker(
    check,
    RULES,
    words=frozenset(("call_id", "encrypted_content", "prompt_cache_breakpoint")),
    turns="input",
    kinds=_ITEMS | _MODEL_PARTS | _INPUT_PARTS | _TOOLS,
)
