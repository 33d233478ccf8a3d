"""Reads and writes files: text, YAML and JSON, with size limits and errors that name the line."""
