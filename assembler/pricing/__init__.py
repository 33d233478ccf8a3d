"""Prices pieces, messages and turns in the tokens that a provider bills."""
