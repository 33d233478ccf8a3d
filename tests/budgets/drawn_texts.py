"""Strategies of texts that tokenizers find hard: every blank and line break beside marks, slashes and letters."""

from __future__ import annotations

from hypothesis import strategies as st

# White_Space of Unicode less the line breaks that the split patterns treat apart.
BLANKS = "\t\x0b\x0c \x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000"
MARKS = ";.,'\"/<>|&!-_=(){}[]#*\u0301\u200b\U0001f600\x1c"
LETTERS = "aZéßж中あ한अ1٣²"

adversarial = st.text(st.sampled_from(BLANKS[:5] + "\n\r" + MARKS + LETTERS), max_size=24)
"""Short texts in which pieces meet in every way."""

controls = st.sampled_from(["<|endoftext|>", "<|im_start|>", "<|fim_prefix|>", "<|endofprompt|>", "[INST]", "</s>"])
"""Texts that look like control tokens."""

words = st.sampled_from(
    ["the", " order", " has", "\n\n", "\n", "  ", " shipped.", "Don't", " 4711", "://", " été", "東京"]
)

texts = st.one_of(
    adversarial,
    st.lists(st.one_of(words, controls, adversarial), max_size=8).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
)
"""Any text that UTF-8 can spell."""
