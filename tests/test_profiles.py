"""The profiles of `conftest.py` keep their promises."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings

from tests.conftest import pytest_collection_modifyitems


@pytest.mark.parametrize(("profile", "asked", "more"), [("ci", None, 0), ("round", None, 1), ("round", 9, 0)])
def test_a_test_of_more_examples_has_as_much_more_time(profile: str, asked: int | None, more: int) -> None:
    found: list[Any] = []
    config: Any = SimpleNamespace(getoption=lambda *_: asked, getini=lambda _: "120")
    test: Any = SimpleNamespace(add_marker=lambda marker: found.append(marker.args))
    before = settings.get_current_profile_name()
    settings.load_profile(profile)
    try:
        pytest_collection_modifyitems(config, [test])
    finally:
        settings.load_profile(before)
    for_an_example = 120 / settings.get_profile("ci").max_examples
    assert found == [(pytest.approx(settings.get_profile(profile).max_examples * for_an_example),)] * more
