"""OpenAI Agents SDK: a filter that lays out every model call of a run.

    fit = FitInput(assembler)
    result = await Runner.run(agent, question, hooks=fit, run_config=RunConfig(call_model_input_filter=fit))

Read in openai-agents 0.24.0 (2026-11). The filter is called before each model call of the run, streamed or not, with
items and instructions; the tools are asked of the agent again. Only the run's hooks are told what a call was billed.
The SDK sends items as the Responses API spells them: give the assembler `dialect=openai_responses`, unless the model is
an `OpenAIChatCompletionsModel`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.conversation.messages import Call, Message
from assembler.integrations.fitting import CONVERSATIONS, Asked, Fitting, LastCall
from assembler.integrations.openai_spelling import chat_call
from assembler.integrations.own_objects import kept_objects
from assembler.regions.output_schema import OutputSchema
from budgets.errors import from_extra

with from_extra("openai-agents", needed_for="assembler.integrations.openai_agents"):
    from agents import RunHooks  # type: ignore[import-not-found,unused-ignore]
    from agents.run_config import ModelInputData  # type: ignore[import-not-found,unused-ignore]

if TYPE_CHECKING:
    # What else is used of the SDK, for type checkers that do not have it.

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
    every item; what is left out is only not sent.

    One filter may serve many agents and sessions at once. It tells them apart by how they begin. `last_context` and
    `report` are those of the latest call of any of them. `conversations` is how many of them it remembers, the latest
    called. Do not use it where the API holds the history (`conversation_id`, `previous_response_id`): the items alone
    are then no valid conversation. As the run's `hooks` too, it counts each call from the bill of the one before.
    """

    def __init__(self, assembler: Assembler[Any], *, conversations: int = CONVERSATIONS) -> None:
        self._fitting = Fitting(assembler, conversations=conversations)
        self._calls: WeakKeyDictionary[Any, Context] = WeakKeyDictionary()
        """The last call of each run that is alive."""

    async def __call__(self, data: Any) -> ModelInputData:  # pyright: ignore[reportUnknownParameterType]
        """The input that fits. Raises what `build` raises, as it is. Waits for MCP servers that list their tools."""
        items: list[Any] = data.model_data.input
        turns = list(_together(items))
        tools = self._fitting.priced(await _definitions(data.agent, data.context))
        asked = Asked(data.model_data.instructions, tools, _answer(data.agent.output_type))
        context = await self._fitting.afit([_calls_message(turn) for turn in turns], asked)
        kept: list[list[Any]] = kept_objects(
            context.inside,
            turns,
            rewritten=_rewritten,
            of_summary=lambda text: [{"role": "user", "content": text}],
        )
        return ModelInputData(input=[*itertools.chain(*kept)], instructions=context.system)  # pyright: ignore[reportUnknownVariableType]

    async def on_llm_start(self, context: Any, agent: Any, system_prompt: Any, input_items: Any) -> None:
        """Remember which call the run makes, for `learn`."""
        if (fitted := self._fitting.own) is not None:
            self._calls[context] = fitted

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        """The next call counts from the bill of this one."""
        await self._fitting.settle_own(response.usage.input_tokens)

    async def learn(self, error: Exception, result: Any = None) -> bool:
        """Whether the provider refused the last call of a run as too long: the same run, made again, then fits.

        `error` is what the run raised, in the task that asks. Of a streamed run pass its `result` too, with the filter
        as the run's `hooks`: the SDK tells no hook of a refusal. False for other errors, and after three refusals.
        """
        if result is None:
            return await self._fitting.learn_own(error) is not None
        context = self._calls.get(result.context_wrapper)
        return context is not None and await self._fitting.alearn(context, error) is not None


async def _definitions(agent: Any, context: Any) -> list[dict[str, Any]]:
    """What the model is told of tools: functions, handoffs, and what runs at the provider.

    A handoff that a function may disable is priced as if it were enabled.
    """
    tools: list[Any] = await agent.get_all_tools(RunContextWrapper(context=context))
    listed = [
        _function(tool.name, tool.description, tool.params_json_schema, tool.strict_json_schema)
        if isinstance(tool, FunctionTool)
        else _hosted(tool)
        for tool in tools
    ]
    handoffs: list[Any] = [own if hasattr(own, "tool_name") else handoff(own) for own in agent.handoffs]
    listed += [
        _function(own.tool_name, own.tool_description, own.input_json_schema, own.strict_json_schema)
        for own in handoffs
        if own.is_enabled is not False
    ]
    return listed


def _hosted(tool: Any) -> dict[str, Any]:
    """A tool that runs at the provider, as the Responses API spells it: the SDK's own words."""
    spoken: list[Any] = Converter.convert_tools([tool], []).tools
    return dict(spoken[0]) if spoken else {"type": tool.name, "name": tool.name}


def _answer(kind: Any) -> OutputSchema | None:
    if kind is None or kind is str:
        return None
    schema = kind if isinstance(kind, AgentOutputSchemaBase) else AgentOutputSchema(kind)
    if schema.is_plain_text():
        return None
    return OutputSchema("final_output", schema.json_schema(), strict=schema.is_strict_json_schema())


def _function(name: str, about: str | None, schema: Mapping[str, Any], strict: Any) -> dict[str, Any]:
    return {"type": "function", "name": name, "description": about or "", "parameters": schema, "strict": strict}


def _together(items: Sequence[Any]) -> Iterator[list[Any]]:
    """The items one by one, but calls that the model made at once together: side by side they cost more than alone."""
    calls: list[Any] = []
    for item in items:
        if item.get("type") == "function_call":
            calls.append(item)
            continue
        if calls:
            yield calls
            calls = []
        yield [item]
    if calls:
        yield calls


def _calls_message(turn: Sequence[Any]) -> Mapping[str, Any]:
    if len(turn) == 1:
        return cast("Mapping[str, Any]", turn[0])
    calls = [chat_call(item["call_id"], item["name"], item["arguments"]) for item in turn]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _rewritten(turn: list[Any], before: Message, after: Message) -> list[Any]:
    """Copies of the items, their ids and status with them, only the texts as the policy left them."""
    if len(turn) == 1:
        return [dict(cast("Mapping[str, Any]", after.raw))]
    became = zip(turn, after.parts, strict=True)
    return [{**item, "arguments": part.arguments} if isinstance(part, Call) else item for item, part in became]
