"""Hugging Face tokenizers of three families, trained in memory, with and without tokens that they add themselves."""

from __future__ import annotations

import functools
import logging
from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LINES = [
    "You are a helpful QA system. The user asks: what is the answer?",
    "Below is relevant context filtered from a larger document:",
    "No additional context was deemed novel. Please provide the best possible answer.",
    "The order has been shipped to Kyoto. Don't ship it twice, please.",
] * 4


def _byte_level(specials: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=500, special_tokens=specials, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(LINES, trainer)
    return tokenizer


def _word_piece(specials: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=["[UNK]", *specials], show_progress=False)
    tokenizer.train_from_iterator(LINES, trainer)
    return tokenizer


def _sentence_piece(specials: list[str]) -> Tokenizer:
    """A unigram model over blanks made visible, without splitting at line breaks: joins can cost and save."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=300, special_tokens=["<unk>", *specials], unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator([*LINES, "a\nb", "\n"], trainer)
    return tokenizer


MAKERS = {"byte-level": _byte_level, "word-piece": _word_piece, "sentence-piece": _sentence_piece}
NAMES = [f"{kind} {frame}" for kind in MAKERS for frame in ("bare", "framed")]


@functools.cache
def tokenizer(name: str) -> Any:
    """A `PreTrainedTokenizerFast`; a framed one puts `<s>` before a text and `</s>` after it, as BART's does."""
    from transformers import PreTrainedTokenizerFast

    logging.getLogger("transformers").setLevel(logging.ERROR)
    kind, frame = name.split()
    engine = MAKERS[kind](["<s>", "</s>"])
    if frame == "framed":
        ids = [(token, engine.token_to_id(token)) for token in ("<s>", "</s>")]
        engine.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ids)
    return PreTrainedTokenizerFast(tokenizer_object=engine)
