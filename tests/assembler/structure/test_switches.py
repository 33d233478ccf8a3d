"""No function takes a boolean switch, because a call with `True` does not say what it means."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools import floors

ROOT = Path(__file__).parents[3]

FOREIGN_FACES = {
    # Of the source systems, whose callers stay as they are.
    "assembler/prompts/formatter.py: __init__(strip_html)",
    "assembler/rag/prompt_builder.py: build_prompt(optimize_context)",
    # Of Jinja's filter.
    "assembler/prompts/sandbox.py: _indent(blank)",
    "assembler/prompts/sandbox.py: _indent(first)",
    # Of transformers' tokenizers.
    "assembler/dialects/chat_template/render.py: apply_chat_template(add_generation_prompt)",
    "assembler/dialects/chat_template/render.py: apply_chat_template(tokenize)",
    "assembler/dialects/chat_template/render.py: encode(add_special_tokens)",
    # Fields of a value whose class writes its own initialiser, and that no caller makes by hand.
    "assembler/conversation/messages/message.py: __init__(pinned)",
    "assembler/conversation/messages/message.py: __init__(shallow)",
}


def switches(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Each function that takes True or False, with the parameter: by its annotation, or by its default."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        given = node.args
        placed = [*given.posonlyargs, *given.args]
        defaults = dict(zip(reversed(placed), reversed(given.defaults), strict=False))
        defaults |= {arg: one for arg, one in zip(given.kwonlyargs, given.kw_defaults, strict=True) if one is not None}
        for arg in [*placed, *given.kwonlyargs]:
            default = defaults.get(arg)
            if _says_bool(arg.annotation) or (isinstance(default, ast.Constant) and isinstance(default.value, bool)):
                yield getattr(node, "name", "lambda"), arg.arg


def _says_bool(annotation: ast.expr | None) -> bool:
    """Whether an annotation is `bool`, or a choice that `bool` is one of."""
    if isinstance(annotation, ast.BinOp):
        return _says_bool(annotation.left) or _says_bool(annotation.right)
    return isinstance(annotation, ast.Name) and annotation.id == "bool"


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("def f(text: str, loud: bool) -> str: ...", [("f", "loud")]),
        ("def f(text: str, *, loud: bool | None = None) -> str: ...", [("f", "loud")]),
        ("async def f(text: str, loud=False) -> str: ...", [("f", "loud")]),
        ("f = lambda text, loud=True: text", [("lambda", "loud")]),
        ("class C:\n    def f(self, loud: bool): ...", [("f", "loud")]),
        ("def f(told: list[bool], holds: Callable[[str], bool], text: str = '') -> bool: ...", []),
    ],
)
def test_a_switch_is_found_by_its_annotation_and_by_its_default(written: str, found: list[tuple[str, str]]) -> None:
    assert list(switches(ast.parse(written))) == found


def test_a_command_s_only_switch_is_its_flag_for_json() -> None:
    found = {one for path in (ROOT / "assembler/cli").glob("*.py") for _, one in switches(floors.parsed(path))}
    assert found == {"as_json"}


def test_no_function_takes_a_switch_but_trusted_and_those_of_the_source_systems() -> None:
    found = {
        f"{path.relative_to(ROOT).as_posix()}: {function}({parameter})"
        for package in ("assembler", "budgets")
        for path in (ROOT / package).rglob("*.py")
        for function, parameter in switches(floors.parsed(path))
        if parameter != "trusted" and path.parent != ROOT / "assembler/cli"
    }
    assert found == FOREIGN_FACES
