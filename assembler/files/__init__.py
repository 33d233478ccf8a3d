"""Files in and out: text, YAML and JSON with their bounds, and an error that names the line."""
