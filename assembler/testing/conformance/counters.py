"""Checks a counter's promises: pure, total, never negative, and it counts control tokens as text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import attrs

from assembler.drawn.engine import SearchStrategy, given, st
from assembler.testing.conformance.checking import (
    Checked,
    Texts,
    copy_subject,
    examples,
    failure_of,
    quotes,
    refuse_class,
    with_own,
)
from budgets import Grade, Tokens
from budgets.counters.guard import attribute_of, name_of, refuse_wrong_arity

_NOTHING: Mapping[str, Tokens] = {}
_CONTROL = {"<|endoftext|>": "<|endofnovel|>", "<|im_start|>": "<|im_stark|>", "</s>": "</b>", "[INST]": "[UNST]"}
"""Control tokens of well-known vocabularies, each with a similar text that is not one."""
_HARD = (
    *("\n", " ", "\t\r\n", "\x00", "\u200d", "e\u0301", "مرحبا", "你好", "👩‍👩‍👧", "\U0010ffff"),
    *_CONTROL,
    *_CONTROL.values(),
)
_WORD = "a"
"""A text that no tokenizer counts as 0, which an estimate does that divides its length and rounds down."""
_TEXTS = st.one_of(st.sampled_from(_HARD), st.text(st.characters(codec="utf-8"), max_size=80))
_LETTERS = ("a", "word", "слово", "λόγος", "مرحبا", "你好", "한국어", "देश", "café", "7", "👍")
"""Texts that a reader sees, in several scripts: each costs at least a token."""
_LIKE = (("WORD", "word"), ("Word ", "Word"), ("word\n", "word"), ("\n" * 2, "\n"), ("12", "123"))
"""Texts that a careless memory takes for the same."""
_MANY = 250
_LONG = 24_000
"""Of a short word: a text that no tokenizer has seen whole, and that some engines fail at."""
_ENDS = ("\n", "\n\n", "\n\n\n", "\r\n", ".\n", "</b>\n\n")


def check_counter(
    counter: Callable[[str], Tokens],
    *,
    known: Mapping[str, Tokens] = _NOTHING,
    texts: Texts | None = None,
    max_examples: int = 100,
) -> None:
    """Raise `ContractError` unless `counter` keeps what every counter promises.

    It returns an int of 0 or more for any text without lone surrogates, and 0 for "". It returns the same number for
    the same text, in any order and from several threads. A text with letters costs at least 1, and a longer one more.
    It counts a text that looks like a control token as text. Its `name`, `grade`, `notes`, and
    `additive_at_tag_seams`, if it has them, are true.

    Only `known` can show that a number is right: texts with their true counts, from another source. A counter whose
    `grade` is not exact may count more than the truth, never less, since its numbers are the upper bound too. `texts`
    are drawn besides the check's own: a list, or a Hypothesis strategy. Calls the counter about five times an example.
    """
    __tracebackhide__ = True
    refuse_class(counter, "check_counter")
    refuse_wrong_arity(counter)
    checked = _CheckedCounter(name_of(counter), counter, copy_subject(counter))
    failure = failure_of(checked.name, lambda: checked.check(known, with_own(_TEXTS, texts), max_examples))
    if failure is not None:
        raise failure


@attrs.define(eq=False)
class _CheckedCounter(Checked):
    """A counter under check."""

    counter: Callable[[str], Tokens]
    unused: Callable[[str], Tokens] | None
    """A copy that counted nothing yet; None if it cannot be copied."""

    def check(self, known: Mapping[str, Tokens], texts: SearchStrategy[str], max_examples: int) -> None:
        self.declares_its_members()
        for text, tokens in known.items():
            self.knows(text, tokens)
        if self.grade is not Grade.EXACT and not self.count(_WORD):
            raise self.broken("an estimate errs high", f"{_WORD!r} costs 0: round up")
        if (found := self.count("")) != 0:
            raise self.broken('it counts "" as 0', f"got {found}; take off what it adds around a text")
        self.costs_more_if_longer()
        self.takes_control_tokens_as_text()
        self.counts_each_alone(texts, max_examples)
        self.tells_texts_apart()
        self.counts_in_threads()
        if attribute_of(self.counter, "additive_at_tag_seams") is True:
            self.adds_up_at_seams(texts, max_examples)
        if name_of(self.counter) != self.name:
            raise self.broken("its name stays the same", "it has another one after some counts")

    @property
    def grade(self) -> object:
        return attribute_of(self.counter, "grade", Grade.EXACT)

    def knows(self, text: str, tokens: Tokens) -> None:
        counted = self.count(text)
        if self.grade is Grade.EXACT and counted != tokens:
            raise self.broken("it counts what is known", f"{text!r}: expected {tokens}, got {counted}")
        if counted < tokens:
            raise self.broken("an estimate errs high", f"{text!r}: {counted}, and is known to cost {tokens}")

    def count(self, text: str) -> Tokens:
        try:
            tokens: object = self.counter(text)
        except Exception as error:
            problem = f"{_shorten(text)}: raised {type(error).__name__}"
            raise self.broken("it counts every text", problem) from error
        if type(tokens) is not int or tokens < 0:
            step = "; call it first, and pass the counter that it makes" if callable(tokens) else ""
            got = type(tokens).__name__ if step else repr(tokens)
            raise self.broken("it answers with an int of 0 or more", f"{_shorten(text)}: got {got}{step}")
        return tokens

    def takes_control_tokens_as_text(self) -> None:
        several = {f"{control} " * 50: f"{like} " * 50 for control, like in _CONTROL.items()}
        for control, lookalike in (_CONTROL | several).items():
            tokens, least = self.count(control), self.count(lookalike)
            if tokens < least / 2:
                problem = f"{_shorten(control)} costs {tokens}, and {_shorten(lookalike)} {least}"
                raise self.broken("a control token in a text is text", f"{problem}; count without special tokens")

    def costs_more_if_longer(self) -> None:
        for text in _LETTERS:
            if self.count(text) == 0:
                raise self.broken("a text with letters costs something", f"{text!r} costs 0")
            self.costs_more_if_repeated_twice_as_often(text, _MANY)
        self.costs_more_if_repeated_twice_as_often("word", _LONG // 2)

    def costs_more_if_repeated_twice_as_often(self, text: str, times: int) -> None:
        once, twice = self.count(f"{text} " * times), self.count(f"{text} " * times * 2)
        if once >= twice:
            problem = f"{text!r} costs {once} if repeated {times} times, and {twice} for twice as many"
            raise self.broken("a longer text costs more", f"{problem}; count without truncation")

    def tells_texts_apart(self) -> None:
        """Check that two copies count alike in either order: a memory may take two texts for one."""
        for one, other in _LIKE if self.unused is not None else ():
            first, second = copy_subject(self.unused), copy_subject(self.unused)
            if first is not None and second is not None:
                asked = first(one), first(other)
                again = (second(other), second(one))[::-1]
                if asked != again:
                    problem = f"{one!r} and {other!r} cost {asked}, and {again} if asked in the other order"
                    raise self.broken("it counts the same text the same", problem)

    def declares_its_members(self) -> None:
        notes = attribute_of(self.counter, "notes", ())
        if not isinstance(self.grade, Grade):
            raise self.broken("its grade is a budgets.Grade", f"got {self.grade!r}")
        if not isinstance(notes, tuple) or set(map(type, cast("tuple[object, ...]", notes))) - {str}:
            raise self.broken("its notes are a tuple of texts", f"got {notes!r}")

    def counts_each_alone(self, texts: SearchStrategy[str], max_examples: int) -> None:
        """Check that equal texts get equal numbers whatever is counted in between, and that no note quotes a text."""

        @examples(max_examples)
        @given(texts, texts)
        def same_each_time(text: str, other: str) -> None:
            first = self.count(text)
            self.count(other)
            again = self.count(text)
            if first != again:
                raise self.broken("it counts the same text the same", f"{text!r}: {first}, then {again}")

        same_each_time()
        self.count(secret := "a text that nobody may read: 8f1e")
        shown = f"{attribute_of(self.counter, 'notes', ())} {attribute_of(self.counter, 'name', '')}"
        if quotes(shown, secret):
            raise self.broken("it quotes no text", "its name or its notes hold what it counted")

    def counts_in_threads(self) -> None:
        texts = [*_HARD, *(text * 50 for text in _HARD)] * 4
        alone = [self.count(text) for text in texts]
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)  # so that threads meet inside a count
        try:
            with ThreadPoolExecutor(4) as threads:
                together = list(threads.map(self.count, texts))
        finally:
            sys.setswitchinterval(interval)
        wrong = [text for text, one, other in zip(texts, alone, together, strict=True) if one != other]
        if wrong:
            problem = f"{len(wrong)} of {len(texts)} texts differ; keep nothing between calls, or use a lock"
            raise self.broken("several threads may count at once", problem)

    def adds_up_at_seams(self, texts: SearchStrategy[str], max_examples: int) -> None:
        @examples(max_examples)
        @given(texts, st.sampled_from(_ENDS), texts.filter(_begins_apart))
        def adds(text: str, end: str, other: str) -> None:
            one, two = f"<a>{text}{end}", other
            apart, joined = self.count(one) + self.count(two), self.count(one + two)
            problem = f"{one!r} and {two!r} cost {apart} apart and {joined} together"
            if apart != joined:
                raise self.broken("its counts add up at tag seams, as it promises", problem)

        adds()


def _begins_apart(text: str) -> bool:
    """Whether a text may follow a seam: no slash, and no line break in its leading white space."""
    blank = text[: len(text) - len(text.lstrip())]
    return not text.startswith("/") and blank.isascii() and not {"\n", "\r"} & {*blank}


def _shorten(text: str) -> str:
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}… ({len(text):,} characters)"


_SHOWN = 80
