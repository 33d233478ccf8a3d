"""A text is counted also once the main thread has ended: in a thread that outlives it, and in an exit handler."""

from __future__ import annotations

import pytest

from tests.interpreter import ran

TEXT = "Where is my order? It was to arrive on Tuesday; nobody has seen it. " * 40
COUNT = f"import budgets\ndef count():\n    print(budgets.{{counter}}({TEXT!r}))\n"
ENDED = {
    "thread": "import threading\nmain = threading.main_thread()\n"
    "threading.Thread(target=lambda: (main.join(), count())).start()",
    "handler": "import atexit\natexit.register(count)",
}


@pytest.mark.parametrize(
    "counter", ["tiktoken_counter()", "tiktoken_counter('r50k_base')", "open_model_counter('qwen3-32b')"]
)
@pytest.mark.parametrize("ended", ENDED)
def test_the_first_count_after_the_end_of_the_main_thread_is_that_of_before(ended: str, counter: str) -> None:
    program = COUNT.format(counter=counter)
    before, after = ran(f"{program}count()"), ran(program + ENDED[ended])
    assert int(after) == int(before)
