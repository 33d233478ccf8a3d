"""What a piece, a message and a turn cost in the tokens that a provider bills."""
