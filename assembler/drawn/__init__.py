"""Draws conversations independent of any API, and breaks requests. `assembler.testing` is built on this."""
