from assembler.conversation.messages.gemini import gemini_content as gemini_content
from assembler.conversation.messages.responses_items import responses_item as responses_item
