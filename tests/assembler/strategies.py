"""The library's strategies, from their table, with examples of each for the tests of every law."""

from __future__ import annotations

from typing import Any, cast

from assembler.strategies import REMINDER, ChatRegions, CitedSources, FittedTemplate, Placement, Strategy, built_in
from assembler.strategies.sources.layout import NativeSources
from assembler.strategies.sources.merging import MergeNeighbours

BUILT_IN: list[type[Strategy]] = [getattr(built_in, name) for name in dir(built_in)]

LISTING = (
    "Answer from these documents:\n"
    "{% for document in documents %}[{{ loop.index }}] {{ document.source or document.type }}: {{ document.text }}\n"
    "{% endfor %}\n"
    "Question: {{ question }}"
)

EXAMPLES: dict[type[Strategy], dict[str, Strategy]] = {
    ChatRegions: {
        "every document": ChatRegions(),
        "with a reminder": ChatRegions(reminder=REMINDER),
        "documents at the question": ChatRegions(placement=Placement.QUESTION),
        "documents at the result": ChatRegions(placement=Placement.TOOL),
    },
    CitedSources: {
        "sources": CitedSources(),
        "sources at the question": CitedSources(placement=Placement.QUESTION),
        "sources at the result": CitedSources(placement=Placement.TOOL),
        "sources merged": CitedSources(merging=MergeNeighbours()),
        "sources as blocks at the question": CitedSources(layout=NativeSources(), placement=Placement.QUESTION),
        "sources as blocks at the result": CitedSources(layout=NativeSources(), placement=Placement.TOOL),
        "three sources, shorter": CitedSources(top_k=3, compress=lambda text: text[:3]),
    },
    FittedTemplate: {
        "a Jinja template": FittedTemplate(LISTING),
        "an f-string template": FittedTemplate("{question}\n\n{documents}"),
        "a template without a question": FittedTemplate(
            " {% for one in documents %}<d>{{ one.text|e }}</d>{% endfor %}"
        ),
        "a template of two documents": FittedTemplate(
            "{{ question }}{% for d in documents[:2] %}\n{{ d.text }}{% endfor %}"
        ),
    },
}
"""Of strategies that need an option, or have ways that differ; of any other, the one that is made without options."""


def examples_of(strategy: type[Strategy]) -> dict[str, Strategy]:
    if strategy in EXAMPLES:
        return EXAMPLES[strategy]
    try:
        return {strategy.__name__: cast(Any, strategy)()}
    except TypeError as error:
        raise TypeError(f"{error}: add an example to EXAMPLES of tests/assembler/strategies.py") from error


EVERY: dict[str, Strategy] = {name: example for strategy in BUILT_IN for name, example in examples_of(strategy).items()}
