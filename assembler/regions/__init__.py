"""The regions beside the conversation: instruction, tools, knowledge, the structured answer."""
