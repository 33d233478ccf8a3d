"""The greedy prompt builder's names over the one pipeline: a question, the earliest chunks that fit, one text."""

from assembler.greedy.config import Config
from assembler.greedy.prompt_builder import PromptBuilder

__all__ = ["Config", "PromptBuilder"]
