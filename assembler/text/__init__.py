"""What every text must pass, and characters that nobody sees."""
