"""What Hypothesis and pytest load at their start. Stands outside of `assembler`, so that it does not load the library.

A module of the library would import all of it into every test run of the environment, and before coverage measures.
"""
