"""Reads requests: the first steps of every `parse`, and what an SDK accepts beside JSON."""
