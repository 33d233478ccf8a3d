"""context-assembler: lays out the context window of a language-model request.

    from assembler import Assembler, TrimOldest
    from budgets import Budget

Importing this loads nothing else: each name of `__init__.pyi` is loaded when it is first used. Tokenizers, the template
engine and numpy are loaded only once they are needed.
"""

try:
    from budgets.lazy_names import load_later as _load_later
except ModuleNotFoundError as _missing:
    import budgets as _theirs

    raise ImportError(
        f"assembler needs its own package budgets, and another one comes first on the path: {_theirs.__file__}; "
        "rename that one, or start Python elsewhere",
        name="budgets",
    ) from _missing

_load_later(
    __name__,
    elsewhere={
        "assembler.batch": "assemble_batch",
        "assembler.dialects": "*",
        "assembler.rag": "citation_report Order RetrievalResult",
        "assembler.testing": "assert_fits assert_valid check_fitter",
        "budgets": "*",
    },
)
