"""Cache marks, the places in a request that can carry them, and the prefixes that a cache serves."""
