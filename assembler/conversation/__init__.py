"""The conversation: messages as they came in, turns and steps, pins, repair."""
