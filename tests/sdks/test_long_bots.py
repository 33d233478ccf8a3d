"""Sixty turns of a bot through the real client, with the provider's own tools, its summaries and a schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.integrations.bots import ANTHROPIC, CONVERSE, RESPONSES, Api, Body, Post, lived_through
from tests.integrations.ledger import line
from tests.integrations.provider import providing

from .clients import runtime

pytestmark = pytest.mark.timeout(600)  # the clients spell a hundred items anew for each call

TURNS = 60


def _openai(url: str) -> Post:
    import openai

    client = openai.OpenAI(api_key="x", base_url=f"{url}/v1", max_retries=0)
    return lambda body: _dumped(client.responses.create(**body))


def _anthropic(url: str) -> Post:
    import anthropic

    client = anthropic.Anthropic(api_key="x", base_url=url, max_retries=0)
    return lambda body: _dumped(client.messages.create(**body))


def _boto3(url: str) -> Post:
    client = runtime(url)
    return lambda body: client.converse(modelId=CONVERSE.model, **body)


def _dumped(answer: Any) -> Body:
    return answer.model_dump(exclude_unset=True, mode="json")


@pytest.mark.parametrize(
    ("api", "client"),
    [(RESPONSES, _openai), (ANTHROPIC, _anthropic), (CONVERSE, _boto3)],
    ids=["responses", "anthropic", "converse"],
)
def test_sixty_turns_with_tools_of_the_provider_are_valid_and_within_budget(
    api: Api, client: Callable[[str], Post]
) -> None:
    with providing(hosted=api.kinds, compacts=True) as provider:
        assembler, contexts = lived_through(api, client(provider.url), TURNS)
        assert assembler.budget is not None
        limit = assembler.budget.input_limit
        name = f"{client.__name__[1:]}, {api.path}"
        found = line("none", name, provider, contexts, dialect=api.dialect, model=api.model, limit=limit)
    assert found.calls == 3 * TURNS
    assert (found.over, found.invalid, found.unpriced) == ([], [], [])
