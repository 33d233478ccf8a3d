"""Checks any function that trims a history against the laws of trimming, and finds the smallest failing case."""
