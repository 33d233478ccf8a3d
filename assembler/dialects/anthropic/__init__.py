"""Claude's Messages API."""
