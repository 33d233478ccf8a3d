"""Models that somebody else serves: what a host bills, by family."""
