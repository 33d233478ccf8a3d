from assembler.strategies.chat_regions import ChatRegions as ChatRegions
from assembler.strategies.cited_sources import CitedSources as CitedSources
from assembler.strategies.fitted_template import FittedTemplate as FittedTemplate
from assembler.strategies.question_chunks import QuestionChunks as QuestionChunks
