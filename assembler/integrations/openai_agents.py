"""OpenAI Agents SDK: a filter that fits every model call of a run.

    fit = FitInput(assembler)
    result = await Runner.run(agent, question, hooks=fit, run_config=RunConfig(call_model_input_filter=fit))

Read in openai-agents 0.24.0 (2026-11). The SDK calls the filter before each model call of the run, streamed or not,
with items and instructions. The filter asks the agent for its tools again. Only the run's hooks get the bill of a call.
The SDK sends items of the Responses API: give the assembler `dialect=openai_responses`, unless the model is an
`OpenAIChatCompletionsModel`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.conversation.messages import Call, Message
from assembler.integrations.call_settings import serial_calls, tool_choice
from assembler.integrations.fitting import CONVERSATIONS, Asked, Fitting, LastCall
from assembler.integrations.kept_objects import kept_objects
from assembler.integrations.openai_dicts import chat_call
from assembler.regions.output_schema import OutputSchema
from assembler.text.runs import runs
from budgets.errors import from_extra

with from_extra("openai-agents", needed_for="assembler.integrations.openai_agents"):
    from agents import RunHooks  # type: ignore[import-not-found,unused-ignore]
    from agents.run_config import ModelInputData  # type: ignore[import-not-found,unused-ignore]

if TYPE_CHECKING:
    # The other used parts of the SDK, for type checkers without it.

    AgentOutputSchema: Any
    Converter: Any
    AgentOutputSchemaBase: Any
    FunctionTool: Any
    RunContextWrapper: Any
    handoff: Any
else:
    from agents import AgentOutputSchema, AgentOutputSchemaBase, FunctionTool, RunContextWrapper, handoff
    from agents.models.openai_responses import Converter


class FitInput(LastCall, RunHooks[Any]):  # type: ignore[misc,unused-ignore]
    """Fits each model call into the assembler's budget: instructions, tools, knowledge and items together.

    The assembler is a base, forked for each call; its instruction and knowledge follow the agent's instructions. The
    agent's tools, MCP servers, handoffs and `output_type` are sent, and the base's tools are not. The session keeps
    every item; dropped ones are only left out of the request.

    One filter may serve many agents and sessions at once, and recognises them by their first items. `last_context` and
    `report` belong to the latest call of any of them. It remembers the most recent `conversations`. Do not use it if
    the API holds the history (`conversation_id`, `previous_response_id`): the items alone are then not a valid
    conversation. If it is also the run's `hooks`, it counts each call from the bill of the one before.

    The SDK shows a filter the settings of the agent alone. If the run's `RunConfig` has `model_settings`, pass them
    here too: a tool choice and `parallel_tool_calls` cost tokens.
    """

    def __init__(
        self, assembler: Assembler[Any], *, model_settings: Any = None, conversations: int = CONVERSATIONS
    ) -> None:
        self._fitting = Fitting(assembler, conversations=conversations)
        self._settings = model_settings
        self._calls: WeakKeyDictionary[Any, Context] = WeakKeyDictionary()
        """The last call of each running run."""

    async def __call__(self, data: Any) -> ModelInputData:  # pyright: ignore[reportUnknownParameterType]
        """Return the input that fits. Raises the errors of `build`. Waits for MCP servers to list their tools."""
        items: list[Any] = data.model_data.input
        turns = _group_parallel_calls(items)
        tools = self._fitting.priced(await _define_tools(data.agent, data.context))
        settings: Any = data.agent.model_settings.resolve(self._settings)
        serial = serial_calls(settings.parallel_tool_calls)
        choice = None if _is_reset(data.agent, tools, items) else tool_choice(settings.tool_choice, tools)
        asked = Asked(data.model_data.instructions, tools, _read_answer(data.agent.output_type), choice, options=serial)
        context = await self._fitting.afit([_merge_calls(turn) for turn in turns], asked)
        kept: list[list[Any]] = kept_objects(
            context.inside,
            turns,
            rewritten=_rewrite_items,
            of_summary=lambda text: [{"role": "user", "content": text}],
        )
        return ModelInputData(input=[*itertools.chain(*kept)], instructions=context.system)  # pyright: ignore[reportUnknownVariableType]

    async def on_llm_start(self, context: Any, agent: Any, system_prompt: Any, input_items: Any) -> None:
        """Remember the run's current call, for `learn`."""
        if (fitted := self._fitting.own()) is not None:
            self._calls[context] = fitted

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        """Take the bill of this call, so that the next call counts from it."""
        await self._fitting.settle_own(response.usage.input_tokens)

    async def learn(self, error: Exception, result: Any = None) -> bool:
        """Take a refusal of a run's last call as too long. If it returns True, the same run fits when started again.

        `error` is the run's exception. Call this in the same task. For a streamed run pass its `result` too, and use
        the filter as the run's `hooks`. The SDK itself reports refusals to no hook. Returns False for other errors, and
        after three refusals.
        """
        if result is None:
            return await self._fitting.learn_own(error) is not None
        context = self._calls.get(result.context_wrapper)
        return context is not None and await self._fitting.alearn(context, error) is not None


async def _define_tools(agent: Any, context: Any) -> list[dict[str, Any]]:
    """Return the definitions of functions, handoffs, and hosted tools.

    A handoff that a function may disable is priced as if it were enabled.
    """
    tools: list[Any] = await agent.get_all_tools(RunContextWrapper(context=context))
    listed = [
        _define_function(tool.name, tool.description, tool.params_json_schema, tool.strict_json_schema)
        if isinstance(tool, FunctionTool)
        else _define_hosted(tool)
        for tool in tools
    ]
    handoffs: list[Any] = [own if hasattr(own, "tool_name") else handoff(own) for own in agent.handoffs]
    listed += [
        _define_function(own.tool_name, own.tool_description, own.input_json_schema, own.strict_json_schema)
        for own in handoffs
        if own.is_enabled is not False
    ]
    return listed


def _is_reset(agent: Any, tools: Sequence[Any], items: Sequence[Any]) -> bool:
    """Whether the SDK no longer sends the agent's tool choice, because the agent has called a tool in this run.

    Told from the calls after the newest message of the user. If one is a handoff, another agent may have made them, and
    the choice is counted.
    """
    run = itertools.takewhile(lambda item: item.get("role") != "user", reversed(items))
    called = {item.get("name") for item in run if item.get("type") == "function_call"}
    own = {tool.get("name") for tool in tools}
    return bool(agent.reset_tool_choice and called) and called <= own


def _define_hosted(tool: Any) -> dict[str, Any]:
    """Return a hosted tool in the form of the Responses API, by the SDK's own code."""
    converted: list[Any] = Converter.convert_tools([tool], []).tools
    return dict(converted[0]) if converted else {"type": tool.name, "name": tool.name}


def _read_answer(kind: Any) -> OutputSchema | None:
    if kind is None or kind is str:
        return None
    schema = kind if isinstance(kind, AgentOutputSchemaBase) else AgentOutputSchema(kind)
    if schema.is_plain_text():
        return None
    return OutputSchema("final_output", schema.json_schema(), strict=schema.is_strict_json_schema())


def _define_function(name: str, about: str | None, schema: Mapping[str, Any], strict: Any) -> dict[str, Any]:
    return {"type": "function", "name": name, "description": about or "", "parameters": schema, "strict": strict}


def _group_parallel_calls(items: Sequence[Any]) -> list[list[Any]]:
    """Return the items one by one, but parallel calls together, because they cost more than separate ones."""
    return runs(items, lambda item, before: item.get("type") == before.get("type") == "function_call")


def _merge_calls(turn: Sequence[Any]) -> Mapping[str, Any]:
    if len(turn) == 1:
        return cast("Mapping[str, Any]", turn[0])
    calls = [chat_call(item["call_id"], item["name"], item["arguments"]) for item in turn]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _rewrite_items(turn: list[Any], before: Message, after: Message) -> list[Any]:
    """Return copies of the items with the texts that the policy left, and the same ids and status."""
    if len(turn) == 1:
        return [dict(cast("Mapping[str, Any]", after.raw))]
    became = zip(turn, after.parts, strict=True)
    return [{**item, "arguments": part.arguments} if isinstance(part, Call) else item for item, part in became]
