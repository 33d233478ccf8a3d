"""The regions besides the conversation: instruction, tools, knowledge, and the output schema."""
