"""Prompt files, validated templates and model formats, with the names of the source system's prompt utilities.

`read_prompt` and `PromptLibrary` read prompts, `ValidatedPromptTemplate` fills them in, and `PromptFormatter` writes
them for a model. They exchange a `Prompt`: a text that knows which of its parts were values.
"""

from budgets.lazy_names import load_later as _load_later

_load_later(__name__)
