"""The errors about content: messages, markup, tools, prompts. They continue the tree of `budgets.errors`.

    AssemblyError
    ├─ ConversationError            a malformed history                      (also a ValueError)
    │  ├─ MessageTypeError          something that is not a message          (also a TypeError)
    │  └─ UnsupportedContentError   a part that this dialect cannot carry or price
    ├─ MarkupError                  a tag, an attribute or a character XML cannot carry  (also a ValueError)
    ├─ ToolError                    a name or a schema that no API accepts   (also a ValueError)
    ├─ PlanError                    a policy that cuts where it must not
    ├─ SummaryError                 a summarizer that failed
    ├─ StateError                   something that is not a session's state  (also a ValueError)
    ├─ WrongTypeError               an argument of a wrong type (a BudgetError, also a TypeError)
    └─ PromptError                  templates and prompt files               (also a ValueError)

No message of these errors quotes a prompt, a document or a message: indexes, names, lengths and offsets only.
"""

from __future__ import annotations

from budgets.errors import BudgetError, Evidence


class ConversationError(Evidence, ValueError):
    """A history that an API would refuse. `index` is the message's place in the history, `call_id` the call's."""

    def __init__(self, problem: str, *, index: int | None = None, call_id: str | None = None) -> None:
        self.index = index
        self.call_id = call_id
        place = f"message {index}: " if index is not None else ""
        super().__init__(place + problem)


class MessageTypeError(ConversationError, TypeError):
    """Something in the history that is not a message."""


class UnsupportedContentError(ConversationError):
    """A part that the dialect can neither carry nor price; `kind` names it."""

    def __init__(self, problem: str, *, kind: str, index: int | None = None) -> None:
        self.kind = kind
        super().__init__(problem, index=index)


class WrongTypeError(BudgetError, TypeError):
    """An argument of a wrong type."""


class MarkupError(Evidence, ValueError):
    """A text or an attribute that the knowledge tag cannot carry, named by `field`; `offset` is in characters."""

    def __init__(self, problem: str, *, field: str, offset: int | None = None) -> None:
        self.field = field
        self.offset = offset
        super().__init__(problem)


class ToolError(Evidence, ValueError):
    """A tool that no API accepts: its name is missing, illegal or taken, or its schema cannot be read."""

    def __init__(self, problem: str, *, tool: str | None = None) -> None:
        self.tool = tool
        super().__init__(problem)


class PlanError(Evidence):
    """A policy, named by `policy`, broke its contract. The bug is in the policy."""

    def __init__(self, policy: str, problem: str) -> None:
        self.policy = policy
        super().__init__(f"policy {policy} {problem}")


class SummaryError(Evidence):
    """A summarizer raised an exception, whose type `raised` names, or returned no text.

    A build that does not need the summary continues, and `context.warnings` holds this error, with the exception as its
    `__cause__`. It has no cause if it was pickled, or if it is the cause of a `ContextLengthError`, because the text of
    the exception could quote a message.
    """

    def __init__(self, problem: str, *, raised: str | None = None) -> None:
        self.raised = raised
        super().__init__(problem)


class StateError(Evidence, ValueError):
    """Something that is not the state of a session. `place` is the path of the wrong field, if known."""

    def __init__(self, problem: str, *, place: str | None = None) -> None:
        self.place = place
        super().__init__(problem)


class PromptError(Evidence, ValueError):
    """A template or prompt file that cannot be used. `name` is the template's name, `line` the line, if known."""

    def __init__(self, problem: str, *, name: str | None = None, line: int | None = None) -> None:
        self.name = name
        self.line = line
        super().__init__(problem)
