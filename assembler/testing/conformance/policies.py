"""Checks a policy's promises: it is pure, its cuts and changes are lawful, and its traits are true."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import attrs

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.conversation.messages import Message
from assembler.drawn.engine import SearchStrategy, st
from assembler.errors import ConversationError, PlanError
from assembler.policies.contract import kept_by_edits, read_changes, refuse_unlawful, verify_cut
from assembler.policies.passage import Change, PassageView
from assembler.policies.policy import Policy
from assembler.policies.traits import CuttingRung, KeepsAll, KeepsChosen, KeepsNewest, RewritingRung, Rung, rung_of
from assembler.pricing.ledger import Cut, Ledger
from assembler.testing.conformance.checking import (
    AMPLE,
    WORDS,
    Checked,
    Texts,
    each_drawn,
    failure_of,
    list_histories,
    note_case,
    quotes,
    refuse_class,
    with_own,
)
from assembler.testing.conformance.policy_cases import draw_requests, long_texts, write_requests
from assembler.testing.conformance.policy_windows import Window, draw_window, make_budget, price_newest_turns
from budgets import ContextLengthError, Tokens

_DIALECTS = ("openai_chat", "anthropic")
"""One dialect whose results are messages, and one whose results are parts of user messages."""
_MOST_CHANGES = 10_000
"""The most changes of one short conversation: a policy with more never ends."""
_MOST_EDGES = 12
"""How many turns of a given history get a window of their own."""
_FEW = 4
"""How many texts of the caller's one conversation holds."""
_TEXTS = WORDS | WORDS.map(lambda word: f"{word}. " * 60)
_PURE = "the same ledger and tokens left give the same answer"
_LAWFUL = "its answers are lawful"
_UNCHANGED = "it changes nothing that it is given"
_QUOTES = "its reasons quote no message"
_ACTS = "it drops or changes something in some case"

History: TypeAlias = Iterable[object]


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
        for dialect in _DIALECTS:  # each in turn, because a few random examples may all be of one
            each_drawn(draw_window(dialect, with_own(_TEXTS, texts)), self.one, -(-max_examples // len(_DIALECTS)))
        self._check_in_each_dialect(draw_requests())
        self._check_own(texts)
        for place, history in enumerate(list_histories(histories)):
            request = {"messages": history}
            for dialect in _DIALECTS:
                with note_case(f"histories[{place}]"):
                    self.given(request, dialect)
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
            self.given(request, dialect)

    def given(self, request: dict[str, Any], dialect: str) -> None:
        """Check one whole conversation, in windows about as large as its newest turns."""
        edges = price_newest_turns(request, dialect)
        built = partial(self._check_built, fixed=self._price_fixed(request, dialect))
        sizes = [edge + nudge for edge in dict.fromkeys([*edges[:_MOST_EDGES], *edges[-2:]]) for nudge in (-1, 0)]
        for number, tokens_left in enumerate(sizes):
            window = Window(dialect, request, max(0, tokens_left), 50)
            with note_case(window):
                asks = number == 0 or isinstance(self.asked, CuttingRung)  # what is proposed depends on no window
                self._run(window, [self._check_answers, built] if asks else [built])

    def one(self, window: Window) -> None:
        """Check one conversation in one window."""
        fixed = self._price_fixed(window.request, window.dialect)
        self._run(window, [self._check_answers, partial(self._check_built, fixed=fixed)])

    def _run(self, window: Window, checks: Iterable[Callable[[Window], None]]) -> None:
        """Run the checks, and raise as well if an answer is unlawful or the caller's messages change."""
        before = copy.deepcopy(window.messages)
        try:
            for check in checks:
                check(window)
        except PlanError as error:
            raise self.broken(_LAWFUL, str(error)) from None
        if window.messages != before:
            raise self.broken(_UNCHANGED, "the caller's messages changed; make new ones with edited(message, parts)")

    def _check_answers(self, window: Window) -> None:
        """Ask the policy by itself, as the pipeline asks it."""
        declared = getattr(self.policy, "traits", None)
        if declared is not None and declared != self.rung.traits:
            raise self.broken("its traits are the same at every call", "they differ from those read first")
        if isinstance(self.asked, CuttingRung):
            _CuttingCheck(self, self.asked, window).check()
        else:
            _RewritingCheck(self, self.asked, window, window.ledger(self.asked)).check()

    def quotes_nothing(self, reason: str, window: Window) -> None:
        """Raise if a reason, which the report shows, holds a text of the conversation."""
        if any(quotes(reason, text) for text in long_texts(window.messages)):
            raise self.broken(_QUOTES, "one holds a text of the conversation; say what is done, and how often")

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
            raise self.broken(_PURE, "two requests of one conversation differ")

    def _build_context(self, window: Window, tokens: Tokens) -> Context[Any] | None:
        assembler = Assembler(make_budget(max(1, tokens)), dialect=window.dialect, on_overflow=self.policy)
        try:
            return assembler.add_capability(window.request.get("tools", [])).add_messages(window.messages).build()
        except ContextLengthError:
            return None
        except ConversationError as error:
            raise self.broken("what is built is valid", str(error)) from None

    def _price_fixed(self, request: Mapping[str, Any], dialect: str) -> Tokens:
        whole = Window(dialect, request, AMPLE, 0).ledger(self.rung)
        ample = Assembler(make_budget(AMPLE), dialect=dialect).add_capability(request.get("tools", []))
        return ample.add_messages(request["messages"]).plan().count.upper - whole.since(whole.first).upper


@attrs.frozen
class _CuttingCheck:
    """A policy that cuts, in one window."""

    checked: _CheckedPolicy
    rung: CuttingRung
    window: Window

    def check(self) -> None:
        ledger, tokens_left = self.window.ledger(self.rung), self.window.tokens_left
        whole = ledger.since(ledger.first).upper
        if whole <= tokens_left or ledger.first == ledger.length:
            return  # a policy is only asked if the conversation is too large
        cut = self._check_same_twice(ledger, tokens_left)
        self.checked.quotes_nothing(cut.reason, self.window)
        self.checked.acted += cut.first_kept > ledger.first or cut.wanted is not None
        left = ledger.kept(cut).upper
        if left > whole:
            raise self.checked.broken("it lets nothing grow", f"{left} tokens are left of {whole}")
        self._check_least(ledger, tokens_left, left)
        self._check_idempotent(ledger, cut, tokens_left)
        self._check_declared(ledger, cut, tokens_left)

    def _cut(self, ledger: Ledger, tokens_left: Tokens) -> Cut:
        return verify_cut(self.rung.policy, self.rung.policy.cut(ledger, tokens_left), ledger)

    def _check_same_twice(self, ledger: Ledger, tokens_left: Tokens) -> Cut:
        cut = self._cut(ledger, tokens_left)
        self._cut(ledger, tokens_left // 2)  # another question must not change the answer to this one
        again = self._cut(ledger, tokens_left)
        anew = self._cut(self.window.ledger(self.rung), tokens_left)
        if not _list_said(cut) == _list_said(again) == _list_said(anew):
            kept = f"{cut.first_kept}, {again.first_kept} and {anew.first_kept}"
            raise self.checked.broken(_PURE, f"asked three times for {tokens_left} tokens it keeps from {kept}")
        return cut

    def _check_least(self, ledger: Ledger, tokens_left: Tokens, left: Tokens) -> None:
        if left > tokens_left:
            least = ledger.kept(self._cut(self.window.ledger(self.rung), 0)).upper
            if least < left:
                problem = f"{left} tokens where {tokens_left} are left, and {least} where none are"
                raise self.checked.broken("what does not fit is the least that it keeps", problem)

    def _check_idempotent(self, ledger: Ledger, cut: Cut, tokens_left: Tokens) -> None:
        """Ask again about the kept messages, except with pins by index, which would mean other messages."""
        if cut.summary is not None or ledger.pins or ledger.kept(cut).upper > tokens_left:
            return
        raws = self.window.messages
        messages = [*raws[: ledger.first], *raws[cut.first_kept :]]
        kept = attrs.evolve(self.window, request={"messages": messages}).ledger(self.rung)
        again = self._cut(kept, tokens_left)
        if again.first_kept != kept.first:
            problem = f"of {kept.length} messages that it kept it drops {again.first_kept - kept.first} more"
            raise self.checked.broken("it is idempotent", problem)

    def _check_declared(self, ledger: Ledger, cut: Cut, tokens_left: Tokens) -> None:
        keeps = self.rung.traits.keeps
        if isinstance(keeps, KeepsAll) and cut.first_kept != ledger.first:
            raise self.checked.broken("KeepsAll: every turn stays", f"it keeps from message {cut.first_kept}")
        if isinstance(keeps, KeepsNewest | KeepsChosen) and cut.first_kept > ledger.newest_turns(keeps.at_least):
            problem = f"it keeps from message {cut.first_kept}"
            raise self.checked.broken(f"the {keeps.at_least} newest turns stay, as it declares", problem)
        if isinstance(keeps, KeepsNewest):
            more = tokens_left + self.window.more
            if ledger.since(ledger.first).upper > more:
                larger = self._cut(self.window.ledger(self.rung), more)
                if larger.first_kept > cut.first_kept:
                    kept = f"from message {cut.first_kept} in {tokens_left} tokens"
                    problem = f"{kept}, from {larger.first_kept} in {more}"
                    raise self.checked.broken("KeepsNewest: more tokens left never keep less", problem)
            self._check_most(ledger, cut, tokens_left)

    def _check_most(self, ledger: Ledger, cut: Cut, tokens_left: Tokens) -> None:
        older = max((start for start, _ in ledger.turns() if start < cut.first_kept), default=None)
        if older is not None and ledger.kept(attrs.evolve(cut, first_kept=older)).upper <= tokens_left:
            problem = f"in {tokens_left} tokens the turn at message {older} would fit too"
            raise self.checked.broken("KeepsNewest: as many turns stay as fit", problem)


def _list_said(cut: Cut) -> tuple[object, ...]:
    return cut.first_kept, cut.reason, None if cut.summary is None else cut.summary.raw


@attrs.frozen
class _RewritingCheck:
    """A policy that rewrites, and a conversation."""

    checked: _CheckedPolicy
    rung: RewritingRung
    window: Window
    ledger: Ledger

    def check(self) -> None:
        readings = [self.ledger.reading(index) for index in range(self.ledger.first, self.ledger.length)]
        before = copy.deepcopy([(message.raw, message.seen, message.parts) for message in readings])
        changed: dict[int, Message | None] = {}
        first, again = self._list_proposals(changed), self._list_proposals(changed)
        unused = self.window.ledger(self.rung)  # remembers nothing
        anew = attrs.evolve(self, ledger=unused)._list_proposals(changed)
        if not list(map(_show_change, first)) == list(map(_show_change, again)) == list(map(_show_change, anew)):
            raise self.checked.broken(_PURE, "it proposes other changes the second time")
        for change in first:
            self.checked.quotes_nothing(change.reason, self.window)
        self._take(changed)
        self._check_declared(changed)
        if [(message.raw, message.seen, message.parts) for message in readings] != before:
            raise self.checked.broken(_UNCHANGED, "a message that it was shown changed")
        self._check_idempotent(changed)

    def _view_passage(self, changed: Mapping[int, Message | None]) -> PassageView:
        stretches = [(self.ledger.first, self.ledger.length)]
        return PassageView(self.ledger, changed, self.rung.policy, stretches, self.ledger.newest_turns(1))

    def _list_proposals(self, changed: Mapping[int, Message | None]) -> list[Change]:
        passage = self._view_passage(dict(changed))
        found = list(itertools.islice(read_changes(self.rung.policy, passage), _MOST_CHANGES))
        if len(found) == _MOST_CHANGES:
            raise self.checked.broken("its proposals end", f"it proposes {_MOST_CHANGES} changes and more")
        return found

    def _take(self, changed: dict[int, Message | None]) -> None:
        passage = self._view_passage(changed)
        for change in itertools.islice(read_changes(self.rung.policy, passage), _MOST_CHANGES):
            self._check_same_speaker(passage, change)
            refuse_unlawful(self.rung.policy, passage, change)
            if sum(gain.saved for gain in passage.gains(change).values()) > 0:
                changed.update(change.messages)

    def _check_same_speaker(self, passage: PassageView, change: Change) -> None:
        for index, message in change.messages.items():
            if message is not None and passage.holds(index):
                old = passage.current(index)
                if kept_by_edits(message) != kept_by_edits(old):
                    problem = f"message {index} has another role, call or result"
                    raise self.checked.broken("a rewritten message keeps role, calls and results", problem)

    def _check_declared(self, changed: Mapping[int, Message | None]) -> None:
        keeps = self.rung.traits.keeps
        if isinstance(keeps, KeepsAll) and None in changed.values():
            raise self.checked.broken("KeepsAll: every turn stays", "it drops messages")
        if isinstance(keeps, KeepsNewest | KeepsChosen):
            floor = self.ledger.newest_turns(keeps.at_least)
            touched = [index for index in changed if index >= floor]
            if touched:
                problem = f"it changes message {touched[0]}"
                raise self.checked.broken(f"the {keeps.at_least} newest turns stay, as it declares", problem)
            self._check_whole_turns(changed)

    def _check_whole_turns(self, changed: Mapping[int, Message | None]) -> None:
        turns = [set(range(*self.ledger.turn_span(index))) for index in changed]
        torn = next((turn for turn in turns if any(changed.get(index, _KEPT) is not None for index in turn)), None)
        if torn is not None:
            problem = f"of the turn at message {min(torn)} something else changed than all of it being dropped"
            raise self.checked.broken("only whole turns are dropped, as it declares", problem)

    def _check_idempotent(self, changed: dict[int, Message | None]) -> None:
        once = dict(changed)
        self._take(changed)
        again = {index: message for index, message in changed.items() if not _are_same(once.get(index, _KEPT), message)}
        if again:
            problem = f"asked again it {_describe_done(again)}; first it {_describe_done(once)}"
            raise self.checked.broken("it is idempotent", problem)


_KEPT = object()
"""Stands for an unchanged message."""
_NAMED = 3
"""The most messages that an error names."""


def _are_same(before: object, after: Message | None) -> bool:
    if isinstance(before, Message) and after is not None:
        return before.raw == after.raw
    return before is after


def _describe_done(changed: Mapping[int, Message | None]) -> str:
    done = [f"{'dropped' if changed[index] is None else 'rewrote'} message {index}" for index in sorted(changed)]
    more = [f"{len(done) - _NAMED} more"] if len(done) > _NAMED else []
    return " and ".join([", ".join(done[:_NAMED]) or "changed nothing", *more])


def _show_change(change: Change) -> tuple[object, ...]:
    messages = {index: None if message is None else message.raw for index, message in change.messages.items()}
    return messages, change.reason
