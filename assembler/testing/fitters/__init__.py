"""A check for any function that trims a history: the laws it should keep, and the smallest case where it does not."""
