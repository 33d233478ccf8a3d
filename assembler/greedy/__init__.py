"""The greedy prompt builder's names over the library's pipeline: a question and the first chunks that fit."""

from assembler.greedy.config import Config
from assembler.greedy.prompt_builder import PromptBuilder

__all__ = ["Config", "PromptBuilder"]
