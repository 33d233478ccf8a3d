"""Small Hugging Face tokenizers, trained in memory on a few lines."""

from __future__ import annotations

import functools

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

LINES = ["The order has been shipped to Kyoto.", "Don't ship it twice, please.", "a < b and b > c; x = y[0]"] * 5
SPECIALS = ["<|endoftext|>", "<|im_start|>", "[INST]", "</s>"]


@functools.cache
def byte_level(merges: int = 120) -> Tokenizer:
    """A byte-level BPE with control tokens: any text can be spelled."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=len(alphabet) + len(SPECIALS) + merges,
        special_tokens=SPECIALS,
        initial_alphabet=alphabet,
        show_progress=False,
    )
    tokenizer.train_from_iterator(LINES, trainer)
    return tokenizer
