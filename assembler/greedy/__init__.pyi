from assembler.greedy.config import Config as Config
from assembler.greedy.prompt_builder import PromptBuilder as PromptBuilder
