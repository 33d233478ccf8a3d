"""What a chat template takes of messages."""

from __future__ import annotations

from assembler.conversation.messages.shapes import FieldsOfAnswers, Shape, declare_shape

SHAPE = declare_shape(Shape(name="chat_template", fields_of_answers=FieldsOfAnswers.UNPRINTED))
