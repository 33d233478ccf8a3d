"""Adapters for agent frameworks, one module for each: `assembler.integrations.langchain` and its neighbours.

If the framework is not installed, using its adapter raises `MissingExtraError`, which names the extra.
"""
