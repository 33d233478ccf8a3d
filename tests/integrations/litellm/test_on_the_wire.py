"""Sixty turns through LiteLLM's own clients, in three APIs and through its proxy: what arrives is valid and fits."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import litellm
import pytest

from assembler import Assembler, Context, TrimOldest
from assembler.dialects import openai_chat
from assembler.integrations.litellm import AssemblerHook
from budgets import Budget, Count
from tests.integrations.bots import ANTHROPIC, LOOK_UP, RESPONSES, SCHEMA, Api, Body
from tests.integrations.ledger import Line, line
from tests.integrations.provider import Provider, providing
from tests.integrations.script import looked_up, question

pytestmark = pytest.mark.timeout(900)  # LiteLLM's import alone takes ten seconds

TURNS = 60
LIMIT = 12_000
FUNCTION: Body = {"type": "function", "function": LOOK_UP}
FORMAT: Body = {"name": "trip", "schema": SCHEMA, "strict": True}


@attrs.frozen
class Priced:
    """What was priced for a request: its regions, and what the answer format and the thinking beside them may cost."""

    count: Count

    @classmethod
    def of(cls, context: Context | None) -> Priced:
        assert context is not None
        budget = context.inside.settings.budget
        assert budget is not None
        return cls(Count(context.count.tokens + budget.overhead))


class Watched(AssemblerHook):
    """Keeps what was priced for every call."""

    def __init__(self, assembler: Assembler) -> None:
        super().__init__(assembler)
        self.priced: list[Priced] = []

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any] | None:
        fitted = await super().async_pre_call_deployment_hook(kwargs, call_type)
        self.priced.append(Priced.of(self.last_context))
        return fitted


def base(api: Api) -> Assembler:
    budget = Budget.for_model(api.model, context_window=LIMIT + 1_000, max_output_tokens=1_000)
    return Assembler(budget, dialect=api.dialect, on_overflow=TrimOldest()).add_instruction("Be brief.")


@contextmanager
def hooked(assembler: Assembler) -> Iterator[Watched]:
    watched = Watched(assembler)
    litellm.callbacks = [watched]
    try:
        yield watched
    finally:
        litellm.callbacks = []


def found(client: str, provider: Provider, priced: Any, api: Api, hosted: str = "") -> Line:
    """The line of a run. LiteLLM puts names of its own in place of some (a `container_id`): not all is verbatim."""
    more: Any = {"dialect": api.dialect, "model": api.model, "limit": LIMIT, "hosted": hosted, "verbatim": False}
    return line("LiteLLM 1.110", client, provider, priced, **more)


def assert_clean(result: Line, calls: int) -> None:
    assert result.calls == calls
    assert (result.over, result.invalid, result.unpriced) == ([], [], [])


Ask = Callable[[list[Any], int], Awaitable[Body]]


async def talked(api: Api, ask: Ask) -> None:
    """Sixty turns of a loop that sends its whole history each time."""
    history: list[Any] = []
    for turn in range(TURNS):
        history.append({"role": "user", "content": question(turn)})
        results: list[tuple[str, str]] | None = None
        while results is None or results:
            answer = await ask(history, turn)
            results = [(name, looked_up(asked)) for name, asked in api.calls(answer)]
            history += [*api.added(answer), *api.answered(results)]


def test_sixty_turns_with_hosted_tools_and_a_schema_on_responses() -> None:
    with (
        hooked(base(RESPONSES)) as watched,
        providing(hosted=RESPONSES.kinds, compacts=True) as provider,
    ):

        async def ask(history: list[Any], turn: int) -> Body:
            answer: Any = await litellm.aresponses(
                model="openai/gpt-5",
                input=history,
                instructions="You plan trips.",
                tools=[{"type": "function", **LOOK_UP, "strict": False}, *RESPONSES.hosted],
                text={"format": {"type": "json_schema", **FORMAT}},
                api_base=f"{provider.url}/v1",
                api_key="x",
                **RESPONSES.more,
            )
            return {"output": [item if isinstance(item, dict) else item.model_dump() for item in answer.output]}

        asyncio.run(talked(RESPONSES, ask))
        result = found("aresponses", provider, watched.priced, RESPONSES, "web, file, code")
    assert_clean(result, 3 * TURNS)


def test_sixty_turns_with_hosted_search_thinking_and_a_schema_on_messages() -> None:
    with (
        hooked(base(ANTHROPIC)) as watched,
        providing(hosted=ANTHROPIC.kinds) as provider,
    ):

        async def ask(history: list[Any], turn: int) -> Body:
            schema = {"format": {"type": "json_schema", "schema": SCHEMA}}
            own = {
                "name": LOOK_UP["name"],
                "description": LOOK_UP["description"],
                "input_schema": LOOK_UP["parameters"],
            }
            return await litellm.anthropic_messages(
                model="anthropic/claude-sonnet-4-5",
                messages=history,
                system="You plan trips.",
                tools=[own, *ANTHROPIC.hosted],
                output_config=schema,
                api_base=provider.url,
                api_key="x",
                **ANTHROPIC.more,
            )

        asyncio.run(talked(ANTHROPIC, ask))
        result = found("anthropic_messages", provider, watched.priced, ANTHROPIC, "web")
    assert_clean(result, 3 * TURNS)


def _calls(answer: Body) -> Iterator[tuple[str, str]]:
    for call in answer["choices"][0]["message"].get("tool_calls") or ():
        yield call["id"], json.loads(call["function"]["arguments"])["question"]


CHAT = attrs.evolve(
    RESPONSES,
    dialect=openai_chat,
    model="gpt-4o",
    added=lambda answer: [answer["choices"][0]["message"]],
    calls=_calls,
    answered=lambda results: [{"role": "tool", "tool_call_id": name, "content": text} for name, text in results],
)


def test_sixty_turns_streamed_and_whole_with_a_schema_on_chat_completions() -> None:
    with hooked(base(CHAT)) as watched, providing() as provider:

        async def ask(history: list[Any], turn: int) -> Body:
            answer: Any = await litellm.acompletion(
                model="openai/gpt-4o",
                messages=[{"role": "system", "content": "You plan trips."}, *history],
                tools=[FUNCTION],
                response_format={"type": "json_schema", "json_schema": FORMAT},
                stream=turn % 3 == 2,
                api_base=f"{provider.url}/v1",
                api_key="x",
            )
            if turn % 3 == 2:
                answer = litellm.stream_chunk_builder([chunk async for chunk in answer])
            return answer.model_dump(exclude_none=True)

        asyncio.run(talked(CHAT, ask))
        result = found("acompletion", provider, watched.priced, CHAT)
    assert_clean(result, 3 * TURNS)


HOOK = """
import pathlib
from assembler import Assembler, TrimOldest
from assembler.integrations.litellm import AssemblerProxyHook
from budgets import Budget

budget = Budget.for_model("gpt-4o", context_window={window}, max_output_tokens=1_000)
assembler = Assembler(budget, on_overflow=TrimOldest()).add_instruction("Be brief.")


class Watched(AssemblerProxyHook):
    async def async_pre_call_hook(self, user_api_key_dict, cache, data, call_type):
        fitted = await super().async_pre_call_hook(user_api_key_dict, cache, data, call_type)
        with pathlib.Path({priced!r}).open("a") as lines:
            print(self.last_context.count.tokens + self.last_context.inside.settings.budget.overhead, file=lines)
        return fitted


proxy_hook = Watched({{"small": assembler}})
"""


HEADERS = {"content-type": "application/json", "authorization": "Bearer sk-x"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def proxying(folder: Path, provider: Provider, hook: str) -> Iterator[str]:
    """LiteLLM's proxy as a process of its own with `proxy_hook` of a module, ready to be called."""
    port = _free_port()
    deployed = {"model": "openai/gpt-4o", "api_base": f"{provider.url}/v1", "api_key": "x"}
    listed = [{"model_name": "small", "litellm_params": deployed}]
    config = {"model_list": listed, "litellm_settings": {"callbacks": "own_hook.proxy_hook"}}
    (folder / "config.yaml").write_text(json.dumps(config))  # JSON is YAML
    (folder / "own_hook.py").write_text(hook)
    command = [str(Path(sys.executable).with_name("litellm")), "--config", str(folder / "config.yaml")]
    root = str(Path(__file__).parents[3])
    environment = {
        **os.environ,
        "PYTHONPATH": root,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_MASTER_KEY": "sk-x",
    }
    with (folder / "log").open("w") as log:
        proxy = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)], env=environment, cwd=folder, stdout=log, stderr=log
        )
        try:
            yield _ready(f"http://127.0.0.1:{port}", proxy, folder / "log")
        finally:
            proxy.terminate()
            proxy.wait(timeout=60)


def _ready(url: str, proxy: subprocess.Popen[bytes], log: Path) -> str:
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"{url}/health/liveliness", timeout=5):
                return url
        except OSError:
            assert proxy.poll() is None, log.read_text()[-2_000:]
            time.sleep(0.5)  # a process that starts: nothing else to wait for
    raise AssertionError(log.read_text()[-2_000:])


def test_sixty_turns_through_the_proxy_as_a_process_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    hook = HOOK.format(window=LIMIT + 1_000, priced=str(tmp_path / "priced"))
    with providing() as provider, proxying(tmp_path, provider, hook) as url:

        async def ask(history: list[Any], turn: int) -> Body:
            system = {"role": "system", "content": "You plan trips."}
            more = {"tools": [FUNCTION], "response_format": {"type": "json_schema", "json_schema": FORMAT}}
            body = json.dumps({"model": "small", "messages": [system, *history], **more}).encode()
            request = urllib.request.Request(f"{url}/v1/chat/completions", body, HEADERS)
            with urllib.request.urlopen(request) as answer:
                return json.loads(answer.read())

        asyncio.run(talked(CHAT, ask))
        priced = [Priced(Count(int(tokens))) for tokens in (tmp_path / "priced").read_text().split()]
        result = found("proxy, chat/completions", provider, priced, CHAT)
    assert_clean(result, 3 * TURNS)
