"""Jinja templates, checked before use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, cast

import attrs

from assembler.errors import PromptError
from assembler.prompts.sandbox import ALLOWANCE, BOUNDED, CONCAT, FILTERS, STEPS, environment
from assembler.prompts.traced_text import Traced, join_traced
from assembler.prompts.values import PlainValue
from assembler.prompts.work_limit import SCRATCH, Allowance, ExceededError, OversizeError, PromptTooLongError

if TYPE_CHECKING:
    from jinja2 import Template, nodes

MAX_LOOP_NESTING = 4
"""The deepest nesting of loops, for lists of documents of sections of lines."""
COMPILED = 128
"""The number of compiled templates that a process caches."""
_NODES = """
    Template Output TemplateData If For Macro CallBlock FilterBlock With Assign AssignBlock Name NSRef Const Tuple List
    Dict Pair Keyword CondExpr Filter Test Call Getitem Getattr Slice Concat Compare Operand Mul Div FloorDiv Add Sub
    Mod Pow And Or Not Neg Pos
"""
_ALLOWED = frozenset(_NODES.split())
"""The allowed Jinja nodes, which stay inside one template, unlike `include`, `import`, `extends` and `block`."""
_EXPLAINED = {
    "RecursionError": "nested or recursing too deep; unfold it",
    "SecurityError": "a method or attribute that no template may use",
    "TemplateSyntaxError": "not Jinja; if the braces are literal, pass template_format='f-string'",
    "UndefinedError": "an attribute, key or variable used there has no value",
}
"""Our texts for types of errors, in place of their own."""
_OPTIONAL_TESTS = frozenset({"defined", "undefined"})
_OPTIONAL_FILTERS = frozenset({"default", "d"})


@attrs.frozen
class JinjaTemplate:
    """A parsed and checked template. Compiled at the first rendering."""

    source: str = attrs.field(repr=False)
    required: frozenset[str]
    optional: frozenset[str]

    def render(self, values: Mapping[str, PlainValue], *, template: str, max_characters: int) -> Traced:
        """Render the template. Values are never compiled.

        Raises PromptError with the template's name and line for any error, without quoting a value.
        """
        allowance = Allowance(max_characters * SCRATCH)
        pieces: list[str] = []
        problem, line, compiled, failure = "", None, None, PromptError
        try:
            compiled = _compile_source(self.source)
            left = max_characters
            for piece in compiled.root_render_func(compiled.new_context({**values, ALLOWANCE: allowance})):
                pieces.append(piece)
                left -= len(piece)
                if left < 0:
                    raise OversizeError(  # noqa: TRY301 - reported with the line, like every other
                        f"prints more than max_characters ({max_characters}): shorten the values or raise it"
                    )
        except Exception as error:  # a template can raise anything, and the text may quote a value
            problem, line = _describe_error(error), _find_line(error.__traceback__, compiled)
            failure = PromptTooLongError if isinstance(error, OversizeError) else PromptError
        if problem:
            raise _make_failure(template, line, problem, failure)
        return join_traced(pieces)


def jinja_template(source: str, *, template: str) -> JinjaTemplate:
    """Parse and check a template, and find its variables, without running it. Raises PromptError with the line."""
    problem, line = "", None
    required: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    try:
        tree = environment().parse(source)
        optional = _check_tree(tree)
        required = _find_undeclared(tree)
    except _NotOfferedError as refused:
        problem, line = str(refused), refused.line
    except Exception as error:  # deep nesting raises RecursionError, MemoryError or SyntaxError
        problem, line = _describe_error(error), getattr(error, "lineno", None)
    if problem:
        raise _make_failure(template, line, problem)
    return JinjaTemplate(source, required - optional, optional & required)


@lru_cache(maxsize=COMPILED)
def _compile_source(source: str) -> Template:
    from jinja2 import Template

    env = environment()
    tree = env.parse(source)
    _meter_tree(tree)
    tree.set_environment(env)
    return Template.from_code(env, env.compile(tree), env.make_globals(None))


class _NotOfferedError(Exception):
    """A statement, filter or nesting that is not allowed in prompt templates, with its line."""

    def __init__(self, problem: str, line: int) -> None:
        self.line = line
        super().__init__(problem)


def _check_tree(tree: nodes.Template) -> frozenset[str]:
    """Check the whole tree, without recursion. Returns the optional variables."""
    from jinja2 import nodes

    optional: set[str] = set()
    open_nodes: list[tuple[nodes.Node, int]] = [(tree, 0)]
    while open_nodes:
        node, loops = open_nodes.pop()
        kind = type(node).__name__
        if kind not in _ALLOWED:
            raise _NotOfferedError(f"{kind} is not offered: a prompt template is one text on its own", node.lineno)
        if isinstance(node, nodes.For):
            loops += 1
            if loops > MAX_LOOP_NESTING or node.recursive:
                raise _NotOfferedError(f"loops may be {MAX_LOOP_NESTING} deep, and not recursive", node.lineno)
        if isinstance(node, nodes.Filter) and node.name not in FILTERS and node.name not in BOUNDED:
            offered = ", ".join(sorted(FILTERS | BOUNDED.keys()))
            raise _NotOfferedError(f"this filter is not offered; there are: {offered}", node.lineno)
        if isinstance(node, nodes.Getattr) and node.attr.startswith("_"):
            raise _NotOfferedError("a name that begins with an underscore is out of reach", node.lineno)
        guards = _OPTIONAL_TESTS if isinstance(node, nodes.Test) else _OPTIONAL_FILTERS
        if isinstance(node, nodes.Test | nodes.Filter) and node.name in guards and isinstance(node.node, nodes.Name):
            optional.add(node.node.name)
        open_nodes += [(child, loops) for child in node.iter_child_nodes()]
    return frozenset(optional)


def _find_undeclared(tree: nodes.Template) -> frozenset[str]:
    from jinja2.meta import TrackingCodeGenerator

    tracker = TrackingCodeGenerator(environment())
    tracker.optimizer = None  # else constant expressions would be computed here
    tracker.visit(tree)
    return frozenset(tracker.undeclared_identifiers)


def _meter_tree(tree: nodes.Template) -> None:
    """Make every loop and every `~` spend the allowance, by passing their operands through counting filters."""
    from jinja2 import nodes

    def through(name: str, node: nodes.Node) -> nodes.Filter:
        return nodes.Filter(cast("nodes.Expr", node), name, [], [], None, None, lineno=node.lineno)

    for loop in list(tree.find_all(nodes.For)):
        loop.iter = through(STEPS, loop.iter)
    for concat in list(tree.find_all(nodes.Concat)):
        concat.nodes = [through(CONCAT, nodes.List(concat.nodes, lineno=concat.lineno))]


def _describe_error(error: Exception) -> str:
    """Describe an error without quoting the template or its values, as Jinja's own text may."""
    if isinstance(error, ExceededError):
        return str(error)
    kind = type(error).__name__
    return f"{kind}: {_EXPLAINED.get(kind, 'its text is withheld, since it may quote a value')}"


def _find_line(traceback: TracebackType | None, compiled: Template | None) -> int | None:
    if compiled is None:
        return None
    line, line_of = None, compiled.get_corresponding_lineno
    while traceback is not None:
        if traceback.tb_frame.f_globals.get("__jinja_template__") is compiled:
            line = line_of(traceback.tb_lineno)
        traceback = traceback.tb_next
    return line


def _make_failure(
    template: str, line: int | None, problem: str, failure: type[PromptError] = PromptError
) -> PromptError:
    place = f"template {template!r}" + ("" if line is None else f", line {line}")
    return failure(f"{place}: {problem}", name=template, line=line)
