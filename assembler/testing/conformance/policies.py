"""Checks a policy's promises: it is pure, its cuts and changes are lawful, and its traits are true."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.drawn.engine import SearchStrategy, st
from assembler.errors import ConversationError, PlanError
from assembler.policies.policy import Policy
from assembler.policies.traits import CuttingRung, KeepsAll, Rung, rung_of
from assembler.testing.conformance.checking import (
    AMPLE,
    WORDS,
    Checked,
    History,
    Texts,
    each_drawn,
    failure_of,
    list_histories,
    note_case,
    refuse_class,
    with_own,
)
from assembler.testing.conformance.policy_answers import PURE, UNCHANGED, CuttingCheck, RewritingCheck
from assembler.testing.conformance.policy_cases import draw_requests, write_requests
from assembler.testing.conformance.policy_windows import Window, draw_window, make_budget, price_newest_turns
from budgets import ContextLengthError, Tokens

_DIALECTS = ("openai_chat", "anthropic")
"""One dialect whose results are messages, and one whose results are parts of user messages."""
_MOST_EDGES = 12
"""How many turns of a given history get a window of their own."""
_FEW = 4
"""How many texts of the caller's one conversation holds."""
_TEXTS = WORDS | WORDS.map(lambda word: f"{word}. " * 60)
_LAWFUL = "its answers are lawful"
_ACTS = "it drops or changes something in some case"


def check_policy(
    policy: Policy, *, texts: Texts | None = None, histories: Iterable[History] = (), max_examples: int = 50
) -> None:
    """Raise `ContractError` unless `policy` keeps what every policy promises.

    The check draws conversations with tools and calls, half in OpenAI's and half in Anthropic's form, and tokens
    left within two of the price of some of their turns. A token is a character. A policy that cuts gives the same
    answer twice. Its cut begins where a turn begins, keeps the newest turn, and makes nothing grow. Asked about what it
    kept, it keeps all of it. If it keeps more than fits, no smaller number of tokens left makes it keep less. A policy
    that rewrites proposes the same twice, and a rewritten message keeps its role, calls and results. The traits
    `KeepsAll`, `KeepsNewest` and `KeepsChosen` are true. Reasons quote no message. Each built request fits and is
    valid, and the caller's messages are unchanged.

    The policy must drop or change something in at least one case, or the check would prove nothing. Some conversations
    hold long results, tables, code, reasoning, an image and a document. If yours changes only texts of another form,
    pass such `texts` (a list, or a Hypothesis strategy), or whole `histories` that it changes, in any spelling that the
    library reads. They are checked besides what is drawn.

    If a policy asks a model, only `build()` calls it; everything else is checked with its `unasked` policy.
    """
    __tracebackhide__ = True
    refuse_class(policy, "check_policy")
    checked = _CheckedPolicy(rung_of(policy).name, policy, rung_of(policy))
    if (failure := failure_of(checked.name, lambda: checked.check(texts, histories, max_examples))) is not None:
        raise failure


@attrs.define(eq=False)
class _CheckedPolicy(Checked):
    """A policy under check."""

    policy: Policy
    rung: Rung
    acted: int = attrs.field(default=0, init=False)
    """In how many cases it dropped or changed something."""

    @property
    def asked(self) -> Rung:
        """The policy itself, or what it is without its model."""
        return self.rung if self.rung.traits.unasked is None else rung_of(self.rung.traits.unasked)

    def check(self, texts: Texts | None, histories: Iterable[History], max_examples: int) -> None:
        given = list_histories(histories)
        for dialect in _DIALECTS:  # each in turn, because a few random examples may all be of one
            each_drawn(
                draw_window(dialect, with_own(_TEXTS, texts)), self.check_window, -(-max_examples // len(_DIALECTS))
            )
        self._check_in_each_dialect(draw_requests())
        self._check_own(texts)
        for place, history in enumerate(given):
            request = {"messages": history}
            for dialect in _DIALECTS:
                with note_case(f"histories[{place}]"):
                    self.check_request(request, dialect)
        only_cuts = isinstance(self.rung, CuttingRung) and isinstance(self.rung.traits.keeps, KeepsAll)
        if not (self.acted or only_cuts):
            step = "pass texts=[…] or histories=[…] that it changes"
            raise self.broken(_ACTS, f"no case lost a token by it, so nothing was checked; {step}")

    def _check_own(self, texts: Texts | None) -> None:
        """Check conversations of the caller's texts alone: of those that are drawn, few may be tool results."""
        if isinstance(texts, SearchStrategy):
            few = st.lists(texts.filter(str.strip), min_size=1, max_size=_FEW)
            each_drawn(few, self._check_requests_of, _FEW)
        elif texts is not None:
            listed = [texts] if isinstance(texts, str) else [*texts]
            for start in range(0, len(listed), _FEW):
                self._check_requests_of(listed[start : start + _FEW])

    def _check_requests_of(self, texts: Sequence[str]) -> None:
        self._check_in_each_dialect(write_requests(texts))

    def _check_in_each_dialect(self, requests: Iterable[dict[str, Any]]) -> None:
        for dialect, request in zip(_DIALECTS, requests, strict=True):
            self.check_request(request, dialect)

    def check_request(self, request: dict[str, Any], dialect: str) -> None:
        """Check one whole conversation, in windows about as large as its newest turns."""
        edges = price_newest_turns(request, dialect)
        built = partial(self._check_built, fixed=self._price_fixed(request, dialect))
        sizes = [edge + nudge for edge in dict.fromkeys([*edges[:_MOST_EDGES], *edges[-2:]]) for nudge in (-1, 0)]
        for number, tokens_left in enumerate(sizes):
            window = Window(dialect, request, max(0, tokens_left), 50)
            with note_case(window):
                asks = number == 0 or isinstance(self.asked, CuttingRung)  # what is proposed depends on no window
                self._run_checks(window, [self._check_answers, built] if asks else [built])

    def check_window(self, window: Window) -> None:
        """Check one conversation in one window."""
        fixed = self._price_fixed(window.request, window.dialect)
        self._run_checks(window, [self._check_answers, partial(self._check_built, fixed=fixed)])

    def _run_checks(self, window: Window, checks: Iterable[Callable[[Window], None]]) -> None:
        """Run the checks, and raise as well if an answer is unlawful or the caller's messages change."""
        before = copy.deepcopy(window.messages)
        try:
            for check in checks:
                check(window)
        except PlanError as error:
            raise self.broken(_LAWFUL, str(error)) from None
        if window.messages != before:
            raise self.broken(UNCHANGED, "the caller's messages changed; make new ones with edited(message, parts)")

    def _check_answers(self, window: Window) -> None:
        """Ask the policy by itself, as the pipeline asks it."""
        declared = getattr(self.policy, "traits", None)
        if declared is not None and declared != self.rung.traits:
            raise self.broken("its traits are the same at every call", "they differ from those read first")
        if isinstance(self.asked, CuttingRung):
            self.acted += CuttingCheck(self, self.asked, window).check()
        else:
            RewritingCheck(self, self.asked, window, window.ledger(self.asked)).check()

    def _check_built(self, window: Window, fixed: Tokens) -> None:
        """Check the built request of this window, of which all but the conversation costs `fixed`."""
        tokens = fixed + window.tokens_left
        context = self._build_context(window, tokens)
        if context is None:
            return
        self.fits_and_is_valid(context, window.dialect)
        kept: list[Any] = context.messages
        self.acted += [*map(id, kept)] != [*map(id, window.messages)]
        again = self._build_context(window, tokens)
        asks = self.rung.traits.unasked is not None
        if not asks and (again is None or again.request() != context.request()):
            raise self.broken(PURE, "two requests of one conversation differ")

    def _build_context(self, window: Window, tokens: Tokens) -> Context[Any] | None:
        assembler = Assembler(make_budget(max(1, tokens)), dialect=window.dialect, on_overflow=self.policy)
        try:
            return assembler.set_tools(window.request.get("tools", [])).set_messages(window.messages).build()
        except ContextLengthError:
            return None
        except ConversationError as error:
            raise self.broken("what is built is valid", str(error)) from None

    def _price_fixed(self, request: Mapping[str, Any], dialect: str) -> Tokens:
        whole = Window(dialect, request, AMPLE, 0).ledger(self.rung)
        ample = Assembler(make_budget(AMPLE), dialect=dialect).set_tools(request.get("tools", []))
        return ample.set_messages(request["messages"]).plan().count.upper - whole.since(whole.first).upper
