"""Finds out what a chat template accepts and writes, by rendering small conversations. It reads no template's code.

A template is a program. Only its output shows whether it refuses two user messages in a row, or silently drops a system
message. Each trait takes one render of a few words.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

import attrs

from assembler.dialects.chat_template.framing import Framing, measure_call, measure_tooling, try_render
from assembler.dialects.chat_template.render import Renderer, TemplateMessage
from assembler.dialects.chat_template.samples import (
    NAME,
    ONE,
    RESULT,
    RULE,
    THREE,
    TOOL,
    TWO,
    VALUE,
    write_assistant,
    write_calling,
    write_exchange,
    write_result,
    write_system,
    write_text_message,
    write_user,
)
from budgets import Tokens

_LONG = 25
"""Messages of a long conversation, the user's first and last."""

_EDGES = (
    "one",
    " two ",
    "\n3\n",
    "  - 4.\n\n",
    '{"five": 5}',
    "Six?",
    "<seven>",
    "(8)",
    "\u4e5d\u3002",
    "\ttenth'\r\n",
    "e\u0301",
    *(f"{mark}x{mark}" for mark in string.punctuation for _ in range(2)),
)
"""Texts whose first and last characters tokenizers merge with neighbours, each mark also beside itself; and others."""


@attrs.frozen(kw_only=True)
class Traits:
    """What a template accepts and writes."""

    system: bool
    """Whether a system message is accepted and shown."""
    several_systems: bool
    """Whether two system messages at the head are."""
    late_system: bool
    """Whether a system message in the middle is."""
    developer: bool
    """Whether the template knows the role; if not, a developer message becomes a system message."""
    alternates: bool
    """Whether two messages of one role in a row are refused or dropped."""
    user_first: bool
    """Whether the first message must be the user's, or is written as the user's."""
    user_after_result: bool
    """Whether a user message may follow a tool's answer, if it may follow an assistant's text."""
    contentless: bool
    """Whether an assistant message with calls may have no content."""
    parallel_calls: bool
    """Whether an assistant message may have several calls."""
    words_beside_calls: bool
    """Whether the text of an assistant message with calls is shown: some templates write only the calls."""
    once: Tokens
    """What a prompt costs on top of its messages."""
    asked: Tokens
    """What a user's message costs on top of its text."""
    answered: Tokens
    """What an assistant's message costs on top of its text."""
    asked_times: int = 1
    """How often the text of a user's message is shown."""
    answered_times: int = 1
    """How often the text of an assistant's message is shown."""
    called: Tokens
    """What a call costs on top of its name and arguments, plus what a result costs more than another message."""
    tooling: Tokens
    """What tools cost on top of their texts."""
    adds_up: bool
    """Whether texts with all kinds of endings cost together what each costs alone: nothing is trimmed or merged."""
    costs_alike: bool
    """Whether a message costs the same in a long conversation as in a short one, and whoever speaks last."""
    shows_tools: bool
    shows_calls: bool
    shows_results: bool
    shows_reasoning: bool


def traits_of(renderer: Renderer) -> Traits:
    """Find a template's traits with about two dozen renders of a few words each."""
    framing, probe = Framing.of(renderer), _Probe(renderer)
    alternates = probe.alternates()
    with_calls = try_render(renderer, write_exchange(), [TOOL])
    asked = [write_user(ONE)]
    return Traits(
        once=framing.once,
        asked=framing.asked,
        answered=framing.answered,
        asked_times=framing.asked_times,
        answered_times=framing.answered_times,
        called=measure_call(renderer, framing.answered + framing.asked),
        tooling=measure_tooling(renderer),
        system=probe.shows([write_system(RULE), *asked], RULE, ONE),
        several_systems=probe.shows([write_system(RULE), write_system(TWO), *asked], RULE, TWO, ONE),
        late_system=probe.shows([*asked, write_assistant(TWO), write_system(RULE)], RULE, ONE),
        developer="developer" in renderer.source,
        alternates=alternates,
        user_first=probe.hides_greeting() or probe.hides_greeting([TOOL]),
        user_after_result=probe.takes_user_after_result(),
        contentless=try_render(renderer, _remove_content(write_exchange()), [TOOL]) is not None,
        parallel_calls=probe.takes_parallel_calls(),
        words_beside_calls=with_calls is None or probe.shows_words_beside_calls(),
        adds_up=probe.keeps_texts_apart() and framing.surplus(renderer, [ONE, *_EDGES, *_EDGES]) == 0,
        # If roles must alternate, only the sum of the two framings is exact.
        costs_alike=_costs_alike(renderer, framing, (-framing.answered, framing.asked) if alternates else (0, 0)),
        shows_tools=probe.shows(asked, NAME, tools=[TOOL]),
        shows_calls=with_calls is None or f"{VALUE}0" in with_calls,
        shows_results=with_calls is None or f"{RESULT}0" in with_calls,
        shows_reasoning=probe.shows_reasoning(),
    )


@attrs.frozen(eq=False)
class _Probe:
    """Asks a template one question at a time."""

    renderer: Renderer

    def shows(self, messages: list[TemplateMessage], *marks: str, tools: Sequence[TemplateMessage] = ()) -> bool:
        text = try_render(self.renderer, messages, tools)
        return text is not None and all(mark in text for mark in marks)

    def alternates(self) -> bool:
        twice_asked = [write_user(ONE), write_user(TWO)]
        twice_answered = [write_user(ONE), write_assistant(TWO), write_assistant(THREE), write_user("x")]
        return not (self.shows(twice_asked, ONE, TWO) and self.shows(twice_answered, TWO, THREE))

    def takes_user_after_result(self) -> bool:
        exchange = write_exchange()
        after_result, after_answer = [*exchange[:-1], write_user(TWO)], [*exchange, write_user(THREE)]
        return self.shows(after_result, TWO, tools=[TOOL]) or not self.shows(after_answer, THREE, tools=[TOOL])

    def takes_parallel_calls(self) -> bool:
        messages = [write_user(ONE), write_calling(2), write_result(0), write_result(1)]
        return self.shows(messages, f"{VALUE}0", f"{VALUE}1", tools=[TOOL])

    def shows_words_beside_calls(self) -> bool:
        first, calling, *rest = write_exchange()
        return self.shows([first, {**calling, "content": THREE}, *rest], THREE, tools=[TOOL])

    def shows_reasoning(self) -> bool:
        first, calling, result, _ = write_exchange()
        return self.shows([first, {**calling, "reasoning_content": THREE}, result], THREE, tools=[TOOL])

    def hides_greeting(self, tools: Sequence[TemplateMessage] = ()) -> bool:
        greeted, asked = (
            try_render(self.renderer, [write_text_message(role, ONE), write_user(TWO)], tools)
            for role in ("assistant", "user")
        )
        return greeted is None or ONE not in greeted or greeted == asked

    def keeps_texts_apart(self) -> bool:
        """Whether each text begins after a line break, and ends before white space, or a control token is there.

        After a blank or a letter a word may be other tokens than alone. No small set of words shows that of a
        vocabulary.
        """
        text = try_render(self.renderer, [write_user(THREE), write_assistant(TWO), write_user(ONE)]) or ""
        spans = self.renderer.control_spans(text)
        begins = {0, *(stop for _, stop in spans)} | {place + 1 for place, mark in enumerate(text) if mark == "\n"}
        ends = {len(text), *(start for start, _ in spans)} | {
            place for place, mark in enumerate(text) if mark.isspace()
        }
        found = [match.span() for match in re.finditer("|".join((ONE, TWO, THREE)), text)]
        return all(start in begins and stop in ends for start, stop in found)


def _costs_alike(renderer: Renderer, framing: Framing, between: tuple[Tokens, Tokens]) -> bool:
    """Whether a message costs the same in a long conversation as in a short one, and whoever speaks last.

    `between` says by how much it may differ if the model speaks last.
    """
    if framing.surplus(renderer, [ONE] * _LONG) != 0:
        return False
    replied = framing.surplus(renderer, [ONE] * (_LONG - 1))
    least, most = between
    return replied is None or least <= replied <= most


def _remove_content(messages: list[TemplateMessage]) -> list[TemplateMessage]:
    return [
        {key: value for key, value in message.items() if key != "content" or "tool_calls" not in message}
        for message in messages
    ]
