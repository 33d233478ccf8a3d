"""Sixty turns against a provider with hidden tokens, through Strands and the providers' clients."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import boto3
import pytest
from strands import Agent
from strands.models import BedrockModel
from strands.models.openai import OpenAIModel
from strands.session import FileSessionManager

from assembler.dialects import Dialect, bedrock, openai_chat
from assembler.integrations.strands import AssemblerConversationManager
from tests.integrations.bills import AssertFits, base, either_way
from tests.integrations.provider import Provider
from tests.integrations.script import question
from tests.integrations.strands.test_on_the_wire import CLAUDE, look_up

pytestmark = pytest.mark.timeout(600)


def bedrock_at(provider: Provider) -> Any:
    session = boto3.Session(aws_access_key_id="x", aws_secret_access_key="x", region_name="us-east-1")
    return BedrockModel(boto_session=session, endpoint_url=provider.url, model_id=CLAUDE)


def openai_at(provider: Provider) -> Any:
    return OpenAIModel(model_id="gpt-4o", client_args={"api_key": "x", "base_url": f"{provider.url}/v1"})


@either_way
@pytest.mark.parametrize(
    ("model_at", "name", "dialect"), [(bedrock_at, CLAUDE, bedrock), (openai_at, "gpt-4o", openai_chat)]
)
def test_a_session_that_is_loaded_at_each_turn_fits_what_the_provider_takes(
    tmp_path: Path, model_at: Any, name: str, dialect: Dialect, assert_fits: AssertFits
) -> None:
    def run(provider: Provider, turns: int) -> None:
        model = model_at(provider)
        for turn in range(turns):
            agent = Agent(
                model=model,
                conversation_manager=AssemblerConversationManager(base(name, dialect)),
                session_manager=FileSessionManager("one", storage_dir=str(tmp_path / f"{turns}")),
                tools=[look_up],
                system_prompt="You plan.",
                callback_handler=None,
            )
            agent(question(turn))

    assert_fits(run, name, dialect)
