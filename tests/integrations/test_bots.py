"""Twelve turns of a bot over HTTP, with the provider's own tools, its summaries and a schema.

`tests/sdks/test_long_bots.py` runs sixty through the real clients.
"""

from __future__ import annotations

import json
import urllib.request

import pytest

from tests.integrations.bots import ANTHROPIC, CONVERSE, RESPONSES, Api, Body, lived_through
from tests.integrations.ledger import line
from tests.integrations.provider import providing


@pytest.mark.parametrize("api", [RESPONSES, ANTHROPIC, CONVERSE], ids=["responses", "anthropic", "converse"])
def test_twelve_turns_with_tools_of_the_provider_are_valid_and_within_budget(api: Api) -> None:
    with providing(hosted=api.kinds, compacts=True) as provider:

        def post(body: Body) -> Body:
            request = urllib.request.Request(provider.url + api.path, json.dumps(body).encode(), method="POST")
            with urllib.request.urlopen(request) as answer:
                return json.loads(answer.read())

        assembler, contexts = lived_through(api, post, turns=12)
        assert assembler.budget is not None
        limit = assembler.budget.input_limit
        found = line("none", "urllib", provider, contexts, dialect=api.dialect, model=api.model, limit=limit)
    assert found.hosted == ", ".join(sorted(api.kinds))
    assert found.calls == 36
    assert any(context.dropped for context in contexts)
    assert (found.over, found.invalid, found.unpriced) == ([], [], [])
