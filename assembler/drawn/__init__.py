"""What test suites draw, before any API spells it, and how a request is broken: the ground of `assembler.testing`."""
