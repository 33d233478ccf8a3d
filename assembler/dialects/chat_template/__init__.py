"""The chat template of a Hugging Face tokenizer."""
