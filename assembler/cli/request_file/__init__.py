"""A request as a file spells it: frozen values, their readers, and errors that name the key."""
