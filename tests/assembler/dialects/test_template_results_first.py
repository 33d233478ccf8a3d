"""User words between the answers of one step follow them in a chat template's prompt, at its price."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("transformers")

from assembler import Assembler, count_request
from assembler.dialects.chat_template.dialect import chat_template
from assembler.verify import verify
from tests.assembler.dialects.test_chat_template import CHATML, tokenizer_of
from tests.scaled import scaled

Dict = dict[str, Any]

LOOSE = """{%- for message in messages %}[{{ message.role }}] {{ message.content or '' }}
{%- for call in message.tool_calls or [] %}{{ call.function.name }}{{ call.function.arguments | tojson }}{% endfor %}
{{- '<|eot|>' }}{% endfor %}"""
DIALECTS = {name: chat_template(tokenizer_of(template)) for name, template in (("chatml", CHATML), ("loose", LOOSE))}
TOOL: Dict = {"name": "ask", "description": "Asks.", "parameters": {"type": "object", "properties": {}}}


@attrs.frozen
class Apart:
    """A history, the texts of each step (answers, then words), and whether words stand between answers."""

    history: list[Dict]
    texts: list[str]
    between: bool


@st.composite
def apart(draw: st.DrawFn) -> Apart:
    """Steps whose answers come in several messages of the user's, some of which say something too."""
    history: list[Dict] = [{"role": "user", "content": "q"}]
    texts: list[str] = []
    between = False
    for step in range(draw(st.integers(1, 3))):
        calls = [f"c{step}x{place}" for place in range(draw(st.integers(1, 4)))]
        uses: list[Dict] = [{"type": "tool_use", "id": call, "name": "ask", "input": {}} for call in calls]
        history.append({"role": "assistant", "content": uses})
        messages: list[list[Dict]] = [[]]
        behind: list[str] = []
        for call in calls:
            texts.append(f"answer {call}.")
            messages[-1].append({"type": "tool_result", "tool_use_id": call, "content": texts[-1]})
            if draw(st.booleans()):
                behind.append(f"word {call}.")
                messages[-1].append({"type": "text", "text": behind[-1]})
            if draw(st.booleans()) and call != calls[-1]:
                between = between or any(part["type"] == "text" for part in messages[-1])
                messages.append([])
        texts += behind
        history += [{"role": "user", "content": content} for content in messages]
    return Apart(history, texts, between)


@scaled(0.5)
@given(drawn=apart(), name=st.sampled_from(sorted(DIALECTS)))
def test_every_answer_of_a_step_precedes_its_words_in_the_prompt(drawn: Apart, name: str) -> None:
    dialect = DIALECTS[name]
    context = Assembler(dialect=dialect).add_capability([TOOL]).add_messages(drawn.history).build()
    request = context.request()
    places = [request["prompt"].index(text) for text in drawn.texts]
    assert places == sorted(places)
    assert verify(request, dialect=dialect) == []
    counted = count_request(request, dialect=dialect)
    assert (context.count.tokens, context.count.upper) == (counted.tokens, counted.upper)
    assert ("between the answers of one step" in str(context.report)) == drawn.between
