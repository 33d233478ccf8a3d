"""The laws of a build hold for conversations as agents spell them, for every API and many models.

What is drawn is a seed: a generator of its own spells more loosely than a strategy that must shrink.
"""

from __future__ import annotations

import copy
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ContextLengthError, ConversationError, TrimOldest, count_request
from assembler.policies import ClearToolResults, KeepRelevant, Offload, Policy, TrimSteps, Truncate
from assembler.verify import verify
from budgets import Budget, Limit
from tests.assembler.one_price import adds_up
from tests.scaled import scaled

from .loosely_spelled import SHAPES, Message, talk, words

MODELS = [
    *[("openai_chat", model) for model in ("gpt-4o", "gpt-5-mini", "o3", "gpt-3.5-turbo", "deepseek-chat", "grok-4")],
    *[("openai_chat", model) for model in ("llama-3.3-70b-versatile", "glm-4.6", "a-model-of-tomorrow")],
    *[("openai_responses", model) for model in ("gpt-5", "gpt-4o", "grok-4.3", "a-model-of-tomorrow")],
    *[("anthropic", model) for model in ("claude-sonnet-4-5", "claude-3-haiku-20240307", "claude-opus-4-7")],
    *[("gemini", model) for model in ("gemini-2.5-flash", "gemini-3-pro-preview")],
    *[("bedrock", model) for model in ("anthropic.claude-sonnet-4-5", "amazon.nova-lite-v1:0")],
    ("bedrock", "meta.llama3-1-70b-instruct-v1:0"),
    *[("mistral", model) for model in ("mistral-large-latest", "mistral-small-latest")],
]
LADDERS: list[list[Policy]] = [
    [TrimOldest()],
    [TrimOldest(low_water=0.5)],
    [TrimOldest(keep_turns=2, note="Earlier turns are gone.")],
    [ClearToolResults(1), TrimOldest()],
    [TrimOldest(), TrimSteps()],
    [Truncate(20), TrimOldest()],
    [Truncate(20), ClearToolResults(0), TrimOldest(low_water=0.6)],
    [KeepRelevant(low_water=0.6)],
    [Offload({}, min_tokens=10, preview=20), TrimOldest()],
]
LIMITS = [{}, {}, {"knowledge": Limit(cap=0.3)}, {"conversation": Limit(floor=0.2)}]
TOOLS = [
    {"name": name, "description": f"Does {name}.", "parameters": {"type": "object", "properties": {"a": {}}}}
    for name in ("search", "run")
]


class Session:
    """Drawn settings and messages, from which equal assemblers are made."""

    def __init__(self, draw: Random) -> None:
        self.dialect, self.model = draw.choice(MODELS)
        self.messages: list[Message] = SHAPES[draw.choice(list(SHAPES))](talk(draw), draw)
        self.ladder, self.limits = draw.choice(LADDERS), draw.choice(LIMITS)
        self.documents = [words(draw, 20) for _ in range(draw.choice([0, 0, 2]))]

    def with_no_message(self, window: int) -> Assembler:
        budget = Budget(window, model=self.model, max_output_tokens=0, limits=self.limits)
        made = Assembler(budget, dialect=self.dialect, on_overflow=self.ladder).add_instruction("Be brief.")
        for number, document in enumerate(self.documents):
            made.add_knowledge(document, type="rag", source=f"{number}.md", score=number)
        return made.add_capability(TOOLS)

    def fresh(self, window: int) -> Assembler:
        return self.with_no_message(window).add_messages(copy.deepcopy(self.messages))

    def grown(self, window: int, draw: Random) -> Assembler:
        """The same, message by message, built in between."""
        made = self.with_no_message(window)
        for message in copy.deepcopy(self.messages):
            made.add_message(message)
            if draw.random() < 0.4:
                try:
                    made.build()
                except (ConversationError, ContextLengthError):
                    continue
        return made

    def holds(self, window: int, draw: Random) -> None:
        context = self.fresh(window).build()
        request = context.request()
        assert context.count.upper <= window
        assert count_request(request, dialect=self.dialect, model=self.model) == context.count
        assert not verify(request, dialect=self.dialect)
        adds_up(context)
        grown = self.grown(window, draw).build()
        assert (grown.request(), grown.count) == (request, context.count)


@scaled(1)
@given(st.integers(0, 2**32))
def test_a_request_built_of_any_spelling_is_valid_and_costs_what_is_counted(seed: int) -> None:
    draw = Random(seed)
    session = Session(draw)
    try:
        whole = session.fresh(1_000_000).build().count.upper
    except ConversationError:  # an image where the API takes none
        return
    windows = [whole, whole - 1, int(whole * draw.random()) + draw.randrange(-2, 3)]
    for window in windows:
        try:
            session.holds(max(window, 1), draw)
        except ContextLengthError as error:
            _instructs(session, error, window < whole or bool(session.limits))


def _instructs(session: Session, error: Any, may_fail: bool) -> None:
    assert may_fail
    assert error.required > error.available
    if error.smallest_window is not None:
        session.fresh(error.smallest_window).build()
