"""Prompt files, validated templates and model formats, with the names of the source system's prompt utilities.

`read_prompt` and `PromptLibrary` read prompts, `ValidatedPromptTemplate` fills them in, and `PromptFormatter` writes
them for a model. They exchange a `Prompt`: a text that knows which of its parts were values.
"""

from __future__ import annotations

from assembler.prompts.file_templates import with_tags, without_comments
from assembler.prompts.files import PromptLibrary, PromptNotFoundError, read_prompt
from assembler.prompts.formatter import PromptFormatter
from assembler.prompts.prompt import Prompt
from assembler.prompts.template import MissingVariableError, ValidatedPromptTemplate
from assembler.prompts.variables import SUPPORTED_INPUT_VARIABLES

__all__ = [
    "SUPPORTED_INPUT_VARIABLES",
    "MissingVariableError",
    "Prompt",
    "PromptFormatter",
    "PromptLibrary",
    "PromptNotFoundError",
    "ValidatedPromptTemplate",
    "read_prompt",
    "with_tags",
    "without_comments",
]
