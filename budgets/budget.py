"""A context window, and the part of it that a request may fill."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, cast

import attrs

from budgets.allotment import check_floors
from budgets.count import AwaitedCounter, TokenCounter, Tokens
from budgets.counters.by_model import shared_counter_for
from budgets.counters.guard import Guarded, name_of, refuse_unusable
from budgets.counters.memo import Memoised, memoised
from budgets.errors import BudgetError, named_type
from budgets.limit import Limit, limits_by_region
from budgets.numbers import hints, hints_at, whole_tokens
from budgets.value import Value

if TYPE_CHECKING:
    from rich.text import Text

    from budgets.models import ModelFacts

_NUMBERS = ("context_window", "max_output_tokens", "reasoning_tokens", "overhead", "safety_margin")
_OPTIONAL_NUMBERS = ("least_output_tokens", "max_input_tokens")
_NO_LIMITS: Mapping[str, Limit] = {}


def _must_take_text(_budget: object, _field: object, counter: TokenCounter | AwaitedCounter | None) -> None:
    if counter is not None and not isinstance(counter, Guarded):
        refuse_unusable(counter)


def _read_plain_text(model: str | None) -> str | None:
    """A model's name as a plain text: a subclass of `str` may have any methods."""
    return str.__str__(model) if isinstance(model, str) else model


def _must_be_name(_budget: object, _field: object, model: Any) -> None:
    if model is not None and not (isinstance(model, str) and model.strip()):
        raise BudgetError("model is empty" if isinstance(model, str) else f"model is {named_type(model)}, not a name")


def _describe_counter(counter: TokenCounter | AwaitedCounter | None) -> str:
    return "None" if counter is None else name_of(counter)


_THE_ANSWER = "the length of the answer is max_output_tokens="
_THE_WINDOW = "the size of the window is context_window="
_THE_COUNTER = "pass a function from a text to its tokens as counter="
_BY_PLACE = f"{_THE_ANSWER}, {_THE_WINDOW}"
_MEANT = {
    "context_window": "for the published window of a model write Budget.for_model(name)",
    "max_tokens": _BY_PLACE,
    "max_completion_tokens": _THE_ANSWER,
    "output_tokens": _THE_ANSWER,
    "reserve": _THE_ANSWER,
    "reserved_tokens": _THE_ANSWER,
    "context_length": _THE_WINDOW,
    "context_size": _THE_WINDOW,
    "limit": _THE_WINDOW,
    "max_context_tokens": _THE_WINDOW,
    "max_model_len": _THE_WINDOW,
    "n_ctx": _THE_WINDOW,
    "token_limit": _THE_WINDOW,
    "window": _THE_WINDOW,
    "encoding": _THE_COUNTER,
    "token_counter": _THE_COUNTER,
    "tokenizer": _THE_COUNTER,
    "thinking_budget": "the tokens of its reasoning are reasoning_tokens=",
    "model_name": "the model's name is model=, and Budget.for_model(name) knows its window",
}
"""The names of these arguments in other libraries and APIs (references read 2026-11), and what to write instead."""


@hints_at(_BY_PLACE, **_MEANT)
@attrs.frozen(eq=False, repr=False)
class Budget(Value):
    """A context window less what is kept free in it. All numbers are tokens.

    `max_output_tokens` and `reasoning_tokens` are kept free for the answer. `max_input_tokens` is a provider's own cap
    on the input. `overhead` is what you add to the call outside of this library, and `safety_margin` is for doubt. With
    `least_output_tokens`, only that much is kept free: a long request may take the rest, and
    `context.max_output_tokens` says how long the answer may then be.

    `counter` is any function from a text to its tokens. By default the model's published vocabulary counts, for Claude
    a reconstruction, and otherwise o200k_base, all offline. Raises BudgetError for numbers that are negative, not whole
    or bools, for a `least_output_tokens` above `max_output_tokens`, and if no tokens are left for a request.
    """

    context_window: Tokens
    max_output_tokens: Tokens = attrs.field(default=0, kw_only=True)
    least_output_tokens: Tokens | None = attrs.field(default=None, kw_only=True)
    reasoning_tokens: Tokens = attrs.field(default=0, kw_only=True)
    max_input_tokens: Tokens | None = attrs.field(default=None, kw_only=True)
    overhead: Tokens = attrs.field(default=0, kw_only=True)
    safety_margin: Tokens = attrs.field(default=0, kw_only=True)
    # Not hashed, because a counter or a mapping need not be hashable. Equal budgets still have equal hashes.
    counter: TokenCounter | AwaitedCounter | None = attrs.field(
        default=None, kw_only=True, hash=False, repr=_describe_counter, validator=_must_take_text
    )
    model: str | None = attrs.field(default=None, kw_only=True, converter=_read_plain_text, validator=_must_be_name)
    limits: Mapping[str, Limit] = attrs.field(default=_NO_LIMITS, kw_only=True, hash=False)

    def __attrs_post_init__(self) -> None:
        if isinstance(window := cast(object, self.context_window), str) and not window.isdigit():
            raise BudgetError(
                "context_window is a str: whole tokens, 0 or more, are expected; for the published window of a model "
                "write Budget.for_model(name)"
            )
        # The class is frozen, so numpy numbers must become ints here.
        for name in _NUMBERS:
            object.__setattr__(self, name, whole_tokens(getattr(self, name), name))
        for name in _OPTIONAL_NUMBERS:
            if getattr(self, name) is not None:
                object.__setattr__(self, name, whole_tokens(getattr(self, name), name))
        object.__setattr__(self, "limits", limits_by_region(self.limits))
        if self.max_output_tokens and self.least_output_tokens and self.least_output_tokens > self.max_output_tokens:
            raise BudgetError(
                f"least_output_tokens is {self.least_output_tokens}, above the {self.max_output_tokens} of "
                "max_output_tokens. Lower it, or leave max_output_tokens out to ask for all that is left."
            )
        if self.answer_reserve >= self.context_window:
            raise BudgetError(
                f"no tokens are left for a request: {_write_difference(self._list_window_parts())} is not above 0. "
                "Enlarge context_window or reserve less for the answer."
            )
        if self.limits:
            capped = self.max_input_tokens
            most = None if capped is None else max(0, capped - self.overhead - self.safety_margin)
            check_floors(self.input_limit, self.kept_free, self.limits, most)

    @classmethod
    @hints(_BY_PLACE, **_MEANT)
    def for_model(
        cls,
        name: str,
        *,
        context_window: Tokens | None = None,
        max_output_tokens: Tokens = 0,
        least_output_tokens: Tokens | None = None,
        reasoning_tokens: Tokens = 0,
        max_input_tokens: Tokens | None = None,
        overhead: Tokens = 0,
        safety_margin: Tokens = 0,
        counter: TokenCounter | AwaitedCounter | None = None,
        limits: Mapping[str, Limit] = _NO_LIMITS,
    ) -> Self:
        """The budget of a model with its published window and input cap, unless you pass others.

        `max_output_tokens` is what you reserve. Raises `UnknownModelError` for a name that is not in the tables, unless
        you pass its window, and `BudgetError` for a reserve above the longest answer of the model.
        """
        from budgets.models import facts, facts_or_none

        window = facts(name).window if context_window is None else context_window
        published = facts_or_none(name)
        answers = {"max_output_tokens": max_output_tokens, "least_output_tokens": least_output_tokens}
        for field, reserve in answers.items():
            _refuse_longer_answer(name, published, field, 0 if reserve is None else whole_tokens(reserve, field))
        if max_input_tokens is None and published is not None:
            max_input_tokens = published.max_input
        return cls(
            window,
            max_output_tokens=max_output_tokens,
            least_output_tokens=least_output_tokens,
            reasoning_tokens=reasoning_tokens,
            max_input_tokens=max_input_tokens,
            overhead=overhead,
            safety_margin=safety_margin,
            counter=counter,
            model=name,
            limits=limits,
        )

    @functools.cached_property
    def input_limit(self) -> Tokens:
        """The most that a request may cost, 0 or more."""
        first, *rest = (amount for amount, _ in self._list_parts())
        return max(0, first - sum(rest))

    @property
    def answer_reserve(self) -> Tokens:
        """Tokens kept free for the answer (`least_output_tokens` if that is set) and the reasoning."""
        least = self.max_output_tokens if self.least_output_tokens is None else self.least_output_tokens
        return least + self.reasoning_tokens

    @property
    def longest_answer(self) -> Tokens | None:
        """The longest answer to ask for: `max_output_tokens`, or, if that is 0, what is published for the model, or
        None. A provider refuses a request that asks for more."""
        if self.max_output_tokens or self.model is None:
            return self.max_output_tokens or None
        from budgets.models import facts_or_none

        published = facts_or_none(self.model)
        return None if published is None else published.max_output

    @property
    def kept_free(self) -> Tokens:
        """The tokens of the window that a request may not use: `answer_reserve`, `overhead` and `safety_margin`."""
        return self.answer_reserve + self.overhead + self.safety_margin

    def available(self, used: Tokens = 0) -> Tokens:
        """The tokens of `input_limit` that `used` leaves, 0 or more. Raises `BudgetError` for anything but a number."""
        return max(0, self.input_limit - whole_tokens(used, "used"))

    def __rich__(self) -> Text:
        """The arithmetic for rich. A model's name is never read as markup."""
        from rich.text import Text

        model = (" for ", (self.model, "bold")) if self.model else ()
        return Text.assemble((f"{self.input_limit:,}", "bold"), " tokens of input", *model, f" = {self.arithmetic()}")

    def _repr_html_(self) -> str:
        """The arithmetic for a notebook, with the model's name if there is one."""
        from html import escape

        model = f" for <b>{escape(self.model)}</b>" if self.model else ""
        return f"<p><b>{self.input_limit:,}</b> tokens of input{model} = {escape(self.arithmetic())}</p>"

    def arithmetic(self) -> str:
        """How `input_limit` is computed, as in `12000 context_window - 4000 max_output_tokens`, without zeros."""
        return _write_difference(self._list_parts())

    @functools.cached_property
    def token_counter(self) -> Memoised:
        """The counter of this budget, with a bounded memory. It returns an int >= 0 or raises `TokenCountError`.

        Budgets without their own counter share one memory per vocabulary and process. To share one between budgets with
        a counter, pass each the same `memoised(counter)`.
        """
        if self.counter is None:
            return shared_counter_for(self.model)
        return self.counter if isinstance(self.counter, Memoised) else memoised(self.counter)

    def _list_window_parts(self) -> list[tuple[Tokens, str]]:
        answer = "max_output_tokens" if self.least_output_tokens is None else "least_output_tokens"
        reserves = [(getattr(self, answer), answer), (self.reasoning_tokens, "reasoning_tokens")]
        return [(self.context_window, "context_window"), *_drop_zeros(reserves)]

    def _list_parts(self) -> list[tuple[Tokens, str]]:
        """The minuend, then what is subtracted: the window less its reserves, or the provider's smaller input cap."""
        parts = self._list_window_parts()
        if self.max_input_tokens is not None and self.max_input_tokens < self.context_window - self.answer_reserve:
            parts = [(self.max_input_tokens, "max_input_tokens")]
        return parts + _drop_zeros([(self.overhead, "overhead"), (self.safety_margin, "safety_margin")])

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        """Itself, because it is frozen, and a copied counter would count texts again."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        _refuse_unpicklable(self.counter)
        return _restore, (type(self), {field.name: getattr(self, field.name) for field in attrs.fields(type(self))})


def _refuse_longer_answer(name: str, published: ModelFacts | None, field: str, reserve: Tokens) -> None:
    longest = None if published is None else published.max_output
    if published is not None and longest is not None and reserve > longest:
        raise BudgetError(
            f"{field} is {reserve}, but {name} answers with at most {longest} ({published.source}): "
            f"{reserve - longest} too many; lower it to {longest}"
        )


def _drop_zeros(parts: list[tuple[Tokens, str]]) -> list[tuple[Tokens, str]]:
    return [(amount, name) for amount, name in parts if amount]


def _write_difference(parts: list[tuple[Tokens, str]]) -> str:
    return " - ".join(f"{amount} {name}" for amount, name in parts)


def _restore(cls: type[Budget], fields: dict[str, Any]) -> Budget:
    return cls(**fields)


def _refuse_unpicklable(counter: TokenCounter | AwaitedCounter | None) -> None:
    import pickle  # most budgets are never pickled

    try:
        pickle.dumps(counter)
    except Exception as failure:
        raise BudgetError(
            f"the budget cannot be pickled, because its counter {_describe_counter(counter)} cannot: "
            "pass a function defined at the top of a module, or one of the bundled counters."
        ) from failure
