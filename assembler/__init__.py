"""context-assembler: lays out the context window of a language-model request.

    from assembler import Assembler, TrimOldest
    from budgets import Budget

Importing this loads nothing else: each name comes with its module when it is first used, and with it no tokenizer, no
template engine and no numpy before one of them has work to do. The names are listed in `__init__.pyi`.
"""

try:
    from budgets.later import load_later as _load_later
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
