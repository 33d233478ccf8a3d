"""Reads request files. Errors name the key."""
