"""The steps that retrieved sources go through before a model reads them.

The steps, in the order in which `assembler.strategies.CitedSources` takes them: duplicates → choose → merge → order →
number. Nothing here is imported before it is used.
"""
