"""Sessions, changes between builds, and files that people drop: in a browser, by mouse and by key."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assembler import Assembler, Summarize, TrimOldest
from assembler.report.page import Texts
from assembler.report.page.html import tool_html
from assembler.session import session_html
from budgets import Budget

from .lived import conversation
from .test_in_chromium import ATTACK

FRAME = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def number(looked: Any, name: str) -> int:
    return int(looked.page.locator(f"#{name}").inner_text().replace(",", ""))


def test_the_slider_opens_the_build_that_it_points_at(look: Callable[..., Any]) -> None:
    contexts = list(conversation())
    looked = look(session_html(contexts, title="A customer in a hurry"))
    page = looked.page
    assert page.locator("h1").inner_text() == "A customer in a hurry"
    assert number(looked, "tokens") == contexts[-1].count.tokens
    slider = page.locator("#slider-of-builds")
    slider.focus()
    page.keyboard.press("Home")
    page.evaluate(FRAME)
    assert number(looked, "tokens") == contexts[0].count.tokens
    for place in range(1, 4):
        page.keyboard.press("ArrowRight")
        page.evaluate(FRAME)
        assert number(looked, "tokens") == contexts[place].count.tokens
    assert "Build 4 of 40" in page.locator("#build-name").inner_text()
    page.locator("#later").click()
    assert number(looked, "tokens") == contexts[4].count.tokens
    assert "messages left out" in slider.get_attribute("aria-valuetext")
    assert looked.complaints == []


def test_a_click_on_a_lane_opens_the_build_that_stands_there(look: Callable[..., Any]) -> None:
    contexts = list(conversation())
    looked = look(session_html(contexts))
    box = looked.page.locator("#lane-fill").bounding_box()
    looked.page.mouse.click(box["x"] + box["width"] * 10 / 39, box["y"] + box["height"] / 2)
    looked.page.evaluate(FRAME)
    assert number(looked, "tokens") == contexts[10].count.tokens
    assert looked.page.locator("#left-now").inner_text().split()[0] == str(
        sum(1 for one in contexts[10].dropped if one.outcome == "dropped")
    )


@pytest.mark.parametrize("policy", [None, TrimOldest(), TrimOldest(low_water=0.5)])
def test_the_page_names_the_first_change_that_the_requests_show(look: Callable[..., Any], policy: Any) -> None:
    contexts = list(conversation(**({} if policy is None else {"on_overflow": policy})))
    looked = look(session_html(contexts))
    page = looked.page
    page.locator("#changes").click()
    seen = set()
    for place in range(len(contexts) - 1, 0, -1):
        first = contexts[place].first_changed(contexts[place - 1])
        shown = page.locator("#first").inner_text()
        seen.add(first is None)
        assert ("goes on from" in shown) == (first is None), (place, first, shown)
        if first == 0:  # the system message, in this API
            assert "First change: instruction, in instruction, says something else." in shown
        elif first is not None:
            assert "in conversation" in shown
        page.locator("#earlier").click()
    assert seen == {True, False}
    assert page.locator("#changes").is_disabled()  # nothing stands before the first build
    assert looked.complaints == []


def test_the_cost_of_a_change_is_what_a_cache_cannot_serve(look: Callable[..., Any]) -> None:
    contexts = list(conversation())
    looked = look(session_html(contexts))
    page = looked.page
    page.locator("#changes").click()
    for place in range(len(contexts) - 1, 12, -1):
        prefix, *outside = (int(part.replace(",", "")) for part in page.locator("#cost b").all_inner_texts())
        assert prefix + sum(outside) == contexts[place].count.tokens
        served = contexts[place].served_after(contexts[place - 1]).tokens  # in whole steps of 128
        assert served <= prefix < max(served, 1024) + 128
        page.locator("#earlier").click()


def test_any_two_builds_are_compared_and_each_change_has_its_name(look: Callable[..., Any]) -> None:
    looked = look(session_html(conversation()))
    page = looked.page
    page.locator("#changes").click()
    page.locator("#against").select_option("0")
    changes = set(page.locator("#items td.outcome").all_inner_texts())
    assert {"added", "dropped", "changed"} <= changes
    page.locator("#search").fill("instruction")
    assert page.locator("#items td.outcome").all_inner_texts() == ["changed"]
    page.locator("#search").fill("")
    page.locator("#every").click()
    assert "kept" in page.locator("#items td.outcome").all_inner_texts()


def test_a_run_of_messages_that_were_dropped_since_is_one_row_of_the_changes(look: Callable[..., Any]) -> None:
    contexts = list(conversation(on_overflow=TrimOldest()))
    looked = look(session_html([contexts[5], contexts[39]]))
    page = looked.page
    page.locator("#changes").click()
    fold = page.locator("#items .fold")
    assert fold.count() == 1
    gone = int(fold.locator("button").inner_text().split()[0])
    assert page.locator("#items td.outcome").all_inner_texts().count("dropped") == 1
    assert f"{gone} dropped" in page.locator("#counts").inner_text()
    fold.click()
    assert page.locator("#items tr[data-item] td.outcome").all_inner_texts().count("dropped") == gone
    assert looked.complaints == []


def dropped_on(looked: Any, *files: tuple[str, str]) -> None:
    """Files let go over the page, as a hand does it."""
    looked.page.evaluate(
        """(files) => {
          const carried = new DataTransfer();
          files.forEach(([name, text]) => carried.items.add(new File([text], name)));
          for (const type of ["dragover", "drop"])
            document.body.dispatchEvent(
              new DragEvent(type, { dataTransfer: carried, bubbles: true, cancelable: true }));
        }""",
        [list(one) for one in files],
    )
    # Not wait_for_function: what it looks at again and again is compiled each time, which the page's policy forbids.
    looked.page.locator("#failed:not([hidden]), #welcome[hidden]").first.wait_for(state="attached")
    looked.page.evaluate(FRAME)


def test_a_manifest_that_is_dropped_is_drawn(look: Callable[..., Any]) -> None:
    *_, context = conversation()
    looked = look(tool_html())
    assert looked.page.locator("#welcome").is_visible()
    dropped_on(looked, ("sent.json", json.dumps(context.manifest())))
    assert number(looked, "tokens") == context.count.tokens
    costs = [row.split()[-2] for row in looked.page.locator("#regions tr[data-region]").all_inner_texts()]
    assert [int(cost.replace(",", "")) for cost in costs] == list(context.costs.to_dict().values())
    gone = sum(1 for one in context.dropped if one.outcome == "dropped")
    every = len(context.manifest()["items"]["messages"])
    assert f"{every - gone} of {every} messages stay" in looked.page.locator("#outcome").inner_text()
    assert looked.complaints == []


def test_two_manifests_are_compared_in_the_order_of_their_names(look: Callable[..., Any], tmp_path: Path) -> None:
    contexts = list(conversation())
    looked = look(tool_html())
    files = {"b10.json": contexts[30], "b9.json": contexts[29]}  # the instruction changes between them
    for name, context in files.items():
        (tmp_path / name).write_text(json.dumps(context.manifest()), "utf-8")
    looked.page.locator("#files").focus()  # the keyboard reaches it
    looked.page.locator("#files").set_input_files([str(tmp_path / name) for name in files])
    looked.page.locator("#changes").click()
    assert (
        "First change: instruction, in instruction, says something else." in looked.page.locator("#first").inner_text()
    )
    assert "b10.json, 2 of 2" in looked.page.locator("#build-name").inner_text()
    dropped_on(looked, ("b11.json", json.dumps(contexts[31].manifest())))
    looked.page.locator("#build-name", has_text="3 of 3").wait_for(state="attached")


def test_a_report_that_is_dropped_is_drawn(look: Callable[..., Any]) -> None:
    *_, context = conversation()
    looked = look(tool_html())
    dropped_on(looked, ("report.json", json.dumps(context.report.to_dict())))
    assert number(looked, "tokens") == context.count.tokens
    assert "messages stay" in looked.page.locator("#outcome").inner_text()
    assert looked.complaints == []


def _without(path: str) -> Callable[[dict[str, Any]], Any]:
    def changed(manifest: dict[str, Any]) -> Any:
        *above, last = path.split(".")
        inner = manifest
        for name in above:
            inner = inner[name]
        inner[last] = "<script>window.owned = 1</script>"
        return manifest

    return changed


WRONG: list[tuple[Any, str]] = [
    ("no json {", "it is not JSON"),
    ([], "neither a manifest nor a report"),
    ({}, "neither a manifest nor a report"),
    (None, "neither a manifest nor a report"),
    ({"decision": 1, "items": 2}, "expected an object at “decision.regions”"),
    (_without("decision.tokens"), "expected a whole number at “decision.tokens”"),
    (_without("decision.messages"), "expected a list at “decision.messages”"),
    (_without("items.tools"), "expected a list at “items.tools”"),
    (_without("terms.budget.context_window"), "expected a whole number at “context_window”"),
    ({"rows": [{"region": "elsewhere", "outcome": "kept"}], "regions": {}}, "the name of a region"),
    ({"rows": [{"region": "framing", "outcome": "__proto__"}], "regions": {}}, "kept, shortened or dropped"),
]


@pytest.mark.parametrize(("wrong", "expected"), WRONG, ids=[expected for _, expected in WRONG])
def test_a_file_that_cannot_be_read_is_named_with_the_place_that_is_wrong(
    look: Callable[..., Any], wrong: Any, expected: str
) -> None:
    given = wrong(next(conversation()).manifest()) if callable(wrong) else wrong
    looked = look(tool_html())
    dropped_on(looked, ("<b>mine</b>.json", given if isinstance(given, str) else json.dumps(given)))
    shown = looked.page.locator("#failed").inner_text()
    assert shown.startswith("<b>mine</b>.json cannot be shown: ")
    assert expected in shown
    assert "owned" not in shown
    assert looked.page.evaluate("window.owned") is None
    assert looked.page.locator("#welcome").is_visible()
    assert looked.complaints == []


def poisoned(value: Any) -> Any:
    """The same with an attack in every text, and in every name that is not read."""
    if isinstance(value, dict):
        return {**{name: poisoned(inner) for name, inner in value.items()}, ATTACK: ATTACK}
    if isinstance(value, list):
        return [poisoned(inner) for inner in value]
    return value + ATTACK if isinstance(value, str) else value


def test_no_text_of_a_hostile_manifest_or_report_becomes_markup(look: Callable[..., Any]) -> None:
    *_, context = conversation()
    report = poisoned(context.report.to_dict())
    for row in report["rows"]:
        row["region"], row["outcome"] = (row[name].removesuffix(ATTACK) for name in ("region", "outcome"))
    for dropped in (poisoned(context.manifest()), report):
        looked = look(tool_html())
        before = looked.page.locator("script, style").count()
        dropped_on(looked, (f"{ATTACK}.json", json.dumps(dropped)), ("b.json", json.dumps(dropped)))
        assert looked.page.locator("#request").is_visible()
        looked.page.locator("#texts").click()
        looked.page.locator("#changes").click()
        looked.page.locator("#earlier").click()
        looked.page.locator("#texts").click()
        assert "<script>" in looked.page.locator("main").inner_text()
        assert looked.page.locator("script, style").count() == before
        assert looked.page.locator("img, iframe, a, [onload], [onerror], [onfocus], svg svg[onload]").count() == 0
        assert looked.page.evaluate("window.owned") is None
        assert (looked.dialogs, looked.complaints) == ([], [])
        assert len(looked.requests) == 1


def page_of(name: str) -> str:
    if name == "tool":
        return tool_html()
    if name == "session":
        return session_html(conversation(turns=14, window=1_000))
    *_, context = conversation(turns=14, window=1_000)
    return context.report.to_html()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
@pytest.mark.parametrize("name", ["tool", "session", "report"])
def test_axe_finds_nothing(look: Callable[..., Any], axe: str, name: str, width: int, scheme: str) -> None:
    looked = look(page_of(name), width=width, scheme=scheme, bypass_csp=True)
    match name:
        case "session":
            looked.page.locator("#changes").click()
        case "tool":
            dropped_on(looked, ("x.json", "{"))
        case _:
            looked.page.locator("#texts").click()
    looked.page.evaluate(axe)
    found = looked.page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    assert [(one["id"], [node["html"][:120] for node in one["nodes"]][:3]) for one in found] == []


def kinds() -> dict[str, str]:
    budget = Budget(600, counter=len)
    talk = [("user" if at % 2 == 0 else "assistant", f"turn {at} " * 3) for at in range(41)]
    asked = Assembler(budget, on_overflow=Summarize(lambda *_: "they met")).add_messages(talk)
    noted = Assembler(budget, on_overflow=TrimOldest(note="cut", pins={4})).add_messages(talk)
    old: list[Any] = [{"role": "nobody" if at == 3 else "user", "content": "x" * 9} for at in range(300)]
    unread = Assembler(Budget(40, counter=len), dialect="plain", on_overflow=TrimOldest()).add_messages(old)
    bare = Assembler().add_messages(talk)
    return {
        "no budget": bare.plan().report.to_html(),
        "nothing": Assembler().plan().report.to_html(),
        "stored": pickle.loads(pickle.dumps(noted.plan().report)).to_html(),
        "a summary": asked.build().report.to_html(),
        "a note and a pin": noted.plan().report.to_html(texts=Texts()),
        "unreadable": unread.build().report.to_html(),
        "one build": session_html([asked.build()]),
        "builds without a budget": session_html([bare.build(), bare.add_message(("user", "more")).build()]),
        "summaries": session_html([noted.build(), asked.build(), unread.build()]),
        "no builds": session_html([]),
    }


KINDS = (
    "no budget", "nothing", "stored", "a summary", "a note and a pin", "unreadable", "one build",
    "builds without a budget", "summaries", "no builds",
)  # fmt: skip


@pytest.fixture(scope="module")
def drawn() -> dict[str, str]:
    return kinds()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_request_is_drawn(look: Callable[..., Any], drawn: dict[str, str], kind: str) -> None:
    assert set(drawn) == set(KINDS)
    looked = look(drawn[kind], width=360)
    page = looked.page
    assert page.locator("#welcome").is_visible() == (kind == "no builds")
    for control in ("#texts", "#changes", "#earlier", "#less", "#every"):
        if page.locator(control).is_visible() and page.locator(control).is_enabled():
            page.locator(control).click()
    if kind != "no builds":
        rows = page.locator("#regions tr[data-region]").all_inner_texts()
        costs = [int(row.split("\t")[1].replace(",", "")) for row in rows]
        assert sum(costs) == number(looked, "tokens")
        assert "NaN" not in page.locator("main").inner_text()
        assert "undefined" not in page.locator("main").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert looked.complaints == []
