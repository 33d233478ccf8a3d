"""How often a chat template is rendered: for a cold build, an unchanged one, and one with a message appended.

    python tests/benchmarks/template.py

A template's prompt has no price but that of the whole, and a whole is dear. Rendering is counted, not timed. The
tokenizer is made on the spot, a token a byte, so that nothing is downloaded; the number of renders does not depend on
it. Each case is one window; every build is followed by its request.
"""

from __future__ import annotations

import math
import statistics
import sys
from typing import Any

from assembler import Assembler, TrimOldest
from budgets import Budget

TURNS = (10, 100, 1_000)
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
CONTROL = ["<|im_start|>", "<|im_end|>"]
TOKENS_OF_A_TURN = 130
"""About what a question and its answer below cost, a token a byte."""


def counting_tokenizer() -> tuple[Any, list[int]]:
    """A tokenizer, and the lengths of the conversations that it or a copy of it was asked to render."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    renders: list[int] = []

    class Counting(PreTrainedTokenizerFast):
        def apply_chat_template(self, conversation: Any, *args: Any, **kwargs: Any) -> Any:
            renders.append(len(conversation))
            return super().apply_chat_template(conversation, *args, **kwargs)

    letters = {letter: place for place, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    engine = Tokenizer(models.BPE(vocab=letters, merges=[]))
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    engine.decoder = decoders.ByteLevel()
    tokenizer = Counting(tokenizer_object=engine, eos_token=CONTROL[1], extra_special_tokens=CONTROL[:1])
    tokenizer.chat_template = CHATML
    return tokenizer, renders


def turn(number: int) -> list[dict[str, str]]:
    return [
        {"role": "user", "content": f"Question {number}: " + "why " * (number % 7)},
        {"role": "assistant", "content": f"Answer {number}: " + "because " * (number % 5)},
    ]


def main() -> int:
    try:
        from assembler.dialects.chat_template.dialect import chat_template

        tokenizer, renders = counting_tokenizer()
    except ImportError as error:
        print(f"chat templates cannot be rendered here: {error}; pip install 'context-assembler[transformers]'")
        return 0
    dialect = chat_template(tokenizer)

    def spent(assembler: Assembler) -> int:
        renders.clear()
        assembler.build().request()
        return len(renders)

    for turns in TURNS:
        history = [message for number in range(turns) for message in turn(number)]
        for name, policy in (("TrimOldest()", TrimOldest()), ("TrimOldest(low_water=0.5)", TrimOldest(low_water=0.5))):
            window = turns * TOKENS_OF_A_TURN // 2
            assembler = Assembler(Budget(window), dialect=dialect, on_overflow=policy).add_messages(history)
            assembler.add_message({"role": "user", "content": "And now?"})
            cold = spent(assembler)
            same = spent(assembler)
            assembler.add_message({"role": "assistant", "content": "Now we are done."})
            appended = [spent(assembler)]
            for number in range(20):
                for message in turn(turns + number):
                    assembler.add_message(message)
                    appended.append(spent(assembler))
            print(
                f"{turns:>5} turns, {name}: cold {cold} renders (log2(turns) + 3 = {math.log2(turns) + 3:.1f}), "
                f"unchanged {same}, appended {statistics.median(appended):g} in the median and at most {max(appended)}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
