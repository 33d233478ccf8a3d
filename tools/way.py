"""Prints the way of a request through the library, as it runs: `python -m tools.way [PATH TO A CLONE]`.

It builds a conversation of 61 messages twice: cold, and once more after an appended message. For each it counts the
calls of the library's own functions, how often a call goes from one module into another, and how deep calls lie in each
other. What is listed are the stages with the calls in each, and the packages in the order in which they are first
entered.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

Message = dict[str, str]

BUILD = "assembler/pipeline/build.py"
STAGES = ("gather", "choose", "measure", "fit", "emit", "tell")


def messages(turns: int = 30) -> Iterator[Message]:
    """A question and an answer a turn, and a last question."""
    for turn in range(turns):
        yield {"role": "user", "content": f"Question {turn}: what became of order {turn * 7}?"}
        yield {"role": "assistant", "content": f"Order {turn * 7} left on day {turn}. " * 3}
    yield {"role": "user", "content": "And the last one?"}


class Way:
    """What one call did: counted while it runs."""

    def __init__(self, root: Path) -> None:
        self.root, self.calls, self.crossings, self.depth = str(root), 0, 0, 0
        self.modules: dict[str, int] = {}
        self.stages: dict[str, int] = dict.fromkeys(STAGES, 0)
        """The calls in each stage of a build, its own among them."""
        self._stack: list[str] = []
        self._stage: list[str] = []

    def module(self, frame: FrameType) -> str:
        """The module of a frame where it is the library's own, else nothing."""
        name = frame.f_code.co_filename
        return (
            name.removeprefix(self.root + "/")
            if name.startswith((f"{self.root}/assembler", f"{self.root}/budgets"))
            else ""
        )

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """One event of the interpreter's profiler."""
        if event == "call" and (here := self.module(frame)):
            self.calls += 1
            self.modules[here] = self.modules.get(here, 0) + 1
            self.crossings += bool(self._stack) and self._stack[-1] != here
            if frame.f_code.co_name in self.stages and frame.f_back and frame.f_back.f_code.co_filename.endswith(BUILD):
                self._stage.append(frame.f_code.co_name)
            if self._stage:
                self.stages[self._stage[-1]] += 1
            self._stack.append(here)
            self.depth = max(self.depth, len(self._stack))
        elif event == "return" and self._stack and self.module(frame):
            self._stack.pop()
            if self._stage and frame.f_back and frame.f_back.f_code.co_filename.endswith(BUILD):
                self._stage.pop()

    def follow(self, work: Callable[[], object]) -> Way:
        """Count what happens in `work`."""
        sys.setprofile(self)
        try:
            work()
        finally:
            sys.setprofile(None)
        return self

    def lines(self) -> Iterator[str]:
        """The figures, and the packages in order of their first call."""
        yield (
            f"{self.calls} calls in {len(self.modules)} modules, {self.crossings} from one module into another, "
            f"{self.depth} deep"
        )
        yield "  in its stages: " + ", ".join(f"{stage} {calls}" for stage, calls in self.stages.items())
        packages: dict[str, list[str]] = {}
        for name in self.modules:
            package, _, rest = name.removeprefix("assembler/").rpartition("/")
            packages.setdefault(package or "the door", []).append(f"{rest.removesuffix('.py')} {self.modules[name]}")
        for package, entered in packages.items():
            yield f"  {package:28} {', '.join(entered)}"


def main(root: str = ".") -> None:
    """Follow a cold build and an appended one with their requests, for OpenAI's Chat and for Anthropic."""
    path = Path(root).resolve()
    sys.path.insert(0, str(path))
    assembler: Any = __import__("assembler")
    budgets: Any = __import__("budgets")
    for model in ("gpt-4o", "claude-sonnet-4-5"):
        budget = budgets.Budget.for_model(model, max_output_tokens=1_000)

        def gathered(budget: Any = budget) -> Any:
            made = assembler.Assembler(budget=budget, on_overflow=assembler.TrimOldest())
            return made.add_instruction("Be brief.").add_messages(list(messages()))

        gathered().build().request()  # what is loaded once in a process, and the memory of texts
        subject = gathered()
        print(model, "cold:", *Way(path).follow(lambda held=subject: held.build().request()).lines(), sep="\n")
        subject.add_message({"role": "assistant", "content": "It left today."})
        subject.add_message({"role": "user", "content": "Thank you. And the next?"})
        print(model, "appended:", *Way(path).follow(lambda held=subject: held.build().request()).lines(), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
