"""Counters: text in, tokens out. One file per engine, and only these files import a tokenizer, when it first counts."""
