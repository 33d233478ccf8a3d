"""Prices that several APIs share: tables of families, unknown models, schemas, and fields without a price."""
