"""OpenAI's Chat Completions, and every API that speaks it."""
