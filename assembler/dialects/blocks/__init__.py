"""Content blocks, which Anthropic and Bedrock share."""
