"""Mistral's chat API."""
