"""What Anthropic demands of Messages requests: rules A1 to A16 and L2, with the errors that people have met."""

from __future__ import annotations

from assembler.verify.violation import Rule

A1 = Rule(
    "A1",
    "no message is empty, except an assistant message at the end",
    "messages.<i>: all messages must have non-empty content except for the optional final assistant message",
    "claude-code#6774",
)
A2 = Rule("A2", "the first message is the user's, and there are at most 100,000", None, "SDK documentation of messages")
A3 = Rule("A3", "no text block is empty", "messages: text content blocks must be non-empty", "claude-code#59812")
A4 = Rule("A4", "no text is whitespace only")
A5 = Rule(
    "A5",
    "every tool_use is answered in the next message",
    "messages.<i>: `tool_use` ids were found without `tool_result` blocks immediately after: <id>. Each `tool_use` "
    "block must have a corresponding `tool_result` block in the next message.",
    "claude-code#8210, OpenHands#7512",
)
A6 = Rule(
    "A6",
    "tool results come first in the message after the calls",
    "messages.<i>: Did not find <n> tool_result block(s) at the beginning of this message. Messages following "
    "tool_use blocks must begin with a matching number of tool_result blocks.",
    "apify/tester-mcp-client#12",
)
A7 = Rule("A7", "tool_use ids are unique", "messages.<i>.content.<j>: `tool_use` ids must be unique", "cua#524")
A8 = Rule(
    "A8",
    "every tool_result answers a call of the message before",
    "messages.<i>.content.<j>: unexpected `tool_use_id` found in `tool_result` blocks: <id>. Each `tool_result` "
    "block must have a corresponding `tool_use` block in the previous message.",
    "claude-code#18947, spring-ai#5940",
)
A9 = Rule("A9", "one result for each call")
A10 = Rule("A10", "calls and thinking are the assistant's, results the user's")
A11 = Rule(
    "A11",
    "Claude 4.6 and later take no assistant message at the end",
    "This model does not support assistant message prefill. The conversation must end with a user message.",
    "llxprt-code#3695, copilot-api#261",
)
A12 = Rule(
    "A12",
    "an assistant message at the end has no trailing whitespace",
    "messages: final assistant content cannot end with trailing whitespace",
    "forgecode#1872, langchain#35073",
)
A13 = Rule(
    "A13",
    "at most four cache marks over system, tools and messages, none of them on an empty text",
    "A maximum of 4 blocks with cache_control may be provided. Found <n>.",
    "Anthropic.SDK#50, leviath#12",
)
A14 = Rule(
    "A14",
    "a history with tool blocks comes with tools",
    "Requests which include tool_use or tool_result blocks must define tools",
    "portkey error library #10488 (second-hand)",
)
A15 = Rule(
    "A15",
    "with thinking enabled, the turn that is still calling tools begins with its thinking, unchanged",
    "messages.<i>.content.<j>.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` "
    "is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of "
    "`tool_use` and `tool_result` blocks)",
    "haystack-core-integrations#2146, claude-code#63314",
)
A16 = Rule(
    "A16",
    "role system inside messages only on models that take it, right after a user turn",
    "role 'system' is not supported on this model",
    "simonw/llm-anthropic#73",
)
L2 = Rule("L2", "a tool_use id holds letters, digits, underscores and dashes only", None, "bifrost#5097")
