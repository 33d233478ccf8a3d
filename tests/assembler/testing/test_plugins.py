"""The installed plugins cost other people's test runs next to nothing until they are used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def printed(program: str, *arguments: str) -> str:
    command = [sys.executable, "-W", "error", *(arguments or ("-c", program))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


QUIET = "import warnings; warnings.simplefilter('ignore')\n"
LOADED = "print(sorted(n for n in sys.modules if n.split('.')[0] in ('assembler', 'budgets', 'hypothesis')))"


PLUGINS = ["assembler", "assembler.testing", "assembler.testing.for_hypothesis", "assembler.testing.for_pytest"]


def test_loading_the_plugins_loads_neither_the_library_nor_hypothesis() -> None:
    program = f"import sys, assembler.testing.for_hypothesis as h, assembler.testing.for_pytest; h.load(); {LOADED}"
    assert printed(program) == str([*PLUGINS, "budgets", "budgets.forking", "budgets.lazy_names"])


def test_a_value_is_known_to_hypothesis_as_soon_as_its_module_is_loaded_and_no_other_module_with_it() -> None:
    program = (
        f"{QUIET}import sys, hypothesis; from assembler.testing.for_hypothesis import load; load()\n"
        "from budgets import Limit; print('assembler.assembler' in sys.modules)\n"
        "print(type(hypothesis.strategies.from_type(Limit).example()).__name__)"
    )
    assert printed(program).split() == ["False", "Limit"]


DRAWN = "print(type(st.from_type(Message).example()).__name__)"


@pytest.mark.parametrize(
    "order",
    [
        "import hypothesis; load(); load(); from assembler.conversation.messages import Message",
        pytest.param(
            "import assembler, hypothesis; load(); from assembler.conversation.messages import Message",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "import assembler.drawn.engine; load(); from assembler.conversation.messages import Message",
            marks=pytest.mark.slow,
        ),
        "import hypothesis; load(); import assembler.testing.regions\n"
        "from assembler.conversation.messages import Message",
    ],
)
def test_a_type_is_known_whichever_is_imported_first(order: str) -> None:
    program = (
        f"{QUIET}import os; os.environ['HYPOTHESIS_NO_PLUGINS'] = '1'\n"
        f"from assembler.testing.for_hypothesis import load, _AfterImport\n{order}\n"
        f"from hypothesis import strategies as st\n{DRAWN}\n"
        "import sys; import assembler.testing.values  # with it the last of the values' modules\n"
        "print(any(isinstance(f, _AfterImport) for f in sys.meta_path))\n"
        "print('exec_module' in vars(sys.modules[Message.__module__].__spec__.loader))"
    )
    assert printed(program).split() == ["Message", "False", "False"]


def test_another_import_goes_by_the_waiting_finder() -> None:
    program = (
        "import sys; from assembler.testing.for_hypothesis import load; load()\n"
        "import colorsys; import importlib.util\n"
        "print('colorsys' in sys.modules, 'assembler.assembler' in sys.modules)"
    )
    assert printed(program) == "True False"


@pytest.mark.parametrize("name", ["conversations", "check_policy", "ContractError", "check_fitter", "assemblers"])
def test_without_hypothesis_the_error_says_what_to_install_and_the_assertions_work(name: str) -> None:
    program = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "from assembler.testing import assert_valid\n"
        "assert_valid({'messages': [{'role': 'user', 'content': 'a'}]}, dialect='openai_chat')\n"
        "from budgets import MissingExtraError\n"
        f"try:\n    from assembler.testing import {name}\n"
        "except MissingExtraError as error:\n    print(error.extra, error)"
    )
    assert printed(program).endswith(
        "testing assembler.testing needs an optional package: pip install 'context-assembler[testing]'"
    )


def test_the_library_loads_neither_hypothesis_nor_its_own_testing_part() -> None:
    program = (
        "import sys, assembler; print([n for n in sys.modules if n.startswith(('hypothesis', 'assembler.testing'))])"
    )
    assert printed(program) == "[]"


USER_TEST = """
def test_mine(assert_fits, assert_valid):
    request = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}
    assert assert_fits(request).tokens == 8
    assert_valid(request)


def test_too_large(assert_fits):
    from budgets import Budget

    assert_fits({"messages": [{"role": "user", "content": "hi"}]}, budget=Budget(7, model="gpt-4o"))
"""


def test_the_fixtures_serve_a_test_and_a_failure_ends_at_its_own_line(tmp_path: Path) -> None:
    (tmp_path / "test_user.py").write_text(USER_TEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "assembler.testing.for_pytest"]
    environment = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run([*command, str(tmp_path)], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "the request costs 8 tokens, but only 7 are free (7 context_window): 1 too many" in done.stdout
    assert "assertions.py" not in done.stdout
