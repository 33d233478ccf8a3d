"""OpenAI's Chat Completions, and compatible APIs."""
