"""One example of each item, block and part that a provider's server writes or reads and this library does not.

Their fields are those of openai 3.54.0, anthropic 2.12.0, google-genai 3.4.0, botocore 1.44.5 and mistralai 3.7.0.
"""

from __future__ import annotations

from typing import Any

Dict = dict[str, Any]

SEALED = "gAAAAB" + "x9Y" * 400
WORDS = "A walrus eats clams"

_SHELL = {"commands": ["ls"], "timeout_ms": 100}

ITEMS: dict[str, list[Dict]] = {
    "web_search_call": [
        {
            "type": "web_search_call",
            "id": "ws_1",
            "status": "completed",
            "action": {"type": "search", "query": "walrus", "sources": [{"type": "url", "url": "https://a.example"}]},
        }
    ],
    "file_search_call": [
        {
            "type": "file_search_call",
            "id": "fs_1",
            "status": "completed",
            "queries": ["walrus"],
            "results": [{"file_id": "file-1", "filename": "w.txt", "score": 0.5, "text": WORDS}],
        }
    ],
    "code_interpreter_call": [
        {
            "type": "code_interpreter_call",
            "id": "ci_1",
            "status": "completed",
            "container_id": "cntr_1",
            "code": "print(1)",
            "outputs": [{"type": "logs", "logs": WORDS}],
        }
    ],
    "image_generation_call": [
        {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "iVBORw0KGgo" + "A" * 400}
    ],
    "mcp_list_tools": [
        {
            "type": "mcp_list_tools",
            "id": "mcpl_1",
            "server_label": "docs",
            "tools": [{"name": "ask", "description": "Asks.", "input_schema": {"type": "object", "properties": {}}}],
        }
    ],
    "mcp_approval_request": [
        {"type": "mcp_approval_request", "id": "m_1", "name": "ask", "arguments": "{}", "server_label": "docs"},
        {"type": "mcp_approval_response", "approval_request_id": "m_1", "approve": True},
    ],
    "mcp_call": [
        {
            "type": "mcp_call",
            "id": "mcp_1",
            "name": "ask",
            "arguments": "{}",
            "server_label": "docs",
            "output": WORDS,
            "error": None,
        }
    ],
    "local_shell_call": [
        {
            "type": "local_shell_call",
            "id": "lsh_1",
            "call_id": "call_1",
            "status": "completed",
            "action": {"type": "exec", "command": ["ls"], "env": {}},
        },
        {"type": "local_shell_call_output", "id": "call_1", "output": WORDS},
    ],
    "shell_call": [
        {"type": "shell_call", "id": "sh_1", "call_id": "call_2", "status": "completed", "action": _SHELL},
        {
            "type": "shell_call_output",
            "call_id": "call_2",
            "output": [{"stdout": WORDS, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
        },
    ],
    "apply_patch_call": [
        {
            "type": "apply_patch_call",
            "id": "apc_1",
            "call_id": "call_3",
            "status": "completed",
            "operation": {"type": "update_file", "path": "a.py", "diff": "+x"},
        },
        {"type": "apply_patch_call_output", "call_id": "call_3", "status": "completed", "output": WORDS},
    ],
    "computer_call": [
        {
            "type": "computer_call",
            "id": "cu_1",
            "call_id": "call_4",
            "status": "completed",
            "action": {"type": "click", "x": 1, "y": 2, "button": "left"},
            "pending_safety_checks": [],
        },
        {
            "type": "computer_call_output",
            "call_id": "call_4",
            "output": {"type": "computer_screenshot", "image_url": "https://a.example/s.png"},
        },
    ],
    "custom_tool_call": [
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_5", "name": "sql", "input": "select 1"},
        {"type": "custom_tool_call_output", "call_id": "call_5", "output": WORDS},
    ],
    "tool_search_call": [
        {
            "type": "tool_search_call",
            "id": "tsc_1",
            "call_id": None,
            "execution": "server",
            "status": "completed",
            "arguments": {"paths": ["crm"]},
        },
        {
            "type": "tool_search_output",
            "id": "tso_1",
            "call_id": None,
            "execution": "server",
            "status": "completed",
            "tools": [{"type": "function", "name": "ask", "parameters": {"type": "object", "properties": {}}}],
        },
    ],
    "tool_search_call of the client": [
        {
            "type": "tool_search_call",
            "id": "tsc_2",
            "call_id": "call_6",
            "execution": "client",
            "arguments": {"q": "crm"},
        },
        {"type": "tool_search_output", "call_id": "call_6", "execution": "client", "status": "completed", "tools": []},
    ],
    "program": [
        {"type": "program", "id": "prog_1", "call_id": "call_7", "code": "await ask()", "fingerprint": "f" * 40},
        {"type": "program_output", "id": "po_1", "call_id": "call_7", "result": WORDS, "status": "completed"},
    ],
    "item_reference": [{"type": "item_reference", "id": "msg_1"}],
    "item_reference without a type": [{"id": "msg_1"}],
    "additional_tools": [
        {
            "type": "additional_tools",
            "role": "developer",
            "tools": [{"type": "function", "name": "ask", "parameters": {"type": "object", "properties": {}}}],
        }
    ],
    "configuration_update": [{"type": "configuration_update", "reasoning": {"effort": "low"}}],
    "compaction_trigger": [{"type": "compaction_trigger"}],
    "reasoning": [{"type": "reasoning", "id": "rs_9", "summary": [], "encrypted_content": SEALED}],
    "a type that nobody knows yet": [{"type": "quantum_call_v9", "id": "q_1", "said": WORDS, "sealed": SEALED}],
}
"""Items of Responses, each with what must stand beside it. `compaction` has a file of its own."""

BLOCKS: dict[str, list[Dict]] = {
    "web_search": [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "walrus"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": [
                {
                    "type": "web_search_result",
                    "title": WORDS,
                    "url": "https://a.example",
                    "encrypted_content": SEALED,
                    "page_age": None,
                }
            ],
        },
    ],
    "web_fetch": [
        {"type": "server_tool_use", "id": "srvtoolu_2", "name": "web_fetch", "input": {"url": "https://a.example"}},
        {
            "type": "web_fetch_tool_result",
            "tool_use_id": "srvtoolu_2",
            "content": {
                "type": "web_fetch_result",
                "url": "https://a.example",
                "content": {
                    "type": "document",
                    "source": {"type": "text", "media_type": "text/plain", "data": WORDS},
                    "title": "Walrus",
                },
            },
        },
    ],
    "code_execution": [
        {"type": "server_tool_use", "id": "srvtoolu_3", "name": "code_execution", "input": {"code": "print(1)"}},
        {
            "type": "code_execution_tool_result",
            "tool_use_id": "srvtoolu_3",
            "content": {
                "type": "code_execution_result",
                "stdout": WORDS,
                "stderr": "",
                "return_code": 0,
                "content": [],
            },
        },
    ],
    "bash_code_execution": [
        {"type": "server_tool_use", "id": "srvtoolu_4", "name": "bash_code_execution", "input": {"command": "ls"}},
        {
            "type": "bash_code_execution_tool_result",
            "tool_use_id": "srvtoolu_4",
            "content": {"type": "bash_code_execution_result", "stdout": WORDS, "stderr": "", "return_code": 0},
        },
    ],
    "mcp": [
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "ask", "server_name": "docs", "input": {}},
        {
            "type": "mcp_tool_result",
            "tool_use_id": "mcptoolu_1",
            "is_error": False,
            "content": [{"type": "text", "text": WORDS}],
        },
    ],
    "tool_search": [
        {
            "type": "server_tool_use",
            "id": "srvtoolu_5",
            "name": "tool_search_tool_bm25",
            "input": {"query": "crm"},
        },
        {
            "type": "tool_search_tool_result",
            "tool_use_id": "srvtoolu_5",
            "content": {
                "type": "tool_search_tool_search_result",
                "tool_references": [{"type": "tool_reference", "tool_name": "ask"}],
            },
        },
    ],
    "cited": [
        {
            "type": "text",
            "text": WORDS,
            "citations": [
                {
                    "type": "web_search_result_location",
                    "cited_text": "eats clams",
                    "url": "https://a.example",
                    "title": "W",
                    "encrypted_index": "Eo8B" * 20,
                }
            ],
        }
    ],
    "thinking": [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "redacted_thinking", "data": "EmwKAhgB"},
        {"type": "text", "text": WORDS},
    ],
    "a type that nobody knows yet": [{"type": "dream_block", "said": WORDS}, {"type": "text", "text": "so"}],
}
"""Blocks of Anthropic's assistant, each with what must stand beside it."""

PARTS: dict[str, list[Dict]] = {
    "code execution": [
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": WORDS}},
    ],
    "code execution, as the SDK dumps it": [
        {"executable_code": {"language": "PYTHON", "code": "print(1)"}},
        {"code_execution_result": {"outcome": "OUTCOME_OK", "output": WORDS}, "thought_signature": "c2ln"},
    ],
    "a search of the server's": [
        {"toolCall": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["walrus"]}}},
        {"toolResponse": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "response": {"output": WORDS}}},
    ],
    "a signature": [{"text": "", "thoughtSignature": "c2ln"}, {"text": WORDS}],
    "a type that nobody knows yet": [{"hologram": {"said": WORDS}}, {"text": "so"}],
}
"""Parts of Gemini's model."""

CONVERSE: dict[str, list[Dict]] = {
    "reasoning": [
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "sig"}}},
        {"text": WORDS},
    ],
    "citations": [
        {
            "citationsContent": {
                "content": [{"text": WORDS}],
                "citations": [{"title": "W", "sourceContent": [{"text": "eats clams"}]}],
            }
        }
    ],
    "a search of the server's": [
        {"toolUse": {"toolUseId": "t1", "name": "nova_grounding", "input": {}, "type": "server_tool_use"}},
        {
            "toolResult": {
                "toolUseId": "t1",
                "content": [{"text": "[HIDDEN]"}],
                "status": "success",
                "type": "nova_grounding_result",
            }
        },
        {"text": WORDS},
        {"citationsContent": {"citations": [{"location": {"web": {"url": "https://a.example", "domain": "a"}}}]}},
    ],
    "code of the server's": [
        {"toolUse": {"toolUseId": "t1", "name": "nova_code_interpreter", "input": {}, "type": "server_tool_use"}},
        {
            "toolResult": {
                "toolUseId": "t1",
                "content": [{"json": {"stdOut": WORDS, "stdErr": "", "exitCode": 0}}],
                "status": "success",
                "type": "nova_code_interpreter_result",
            }
        },
    ],
    "cache point": [{"text": WORDS}, {"cachePoint": {"type": "default"}}],
    "guard content": [{"guardContent": {"text": {"text": WORDS, "qualifiers": ["query"]}}}],
    "a search result": [{"searchResult": {"source": "s", "title": "W", "content": [{"text": WORDS}]}}],
    "a type that nobody knows yet": [{"hologram": {"said": WORDS}}, {"text": "so"}],
}
"""Blocks of Converse."""
