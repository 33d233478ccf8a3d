"""Jinja's environment for prompt templates.

It is immutable and sandboxed. Undefined names raise, nothing is escaped, and there are no extensions and no loader, so
no other files. The globals are `range` and `namespace`. Methods, filters and operators that can make large values are
left out or spend an allowance. The template author's text is output as `owned`, and printed expressions as `foreign`.
Nothing is folded at compile time, so that nothing runs before there are values.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from assembler.prompts.history import Turns
from assembler.prompts.traced_text import Traced, foreign, join_traced, owned
from assembler.prompts.work_limit import MAX_BITS, OPERATORS, Allowance, ExceededError, pay_for
from budgets.errors import named_type

if TYPE_CHECKING:
    from jinja2.compiler import CodeGenerator, Frame
    from jinja2.runtime import Context
    from jinja2.sandbox import ImmutableSandboxedEnvironment

Container = TypeVar("Container", "list[Any]", "tuple[Any, ...]", "dict[Any, Any]")

ALLOWANCE = " allowance"
"""The name of the allowance in the rendering's context. It has a blank, so no template can use it."""
STEPS, CONCAT = "_steps", "_concat"
"""Filters that `_metered` inserts. No template may use a name that begins with an underscore."""

_FILTERS = """
    abs capitalize count d default dictsort first float groupby items last length list lower map max min reject
    rejectattr reverse select selectattr sort string title truncate unique upper wordcount
"""
FILTERS = frozenset(_FILTERS.split())
"""Jinja's own filters that are offered unchanged: none returns a text much longer than its input."""
_STRING_METHODS = """
    capitalize casefold count endswith find index isalnum isalpha isascii isdecimal isdigit islower isnumeric isspace
    istitle isupper join lower lstrip partition removeprefix removesuffix replace rfind rindex rpartition rsplit rstrip
    split splitlines startswith strip swapcase title upper
"""
METHODS: tuple[tuple[type | tuple[type, ...], frozenset[str]], ...] = (
    (str, frozenset(_STRING_METHODS.split())),
    (dict, frozenset({"get", "items", "keys", "values"})),
    ((list, tuple, range), frozenset({"count", "index"})),
    ((int, float), frozenset()),
)
"""The offered methods of plain data, without those that take a width, a format or a table."""
SEARCHING = frozenset({"lstrip", "rfind", "rindex", "rpartition", "rsplit", "rstrip", "strip"})
"""Methods whose worst case is quadratic: in CPython only searches from the left are linear."""
COMPARED = 1_000
"""The characters that are compared in one step of about a microsecond."""
WIDEST = 100
"""The most blanks of an indent, and digits of a rounding."""


@cache
def environment() -> ImmutableSandboxedEnvironment:
    """The environment, one per process."""
    from jinja2 import StrictUndefined
    from jinja2.filters import FILTERS as BUILT_IN
    from jinja2.utils import Namespace

    class Undefined(StrictUndefined):  # a list prints its items by their repr
        __repr__ = StrictUndefined.__str__

    sandbox = _make_sandbox_class()(
        undefined=Undefined,
        autoescape=False,
        keep_trailing_newline=True,
        optimized=False,
        finalize=_pass_context(_print_value),
        cache_size=0,
    )
    sandbox.globals = {"range": sandbox.globals["range"], "namespace": Namespace}
    sandbox.filters = {name: BUILT_IN[name] for name in FILTERS}
    sandbox.filters |= {name: _pass_context(function) for name, function in (BOUNDED | INTERNAL).items()}
    sandbox.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "allow_nan": False}
    return sandbox


def _make_sandbox_class() -> type[ImmutableSandboxedEnvironment]:
    """Jinja's sandbox, in which everything that can take long or make a large value spends the allowance."""
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Sandbox(ImmutableSandboxedEnvironment):
        code_generator_class = _make_generator_class()
        intercepted_binops = frozenset(OPERATORS)
        concat = staticmethod(join_traced)
        owned = staticmethod(owned)
        weighed = staticmethod(_pay_for_nested)

        def wrap_str_format(self, value: Any) -> None:
            return None

        def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
            offered = all(attr in names for kinds, names in METHODS if isinstance(obj, kinds))
            return offered and super().is_safe_attribute(obj, attr, value)

        def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
            return OPERATORS[operator](allowance_of(context), left, right)

        def call(self, context: Context, called: Any, /, *args: Any, **kwargs: Any) -> Any:
            allowance_of(context).step(1)
            if getattr(called, "catch_varargs", False) or getattr(called, "catch_kwargs", False):
                _pay_for_nested(context, [*args, *kwargs.values()])  # a macro makes a list of its arguments
            owner, name = getattr(called, "__self__", None), getattr(called, "__name__", "")
            if isinstance(owner, str) and name in SEARCHING:
                _pay_for_search(context, owner, args[0] if args else kwargs.get("sep"))
            if isinstance(owner, str) and name in BOUNDED:
                return BOUNDED[name](context, *((args[0], owner) if name == "join" else (owner, *args)), **kwargs)
            return super().call(context, called, *args, **kwargs)

    return Sandbox


def _make_generator_class() -> type[CodeGenerator]:
    """Jinja's code generator, which marks the template author's text and pays for each literal list, tuple and dict."""
    from jinja2.compiler import CodeGenerator

    class Writer(CodeGenerator):
        def _output_const_repr(self, group: Iterable[Any]) -> str:
            return f"environment.owned({super()._output_const_repr(group)})"

    for kind in ("List", "Tuple", "Dict"):
        setattr(Writer, f"visit_{kind}", _pay_when_made(getattr(CodeGenerator, f"visit_{kind}")))
    return Writer


def _pay_when_made(visit: Callable[[Any, Any, Frame], None]) -> Callable[[Any, Any, Frame], None]:
    """Generate code that spends the cost of a template's list, tuple or dict when it is made."""

    def paying(writer: Any, node: Any, frame: Frame) -> None:
        if getattr(node, "ctx", "load") != "load":  # the names of a loop or a set
            visit(writer, node, frame)
            return
        writer.write("environment.weighed(context, ")
        visit(writer, node, frame)
        writer.write(")")

    return paying


def allowance_of(context: Context) -> Allowance:
    """The allowance of the context's rendering."""
    allowance = context.parent[ALLOWANCE]
    assert isinstance(allowance, Allowance)  # `render` puts it there, and no template can change it
    return allowance


def _pass_context(function: Callable[..., Any]) -> Callable[..., Any]:
    from jinja2 import pass_context

    return pass_context(function)


def _pay_for_nested(context: Context, items: Container) -> Container:
    """Spend the cost of the nested lists in a template's list, tuple or dict: a shared list counts each time."""
    held: Iterable[object] = items.values() if isinstance(items, dict) else items
    lists: list[object] = [item for item in held if isinstance(item, list | tuple | dict)]
    pay_for(allowance_of(context), lists)
    return items


def _print_value(context: Context, value: object) -> Traced:
    from jinja2 import Undefined

    if isinstance(value, Turns):
        value = value.transcript()
    elif isinstance(value, Iterator) or (callable(value) and not isinstance(value, Undefined)):
        # Its repr holds an address, which differs in each process.
        kind = named_type(cast("object", value))
        raise ExceededError(f"prints {kind}: print plain data, or add |list or |join")
    printed = value if isinstance(value, Traced) else foreign(str(value))
    allowance_of(context).build(len(printed))  # a stored block may be printed again and again
    return printed


def _join(context: Context, parts: Iterable[object], separator: object = "", attribute: str | int | None = None) -> str:
    if attribute is not None:
        parts = [context.environment.getitem(part, attribute) for part in parts]
    texts, glue = [str(part) for part in parts], str(separator)
    allowance_of(context).build(sum(map(len, texts)) + len(glue) * len(texts))
    return glue.join(texts)


def _replace(context: Context, text: object, old: object, new: object, count: int | None = None) -> str:
    whole, before, after = str(text), str(old), str(new)
    found = whole.count(before)
    allowance_of(context).build(len(whole) + found * len(after))
    return whole.replace(before, after, -1 if count is None else count)


def _indent(context: Context, text: object, width: int | str = 4, first: object = False, blank: object = False) -> str:
    from jinja2.filters import do_indent

    whole = str(text)
    lines = len(whole.splitlines()) + 1
    allowance_of(context).build(len(whole) + lines * (len(width) if isinstance(width, str) else max(width, 0)))
    return do_indent(whole, width, bool(first), bool(blank))


def _pay_for_steps(context: Context, iterable: Iterable[object]) -> Collection[object]:
    items = iterable if isinstance(iterable, Collection) else list(iterable)
    allowance_of(context).step(len(items))
    return items


def _round(_: Context, number: float, precision: int = 0, method: Any = "common") -> float:
    from jinja2.filters import do_round

    _refuse_width(precision)
    return do_round(number, precision, method)


def _tojson(context: Context, value: object, indent: int | None = None) -> str:
    from jinja2.filters import do_tojson

    _refuse_width(indent or 0)
    return str(do_tojson(context.eval_ctx, value, indent))


def _escape(context: Context, value: object) -> str:
    text = value.transcript() if isinstance(value, Turns) else str(value)
    allowance_of(context).build(len(text) + 5 * sum(map(text.count, "&<>\"'")))
    return html.escape(text)


def _trim(context: Context, value: object, chars: str | None = None) -> str:
    text = str(value)
    _pay_for_search(context, text, chars)
    return text.strip(chars)


def _int(_: Context, value: object, default: object = 0, base: int = 10) -> object:
    from jinja2.filters import do_int

    if isinstance(value, str) and len(value) > MAX_BITS:
        raise ExceededError(f"reads a number of more than {MAX_BITS} digits")
    return do_int(value, cast(int, default), base)


def _sum(context: Context, items: Iterable[Any], attribute: str | int | None = None, start: Any = 0) -> Any:
    if not isinstance(start, int | float):
        raise ExceededError("adds up values that are not numbers: join texts, and write lists one after another")
    values = items if attribute is None else [context.environment.getitem(item, attribute) for item in items]
    return sum(values, start)


def _pay_for_search(context: Context, text: str, wanted: object) -> None:
    """Spend the cost of a search from the right, or of each character in a set: the product of both lengths."""
    if isinstance(wanted, str):
        allowance_of(context).step(len(text) * len(wanted) // COMPARED)


def _refuse_width(width: int) -> None:
    if width > WIDEST:
        raise ExceededError(f"asks for a width or precision above {WIDEST}")


def _concat(context: Context, parts: list[object]) -> str:
    return _join(context, parts)


BOUNDED: dict[str, Callable[..., Any]] = {
    "e": _escape,
    "escape": _escape,
    "int": _int,
    "sum": _sum,
    "trim": _trim,
    "join": _join,
    "replace": _replace,
    "indent": _indent,
    "round": _round,
    "tojson": _tojson,
}
INTERNAL: dict[str, Callable[..., Any]] = {STEPS: _pay_for_steps, CONCAT: _concat}
