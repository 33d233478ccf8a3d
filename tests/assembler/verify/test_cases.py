"""Each rule by its smallest cases: `cases/<dialect>_<rule>_<what broke>.json` holds a broken and a valid one.

`written_cases.py` writes those that follow from the folder of a dialect: of its breaches, and of the rules on tools.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assembler.testing.faults import BREACHES
from assembler.verify import DIALECTS, rules, verify
from tests.assembler.verify.written_cases import cases

FILES = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((Path(__file__).parent / "cases").glob("*"))}
WRITTEN = {f"{case['dialect']}_{case['rule'].lower()}_written": case for case in cases()}
CASES = FILES | WRITTEN

BY_GENERAL_CODE = {"S2", "S4", "S3"}
"""Shape rules that not every dialect can break: a dialect without part types, without roles, …"""


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_the_broken_request_fires_that_rule_and_no_other(case: dict[str, Any]) -> None:
    found = verify(case["broken"], dialect=case["dialect"], model=case.get("model"))
    assert {violation.rule for violation in found} == {case["rule"]}, [str(violation) for violation in found]
    if "where" in case:
        assert case["where"] in [violation.where for violation in found]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_the_valid_sibling_fires_nothing(case: dict[str, Any]) -> None:
    found = verify(case["valid"], dialect=case["dialect"], model=case.get("model"))
    assert [str(violation) for violation in found] == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_rule_of_every_dialect_has_a_case(dialect: str) -> None:
    covered = {case["rule"] for case in CASES.values() if case["dialect"] == dialect}
    missing = {rule.id for rule in rules(dialect)} - covered - BY_GENERAL_CODE
    step = f"a breach in drawn.py of {dialect}, or {dialect}_RULE_WHAT_BROKE.json in tests/assembler/verify/cases"
    assert missing == set(), f"each needs {step}"


def test_breaches_and_rules_on_tools_are_cases_of_every_api() -> None:
    written = {(case["dialect"], case["rule"]) for case in WRITTEN.values()}
    assert {(dialect, rule) for dialect, breaches in BREACHES.items() for rule in breaches} <= written
    assert {("anthropic", rule) for rule in ("L0", "T1", "T2", "T3")} <= written
    assert len(written) >= 111


def test_every_shape_rule_has_a_case_somewhere() -> None:
    assert {case["rule"] for case in CASES.values()} >= BY_GENERAL_CODE


@pytest.mark.parametrize("case", FILES.values(), ids=FILES.keys())
def test_the_name_of_a_case_holds_its_dialect_and_rule(case: dict[str, Any]) -> None:
    (name,) = [name for name, held in FILES.items() if held is case]
    assert name.startswith(f"{case['dialect']}_{case['rule'].lower()}_")
