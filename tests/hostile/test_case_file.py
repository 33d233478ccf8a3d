"""Every case of the file has its own id and a module that runs it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.hostile.case_file import every_case

HERE = Path(__file__).parent


def test_every_case_has_its_own_id() -> None:
    ids = [each["id"] for each in every_case()]
    assert len(ids) == len(set(ids)) > 100


def test_every_case_is_replayed_by_its_module() -> None:
    for each in every_case():
        source = (HERE / f"{each['by']}.py").read_text("utf-8")
        kinds = set(re.findall(r'having="(\w+)"', source))
        asked = isinstance(each["input"], dict) and not kinds.isdisjoint(each["input"])
        whole = f'@cases("{each["by"]}")' in source
        assert asked or whole or re.search(rf"\b{re.escape(each['id'])}\b", source), each["id"]
