"""Adapters for agent frameworks, one module for each.

`assembler.integrations.langchain`, `.pydantic_ai`, `.openai_agents`, `.llama_index`, `.adk`, `.strands`, `.litellm`,
`.agent_framework`. If the framework is not installed, using its adapter raises `MissingExtraError`, which names the
extra.
"""
