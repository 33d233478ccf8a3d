"""Prices for models that a host serves, by family."""
