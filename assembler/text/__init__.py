"""Checks that every text must pass, and invisible characters."""
