"""Writes requests: what the emitters of several APIs share, and notes on what an API does not get."""
