"""One headless Chromium for all tests, and a page from a report. Nothing leaves the machine: the network is off."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="make test-page sets it up")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    # Chromium refuses to run sandboxed as root, which is who containers are; it opens our own files alone.
    sandboxed = [] if getattr(os, "geteuid", lambda: 1)() else ["--no-sandbox"]
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=sandboxed)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, from `$AXE` or from where `make test-page` installs it."""
    root = Path(__file__).parents[2]
    path = Path(os.environ.get("AXE", root / ".venv-page/node_modules/axe-core/axe.min.js"))
    if not path.exists():
        pytest.skip("make test-page installs axe-core")
    return path.read_text("utf-8")


class Looked:
    """A page in the browser, with all that it said and asked for on the way."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.dialogs: list[str] = []
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def at(self, window: float) -> None:
        """The slider, moved as a hand moves it: a press on its track where the window is."""
        slider = self.page.locator("#slider")
        slider.scroll_into_view_if_needed()
        box, most = slider.bounding_box(), float(slider.get_attribute("max"))
        thumb = 24
        inset = thumb / 2 + (box["width"] - thumb) * window / most
        self.page.mouse.click(box["x"] + inset, box["y"] + box["height"] / 2)
        self.drawn()

    def press(self, key: str) -> None:
        """A key, and what the page makes of it."""
        self.page.keyboard.press(key)
        self.drawn()

    def drawn(self) -> None:
        """Wait until the place of the slider is shown: once a frame."""
        self.page.evaluate("new Promise(requestAnimationFrame)")

    @property
    def window(self) -> int:
        return int(self.page.locator("#exactly").input_value())

    @property
    def outcomes(self) -> dict[str, str]:
        """What the rows show, by name."""
        while (closed := self.page.locator('.fold button[aria-expanded="false"]')).count():
            closed.first.click()
        rows = self.page.locator("tr[data-item]:visible").all()
        return {row.locator("bdi").inner_text(): row.locator("td.outcome").inner_text().strip() for row in rows}


@pytest.fixture
def look(chromium: Any, tmp_path: Path) -> Iterator[Callable[..., Looked]]:
    contexts: list[Any] = []

    def opened(html: str, *, width: int = 1280, scheme: str = "light", **options: Any) -> Looked:
        file = tmp_path / f"page-{len(contexts)}.html"
        file.write_text(html, "utf-8")
        viewport = {"width": width, "height": 844 if width < 600 else 900}
        context = chromium.new_context(viewport=viewport, color_scheme=scheme, offline=True, **options)
        contexts.append(context)
        looked = Looked(context.new_page())
        looked.page.goto(file.as_uri())
        return looked

    yield opened
    for context in contexts:
        context.close()
