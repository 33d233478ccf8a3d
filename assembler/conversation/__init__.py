"""The conversation: messages as they were added, turns and steps, pins, repair."""
