"""Checks a counter's promises: pure, total, never negative, and it counts control tokens as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import attrs

from assembler.drawn.engine import given, st
from assembler.testing.conformance.broken import Checked, examples
from budgets import Grade, Tokens
from budgets.counters.guard import attribute_of, name_of

_NOTHING: Mapping[str, Tokens] = {}
_CONTROL = {"<|endoftext|>": "<|endofnovel|>", "<|im_start|>": "<|im_stark|>", "</s>": "</q>", "[INST]": "[UNST]"}
"""Control tokens of well-known vocabularies, each with a similar text that is not one."""
_HARD = (
    *("\n", " ", "\t\r\n", "\x00", "\u200d", "e\u0301", "مرحبا", "你好", "👩‍👩‍👧", "\U0010ffff"),
    *_CONTROL,
    *_CONTROL.values(),
)
_WORD = "a"
"""A text that no tokenizer counts as 0, which an estimate does that divides its length and rounds down."""
_TEXTS = st.one_of(st.sampled_from(_HARD), st.text(st.characters(codec="utf-8"), max_size=80))


def check_counter(
    counter: Callable[[str], Tokens], *, known: Mapping[str, Tokens] = _NOTHING, max_examples: int = 100
) -> None:
    """Raise `ContractError` unless `counter` keeps what every counter promises.

    It returns an int of 0 or more for any text without lone surrogates, and 0 for "". It returns the same number for
    the same text, in any order and from several threads. It counts a text that looks like a control token as text. Its
    `name`, `grade`, `notes`, and `additive_at_tag_seams`, if it has them, are true. `known` are texts with their true
    counts, from another source. A counter whose `grade` is not exact may count more than the truth, never less, since
    its numbers are the upper bound too. Calls the counter about five times an example.
    """
    __tracebackhide__ = True
    held = _Held(name_of(counter), counter)
    held.says_of_itself()
    for text, tokens in known.items():
        held.knows(text, tokens)
    if held.grade is not Grade.EXACT and not held.count(_WORD):
        raise held.broken("an estimate errs high", f"{_WORD!r} costs 0: round up")
    if held.count("") != 0:
        raise held.broken('it counts "" as 0', f"got {held.count('')}")
    for control, lookalike in _CONTROL.items():
        least = held.count(lookalike) / 2
        problem = f"{control!r} costs {held.count(control)}, and {lookalike!r} {held.count(lookalike)}"
        if held.count(control) < least:
            raise held.broken("a control token in a text is text", problem)
    held.each_alone(max_examples)
    held.together()
    if attribute_of(counter, "additive_at_tag_seams") is True:
        held.at_seams(max_examples)


@attrs.frozen
class _Held(Checked):
    """A counter under check."""

    counter: Callable[[str], Tokens]

    @property
    def grade(self) -> object:
        return attribute_of(self.counter, "grade", Grade.EXACT)

    def knows(self, text: str, tokens: Tokens) -> None:
        counted = self.count(text)
        if self.grade is Grade.EXACT and counted != tokens:
            raise self.broken("it counts what is known", f"{text!r}: expected {tokens}")
        if counted < tokens:
            raise self.broken("an estimate errs high", f"{text!r}: {counted}, and is known to cost {tokens}")

    def count(self, text: str) -> Tokens:
        __tracebackhide__ = True
        try:
            tokens: object = self.counter(text)
        except Exception as error:
            problem = f"{text!r}: raised {type(error).__name__}"
            raise self.broken("it counts every text", problem) from error
        if type(tokens) is not int or tokens < 0:
            raise self.broken("it answers with an int of 0 or more", f"{text!r}: got {tokens!r}")
        return tokens

    def says_of_itself(self) -> None:
        notes = attribute_of(self.counter, "notes", ())
        if not isinstance(self.grade, Grade):
            raise self.broken("its grade is a budgets.Grade", f"got {self.grade!r}")
        if not isinstance(notes, tuple) or set(map(type, cast("tuple[object, ...]", notes))) - {str}:
            raise self.broken("its notes are a tuple of texts", f"got {notes!r}")

    def each_alone(self, max_examples: int) -> None:
        """Check that equal texts get equal numbers whatever is counted in between, and that no note quotes a text."""

        @examples(max_examples)
        @given(_TEXTS, _TEXTS)
        def same_each_time(text: str, other: str) -> None:
            first = self.count(text)
            self.count(other)
            again = self.count(text)
            if first != again:
                raise self.broken("it counts the same text the same", f"{text!r}: {first}, then {again}")

        same_each_time()
        self.count(secret := "a text that nobody may read: 8f1e")
        said = f"{attribute_of(self.counter, 'notes', ())} {attribute_of(self.counter, 'name', '')}"
        if secret in said:
            raise self.broken("it quotes no text", "its name or its notes hold what it counted")

    def together(self) -> None:
        texts = [*_HARD, *(text * 50 for text in _HARD)] * 4
        alone = [self.count(text) for text in texts]
        with ThreadPoolExecutor(4) as threads:
            together = list(threads.map(self.count, texts))
        wrong = [text for text, one, other in zip(texts, alone, together, strict=True) if one != other]
        if wrong:
            raise self.broken("several threads may count at once", f"{len(wrong)} of {len(texts)} texts differ")

    def at_seams(self, max_examples: int) -> None:
        @examples(max_examples)
        @given(_TEXTS, _TEXTS)
        def adds(text: str, other: str) -> None:
            one, two = f"<a>{text}</a>\n\n", f"<b>{other}</b>"
            apart, joined = self.count(one) + self.count(two), self.count(one + two)
            problem = f"{one!r} and {two!r} cost {apart} apart and {joined} together"
            if apart != joined:
                raise self.broken("its counts add up at tag seams, as it promises", problem)

        adds()
