"""Names that the adapters read from frameworks without importing them exist: a missing one would fail silently.

`make test-integrations` runs this in the environment of each framework; imported names fail by themselves.
"""

from __future__ import annotations

import importlib
import inspect

import pytest

from tests.integrations.frameworks import is_installed

NAMES: dict[str, dict[str, str]] = {
    "openai_agents": {
        "agents:Agent": "get_all_tools handoffs output_type model_settings",
        "agents:ModelSettings": "parallel_tool_calls",
        "agents:AgentOutputSchema": "is_plain_text json_schema is_strict_json_schema",
        "agents:FunctionTool": "name description params_json_schema strict_json_schema",
        "agents:Handoff": "tool_name tool_description input_json_schema strict_json_schema is_enabled",
        "agents:RunConfig": "call_model_input_filter",
        "agents:RunHooks": "on_llm_start on_llm_end",
        "agents.result:RunResultStreaming": "context_wrapper",
        "agents:ModelResponse": "usage",
        "agents:Usage": "input_tokens",
        "agents.models.openai_responses:Converter": "convert_tools",
        "agents.run_config:CallModelData": "model_data agent context",
        "agents.run_config:ModelInputData": "input instructions",
    },
    "pydantic_ai": {
        "pydantic_ai.capabilities:AbstractCapability": "prepare_model_request after_model_request "
        "on_model_request_error get_serialization_name",
        "pydantic_ai.exceptions:": "RetryModelRequest",
        "pydantic_ai.messages:ToolCallPart": "args_as_json_str args_as_dict tool_call_id tool_name",
        "pydantic_ai.messages:ToolReturnPart": "model_response_str_and_user_content model_response_str",
        "pydantic_ai.messages:NativeToolCallPart": "args_as_json_str args_as_dict",
        "pydantic_ai.messages:NativeToolReturnPart": "model_response_str content",
        "pydantic_ai.messages:ModelResponse": "usage",
        "pydantic_ai.usage:RequestUsage": "input_tokens",
        "pydantic_ai.models:Model": "prepare_request prepare_messages profile system",
        "pydantic_ai.models:ModelRequestContext": "model messages model_settings model_request_parameters",
        "pydantic_ai.models:ModelRequestParameters": "instruction_parts declared_function_tools output_tools "
        "native_tools output_object output_mode",
    },
    "langchain": {
        "langchain.agents.factory:": "_supports_provider_strategy",
        "langchain.agents.middleware:AgentMiddleware": "wrap_model_call awrap_model_call",
        "langchain.agents.middleware:ModelRequest": "system_message messages tools response_format runtime "
        "model model_settings override",
        "langchain.agents.middleware.types:ModelResponse": "result",
        "langchain_core.language_models:BaseChatModel": "invoke ainvoke with_structured_output",
        "langchain_core.messages:AIMessage": "usage_metadata",
        "langchain.agents.structured_output:OutputToolBinding": "from_schema_spec",
        "langchain_core.runnables:RunnableBinding": "kwargs",
        "langchain_core.runnables:RunnableSequence": "first",
        "langgraph.runtime:Runtime": "execution_info",
    },
    "litellm": {
        "litellm.integrations.custom_logger:CustomLogger": "async_pre_call_deployment_hook async_pre_call_hook "
        "async_post_call_success_deployment_hook async_post_call_streaming_deployment_hook "
        "async_post_call_failure_deployment_hook",
        "litellm.types.utils:CallTypes": "completion acompletion responses aresponses anthropic_messages",
        "litellm.utils:": "type_to_response_format_param async_pre_call_deployment_hook",
        "litellm:": "completion acompletion responses aresponses anthropic_messages",
    },
    "agent_framework": {
        "agent_framework:ChatMiddleware": "process",
        "agent_framework:ChatContext": "messages options session stream stream_result_hooks result",
        "agent_framework:ChatResponse": "usage_details",
        "agent_framework:ResponseStream": "with_pull_context_manager get_final_response",
        "agent_framework:AgentSession": "session_id to_dict from_dict",
        "agent_framework:Message": "role contents author_name",
        "agent_framework:Content": "from_text_reasoning from_function_call call_id protected_data",
        "agent_framework:FunctionTool": "to_json_schema_spec name func",
        "agent_framework.openai:OpenAIChatClient": "_prepare_messages_for_openai _prepare_content_for_openai "
        "_middleware_handler",
        "agent_framework.openai:OpenAIChatCompletionClient": "_prepare_options _middleware_handler",
    },
    "adk": {
        "google.adk.agents.callback_context:CallbackContext": "agent_name session state get_invocation_context",
        "google.adk.agents.invocation_context:InvocationContext": "invocation_id session session_service",
        "google.adk.events:EventActions": "state_delta",
        "google.adk.sessions.base_session_service:BaseSessionService": "append_event",
        "google.adk.models.llm_request:LlmRequest": "contents config",
        "google.adk.models.base_llm:BaseLlm": "_maybe_append_user_content",
        "google.adk.models.llm_response:LlmResponse": "usage_metadata partial",
        "google.adk.plugins.base_plugin:BasePlugin": "before_model_callback after_model_callback "
        "on_model_error_callback",
    },
    "llama_index": {
        "llama_index.core.agent.utils:": "generate_structured_response messages_to_xml_format",
        "llama_index.core.agent.workflow:FunctionAgent": "take_step run scratchpad_key output_cls structured_output_fn "
        "system_prompt",
        "llama_index.core.agent.workflow:AgentOutput": "raw",
        "llama_index.core.base.llms.types:ToolCallBlock": "block_type tool_call_id tool_name tool_kwargs",
        "llama_index.core.base.llms.types:ThinkingBlock": "block_type content additional_information",
        "llama_index.core.llms:ChatMessage": "role blocks additional_kwargs",
        "llama_index.core.llms:LLM": "chat achat stream_chat astream_chat",
        "llama_index.core.memory.types:BaseChatStoreMemory": "chat_store chat_store_key",
        "llama_index.core.tools.types:ToolMetadata": "to_openai_tool",
        "llama_index.core.workflow:Context": "store",
        "llama_index.llms.openai:OpenAIResponses": "built_in_tools",
    },
    "strands": {
        "strands.agent.conversation_manager:ConversationManager": "register_hooks apply_management reduce_context",
        "strands.agent.state:AgentState": "get set",
        "strands.hooks:AfterModelCallEvent": "agent stop_response exception retry",
        "strands.hooks:AgentInitializedEvent": "agent",
        "strands.middleware:InvokeModelContext": "agent messages system_prompt tool_specs tool_choice model "
        "structured_output_model replace",
        "strands.models.model:Model": "get_config _supports_structured_output",
        "strands.models.openai_responses:OpenAIResponsesModel.OpenAIResponsesConfig": "params",
        "strands.models.gemini:GeminiModel.GeminiConfig": "gemini_tools",
        "strands.models.anthropic:AnthropicModel.AnthropicConfig": "anthropic_tools",
    },
}
CASES = [(name, place, words) for name, places in NAMES.items() for place, words in places.items()]


@pytest.mark.parametrize(("framework", "place", "words"), CASES)
def test_every_name_that_an_adapter_reads_is_still_there(framework: str, place: str, words: str) -> None:
    if not is_installed(framework):
        pytest.skip(f"{framework} is not installed here")
    module, _, held = place.partition(":")
    owner = importlib.import_module(module)
    for step in filter(None, held.split(".")):
        owner = getattr(owner, step)
    fields = {name for kind in getattr(owner, "__mro__", ()) for name in getattr(kind, "__annotations__", ())}
    if inspect.isclass(owner) and not issubclass(owner, dict):  # a typed dict has fields alone
        fields |= {*inspect.signature(owner).parameters}
    assert [name for name in words.split() if not hasattr(owner, name) and name not in fields] == []
