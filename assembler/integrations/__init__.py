"""One file per agent framework, each imported by its own name and importing its framework only when used.

`assembler.integrations.langchain`, `.pydantic_ai`, `.openai_agents`, `.llama_index`, `.adk`, `.strands`, `.litellm`,
`.agent_framework`. Where the framework is absent, what needs it raises `MissingExtraError`, which names the extra.
"""
