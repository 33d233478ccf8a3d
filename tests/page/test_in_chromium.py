"""The page in a browser: what it shows at a window is `what_if`, by mouse and by key, and nothing given to it runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assembler import Assembler, CacheMarks, ClearToolResults, ContextLengthError, Plan, TrimOldest
from assembler.dialects import anthropic, openai_chat
from assembler.pipeline.what_if import plan_least
from assembler.report.page import Texts
from assembler.report.page.html import page_html
from assembler.report.report import report_of
from budgets import Budget

ARTEFACTS = Path(__file__).parent / "artefacts"
SHOTS = [(width, scheme) for width in (1280, 768, 360) for scheme in ("light", "dark")]
ATTACK = (
    '</script><script>window.owned = 1; alert(1)</script><img src=x onerror="window.owned = 1">'
    '<svg onload=\'window.owned = 1\'></svg>" onfocus="window.owned = 1" autofocus x="<!--<script>'
)
TOOLS = [
    {"name": name, "description": f"{name} by number.", "parameters": {"type": "object", "properties": {}}}
    for name in ("find_orders", "track_parcel", "open_return")
]

SCROLLED = """new Promise((done) => {
  const look = () => (scrollY > 100 ? done() : requestAnimationFrame(look));
  look();
})"""


def session(turns: int = 24) -> list[dict[str, Any]]:
    """Turns of two kinds, so that some hold tool results."""
    history: list[dict[str, Any]] = []
    for turn in range(turns):
        history.append({"role": "user", "content": f"Where is order {turn}? " + "Please look. " * (turn % 5 * 4)})
        if turn % 3 == 0:
            call = {"id": f"c{turn}", "type": "function", "function": {"name": "find_orders", "arguments": "{}"}}
            history.append({"role": "assistant", "content": None, "tool_calls": [call]})
            history.append({"role": "tool", "tool_call_id": f"c{turn}", "content": f"parcel {turn} on its way; " * 25})
        history.append({"role": "assistant", "content": f"It is on its way, parcel {turn}." * (1 + turn % 2)})
    return [*history, {"role": "user", "content": "And the last one?"}]


def plan_of(policy: Any, window: int = 3_000, dialect: Any = openai_chat, model: str = "gpt-4o") -> Plan:
    budget = Budget(window, max_output_tokens=300, model=model)
    assembler = Assembler(budget, dialect=dialect, on_overflow=policy, cache_marks=CacheMarks()).add_capability(TOOLS)
    assembler.add_instruction("You answer questions about parcels, briefly and with the facts at hand. " * 6)
    assembler.add_knowledge("Parcels take two days. " * 30, type="policy", source="handbook/shipping.md", trusted=True)
    assembler.add_knowledge("Returns are free for a month. " * 20, type="policy", source="handbook/returns.md")
    return assembler.add_messages(session()).plan()


def names(first: int, stop: int) -> str:
    return f"message {first}" if stop - first == 1 else f"messages {first}-{stop - 1}"


def dropped_rows(plan: Plan, window: int) -> set[str]:
    """The turns that a build at this window drops whole, as rows are named; found from the indexes alone."""
    gone = {one.index for one in plan.what_if(context_window=window).dropped if one.outcome == "dropped"}
    questions = [at for at, message in enumerate(session()) if message["role"] == "user"]
    spans = zip(questions, [*questions[1:], len(session())], strict=True)
    return {names(*span) for span in spans if set(range(*span)) <= gone}


@pytest.mark.parametrize("width", [1280, 390])
def test_the_slider_at_a_fifth_shows_what_a_window_of_a_fifth_drops(look: Callable[..., Any], width: int) -> None:
    plan = plan_of(TrimOldest(), window=6_000)
    looked = look(plan.report.to_html(), width=width)
    assert looked.window == 6_000
    assert {name for name, outcome in looked.outcomes.items() if outcome == "dropped"} == dropped_rows(plan, 6_000)
    for share in (0.5, 0.3, 0.2):
        looked.at(share * 6_000)
        assert abs(looked.window - share * 6_000) <= 6_000 / 100
        shown = {name for name, outcome in looked.outcomes.items() if outcome == "dropped"}
        assert shown == dropped_rows(plan, looked.window)
        assert shown
    looked.at(0.08 * 6_000)
    with pytest.raises(ContextLengthError):
        plan.what_if(context_window=looked.window)
    assert "Nothing can be sent below" in looked.page.locator("#outcome").inner_text()
    assert looked.complaints == []


def test_the_headline_speaks_of_the_window_that_is_tried_and_of_what_is_too_much_for_it(
    look: Callable[..., Any],
) -> None:
    plan = plan_of(TrimOldest(), window=6_000)
    looked = look(plan.report.to_html())
    share, arithmetic = looked.page.locator("#share"), looked.page.locator("#arithmetic")
    assert share.inner_text().endswith("that the budget leaves")
    assert arithmetic.inner_text().startswith(f"{plan.report.budget.input_limit:,} =")
    looked.at(3_000)
    assert share.inner_text().endswith("that this window leaves")
    assert arithmetic.inner_text() == f"A window of {looked.window:,} tokens is tried; the budget’s is 6,000."
    looked.at(200)
    too_many = int(looked.page.locator("#left td").first.inner_text())
    assert looked.page.locator("#left th").inner_text() == "too many"
    assert share.inner_text() == f"at the least, {too_many:,} more than this window leaves"
    looked.page.locator("#own").click()
    assert looked.page.locator("#left th").inner_text() == "left"


@pytest.mark.parametrize("policy", [TrimOldest(), [ClearToolResults(), TrimOldest()]])
def test_a_refused_request_opens_on_what_is_missing_and_the_next_larger_window_holds_it(
    policy: Any, look: Callable[..., Any]
) -> None:
    assembler = Assembler(Budget(70, max_output_tokens=10, model="gpt-4o"), on_overflow=policy)
    assembler.add_instruction("Be brief. " * 30).add_message({"role": "user", "content": "Where is my order? " * 40})
    with pytest.raises(ContextLengthError) as refused:
        assembler.build()
    plan = plan_least(*assembler.inside)
    looked = look(page_html(report_of(plan), plan, refusal=refused.value))
    outcome = looked.page.locator("#outcome")
    assert outcome.inner_text().startswith("This request does not fit")
    looked.page.locator("#more").click()
    assert outcome.inner_text().startswith("1 of 1 message stays")
    looked.page.locator("#own").click()
    assert outcome.inner_text().startswith("This request does not fit")
    assert (looked.window, looked.complaints) == (70, [])


def test_a_region_of_few_tokens_in_a_large_window_can_be_seen_on_a_phone(look: Callable[..., Any]) -> None:
    assembler = Assembler(Budget(1_000_000, model="gpt-4o")).set_instruction("Be brief.").add_message(("user", "Hi"))
    looked = look(assembler.build().report.to_html(), width=390)
    pieces = "[...document.querySelectorAll('#bar rect')].map((one) => one.getBoundingClientRect().width)"
    shown = [width for width in looked.page.evaluate(pieces)[1:6] if width]
    assert len(shown) == 3
    assert min(shown) >= 3


def test_a_window_with_a_token_left_is_not_called_full(look: Callable[..., Any]) -> None:
    assembler = Assembler(Budget(3_000, model="gpt-4o")).add_message(("user", "word " * 2_990))
    report = assembler.build().report
    assert report.count.upper < 3_000
    looked = look(report.to_html())
    assert looked.page.locator("#share").inner_text().startswith(">99% of the 3,000")
    assert ">99% full" in str(report)


def test_a_fifth_of_a_large_window_drops_what_what_if_drops(look: Callable[..., Any]) -> None:
    plan = plan_of(TrimOldest(), window=10_000)
    looked = look(plan.report.to_html())
    assert "dropped" not in looked.outcomes.values()
    looked.page.locator("#exactly").fill("2000")
    looked.page.keyboard.press("Enter")
    assert looked.window == 2_000
    shown = {name for name, outcome in looked.outcomes.items() if outcome == "dropped"}
    assert shown == dropped_rows(plan, 2_000)
    assert len(shown) > 3


def test_a_low_water_ladder_shows_the_windows_that_were_asked_for(look: Callable[..., Any]) -> None:
    plan = plan_of([ClearToolResults(keep=1), TrimOldest(low_water=0.5)])
    looked = look(plan.report.to_html())
    assert "shortened" in looked.outcomes.values()
    looked.page.locator("#slider").focus()
    seen = set()
    for _ in range(12):
        looked.press("ArrowLeft")
        seen.add(looked.window)
        shown = {name for name, outcome in looked.outcomes.items() if outcome == "dropped"}
        assert shown == dropped_rows(plan, looked.window)
        tokens = int(looked.page.locator("#tokens").inner_text().replace(",", ""))
        assert tokens == plan.what_if(context_window=looked.window).count.tokens
    assert len(seen) > 5


def test_the_keyboard_alone_reaches_every_window(look: Callable[..., Any]) -> None:
    plan = plan_of(TrimOldest())
    looked = look(plan.report.to_html())
    page = looked.page
    reached = []
    for _ in range(5):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
    assert reached == ["files", "slider", "less", "exactly", "more"]  # the budget's own window is where it stands
    page.locator("#slider").focus()
    looked.press("ArrowLeft")
    assert looked.window < 3_000
    looked.press("Home")
    assert page.locator("body.refused").count() == 1
    looked.press("End")
    assert page.locator("body.refused").count() == 0
    assert "messages stay" in page.locator("#slider").get_attribute("aria-valuetext")
    page.locator("#own").press("Enter")
    assert looked.window == 3_000
    edges = [step.context_window for step in plan.report.steps()]
    below = [edge for edge in edges if edge < 3_000]
    page.locator("#less").press("Enter")
    assert looked.window == below[-1]
    page.locator("#less").press("Space")
    assert looked.window == below[-2]
    page.locator("#more").press("Enter")
    assert looked.window == below[-1]
    assert looked.complaints == []


@pytest.mark.parametrize("texts", [None, Texts()])
def test_hostile_content_changes_nothing(look: Callable[..., Any], texts: Texts | None) -> None:
    assembler = Assembler(Budget(3_000, model=f"gpt-4o {ATTACK}"), dialect=openai_chat, on_overflow=TrimOldest())
    assembler.add_instruction(ATTACK).add_capability([{"name": "find", "description": ATTACK}])
    assembler.add_knowledge(ATTACK, type=ATTACK, source=ATTACK)
    report = assembler.add_messages([{"role": "user", "content": ATTACK}] * 3).plan().report
    looked = look(report.to_html(texts=texts))
    looked.page.locator("#texts").click()
    looked.page.locator("#slider").focus()
    for key in ("Home", "End", "ArrowLeft", "Tab", "Tab", "Tab", "Tab"):
        looked.page.keyboard.press(key)
    assert looked.dialogs == []
    assert looked.page.evaluate("window.owned") is None
    assert looked.page.locator("script").count() == 2
    assert looked.page.locator("img, iframe, [onload], [onerror], [onfocus]").count() == 0
    assert [url for url in looked.requests if not url.startswith("file:")] == []
    assert len(looked.requests) == 1
    assert looked.complaints == []


def test_the_policy_of_the_page_stops_what_would_get_in(look: Callable[..., Any]) -> None:
    html = plan_of(TrimOldest()).report.to_html()
    planted = html.replace(
        "<footer>", "<script>window.owned = 1</script><img src=x onerror='window.owned = 1'><footer>"
    )
    looked = look(planted)
    assert looked.page.evaluate("window.owned") is None
    assert looked.complaints
    assert all("Content Security Policy" in one for one in looked.complaints)


def test_without_scripts_the_page_is_the_report(look: Callable[..., Any]) -> None:
    report = plan_of(TrimOldest()).report
    looked = look(report.to_html(), java_script_enabled=False)
    assert looked.page.locator("body").inner_text().strip().endswith(report.text(110).strip())
    assert not looked.page.locator("button:visible, input:visible").count()


def test_moving_the_window_and_back_changes_nothing(look: Callable[..., Any]) -> None:
    for policy in (TrimOldest(), TrimOldest(note="cut"), [ClearToolResults(keep=1), TrimOldest(low_water=0.5)]):
        looked = look(plan_of(policy).report.to_html())
        before, rows = looked.page.locator("main").inner_text(), looked.outcomes
        looked.page.locator("#less").click()
        assert looked.page.locator("main").inner_text() != before
        looked.page.locator("#own").click()
        assert looked.outcomes == rows


def test_dropped_turns_are_one_row_until_it_is_opened(look: Callable[..., Any]) -> None:
    plan = plan_of(TrimOldest())
    looked = look(plan.report.to_html())
    dropped = dropped_rows(plan, 3_000)
    fold = looked.page.locator("tr.fold.dropped")
    assert fold.count() == 1
    assert f"in {len(dropped)} rows" in fold.inner_text()
    assert looked.page.locator("tr[data-item].dropped:visible").count() == 0
    fold.locator("button").click()
    assert looked.page.locator("tr[data-item].dropped:visible").count() == len(dropped)
    fold.locator("button").click()
    assert looked.page.locator("tr[data-item].dropped:visible").count() == 0


def test_a_click_anywhere_on_a_row_opens_its_text_and_one_button_opens_all(look: Callable[..., Any]) -> None:
    looked = look(plan_of(TrimOldest()).report.to_html(texts=Texts()))
    looked.page.locator("tr[data-item]").first.locator("td.outcome").click()
    assert looked.page.locator("tr.detail pre").count() == 1
    assert looked.page.locator('.toggle[aria-expanded="true"]').count() == 1
    looked.page.locator("#texts").click()
    assert looked.page.locator("tr.detail").count() == looked.page.locator("tr.opens").count()
    looked.page.locator("#texts").click()
    assert looked.page.locator("tr.detail").count() == 0


def test_the_largest_rows_come_first_where_they_are_asked_for_and_each_names_its_largest_message(
    look: Callable[..., Any],
) -> None:
    """The large result was hard to find among a thousand turns, since rows had only their own order."""
    plan = plan_of(TrimOldest())
    looked = look(plan.report.to_html())
    page, button = looked.page, looked.page.locator("#largest")
    before = page.locator("#items bdi").all_inner_texts()
    button.click()
    assert page.locator("#items .fold, #items .group").count() == 0
    sizes = page.locator("#items tr[data-item] td.number").evaluate_all(
        "cells => cells.map((cell) => Number((cell.querySelector('del') ?? cell).textContent.replace(/,/g, '')))"
    )
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) > 20
    turn = page.locator("tr[data-item]", has_text="messages 32-35").first
    turn.locator("button").click()
    history = session()
    assert [at for at in range(32, 36) if history[at]["role"] == "tool"] == [34]
    assert "message 34, tool: " in page.locator("tr.detail").inner_text()
    turn.locator("button").click()
    button.click()
    assert page.locator("#items bdi").all_inner_texts() == before
    assert looked.complaints == []


def test_an_emoji_and_a_word_that_need_joiners_keep_them_in_a_name(look: Callable[..., Any]) -> None:
    """An emoji of a family became three people and two replacement characters."""
    names = ("\U0001f468\u200d\U0001f469\u200d\U0001f467.md", "می\u200cخواهم.md", "क्\u200dष.md", "a\u200db.md")
    assembler = Assembler(Budget(3_000, model="gpt-4o"))
    for name in names:
        assembler.add_knowledge("d", type="policy", source=name)
    report = assembler.add_message(("user", "q")).build().report
    looked = look(report.to_html())
    shown = looked.page.locator("#items bdi").all_inner_texts()
    assert [name for name in names if name in shown] == [*names[:3]]
    assert "a\ufffdb.md" in shown
    assert [name for name in names if name in str(report)] == [*names[:3]]


def long_page(turns: int) -> str:
    history = [("user", f"words of turn {at} " * 3) for at in range(turns)]
    budget = Budget(40 * turns, max_output_tokens=1_000, counter=len, model=None)
    return Assembler(budget, on_overflow=TrimOldest()).add_messages(history).plan().report.to_html()


def busy(page: Any) -> float:
    """Seconds of processor time until the page was ready, whatever the load of the machine."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.reload()
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return float(metrics["TaskDuration"])


@pytest.mark.parametrize("turns", [5_000, 50_000])
def test_a_long_history_is_shown_at_once_and_lays_out_few_rows_at_any_scroll_position(
    look: Callable[..., Any], turns: int
) -> None:
    looked = look(long_page(turns))
    page = looked.page
    assert busy(page) < 1
    page.locator(".fold button").click()
    for share in (0, 0.1, 0.5, 0.9, 1):
        page.evaluate(f"scrollTo(0, {share} * document.documentElement.scrollHeight)")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.locator("#items tr").count() <= 60
        names = page.locator("#items bdi").all_inner_texts()
        assert len(names) > 5
    assert f"message {turns - 1}" in names
    assert looked.complaints == []


def test_a_step_of_a_long_scroll_draws_only_the_rows_that_come_into_view(look: Callable[..., Any]) -> None:
    looked = look(long_page(20_000))
    looked.page.locator(".fold button").click()
    drawn = looked.page.evaluate(
        """async () => {
          const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          const drawn = [];
          let added = 0;
          new MutationObserver((all) => all.forEach((one) => { added += one.addedNodes.length; }))
            .observe(document.querySelector("#items tbody"), { childList: true });
          await frame();
          for (let step = 0; step < 20; step++) {
            added = 0;
            scrollBy(0, 400);
            await frame();
            drawn.push(added);
          }
          return drawn;
        }"""
    )
    assert max(drawn) <= 40
    assert sum(drawn) > 100


def test_arrow_keys_walk_the_rows_and_one_tab_leaves_them(look: Callable[..., Any]) -> None:
    looked = look(long_page(5_000))
    page = looked.page
    page.locator("#search").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.classList.contains('toggle')")
    page.keyboard.press("End")
    named = "document.activeElement.closest('tr').innerText"
    last = page.evaluate(named)
    page.keyboard.press("ArrowUp")
    assert page.evaluate(named) != last
    assert "message 4999" in page.evaluate(named)
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.ariaExpanded") == "true"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    assert "message" in page.evaluate(named)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate("document.activeElement.id") == "items"  # its row is no more in the page
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.classList.contains('toggle')")
    assert page.locator('#items button[tabindex="0"]').count() == 1
    assert looked.complaints == []


def test_the_bar_the_slider_and_the_names_share_one_axis(look: Callable[..., Any]) -> None:
    looked = look(plan_of(TrimOldest()).report.to_html())
    bar, slider = (looked.page.locator(name).bounding_box() for name in (".bar", "#slider"))
    thumb = 24
    assert (bar["x"], bar["width"]) == pytest.approx((slider["x"] + thumb / 2, slider["width"] - thumb), abs=1)
    name, piece = (looked.page.locator(one).bounding_box() for one in (".name-conversation text", ".bar .conversation"))
    assert piece["x"] <= name["x"]
    assert name["x"] + name["width"] <= piece["x"] + piece["width"]


def test_every_control_is_named_by_what_can_be_read_on_it(look: Callable[..., Any]) -> None:
    """WCAG 2.2, 2.5.3 and 4.1.2, at the width of a phone, where most labels are hidden."""
    for width in (1280, 390):
        looked = look(plan_of(TrimOldest()).report.to_html(texts=Texts()), width=width)
        for control in looked.page.locator("button:visible, input:visible, summary:visible").all():
            read = re.sub(r"[^\w ’,./-]", "", control.inner_text()).strip().lower()
            label = control.evaluate("node => [...node.labels ?? []].map((one) => one.innerText).join(' ')")
            named = (control.get_attribute("aria-label") or control.inner_text() or label).lower()
            assert named.strip()
            assert read in named


def test_the_page_stays_inside_its_frame_in_a_notebook(look: Callable[..., Any]) -> None:
    plan = plan_of(TrimOldest())
    cell = f"<!DOCTYPE html><title>n</title><p id=theirs>theirs</p>{plan.report._repr_html_()}"
    looked = look(cell)
    frame = looked.page.frame_locator("iframe")
    frame.locator("#less").click()
    assert "messages stay" in frame.locator("#outcome").inner_text()
    font = looked.page.evaluate("getComputedStyle(document.getElementById('theirs')).fontFamily")
    assert "system-ui" not in font
    assert looked.page.frames[1].evaluate("try { parent.document.title } catch { 'apart' }") == "apart"


@pytest.mark.parametrize(("width", "scheme"), SHOTS)
def test_the_page_fits_its_screen_and_is_legible_in_its_pictures(
    look: Callable[..., Any], width: int, scheme: str
) -> None:
    """Saves screenshots, and fails for a page that is wider than its screen or too faint to read."""
    ARTEFACTS.mkdir(exist_ok=True)
    marked = plan_of(TrimOldest(), dialect=anthropic, model="claude-sonnet-4-5")
    for name, html in {
        "trimmed": plan_of(TrimOldest()).report.to_html(),
        "ladder": plan_of([ClearToolResults(keep=1), TrimOldest(low_water=0.5)]).report.to_html(),
        "texts": marked.report.to_html(texts=Texts(longest=300)),
    }.items():
        looked = look(html, width=width, scheme=scheme)
        if name == "texts":
            looked.page.locator(".opens").first.click()
            looked.page.evaluate("scrollTo(0, 0)")
        assert looked.page.evaluate("document.documentElement.scrollWidth") <= width
        assert faintest(looked.page) >= 4.5  # WCAG 2.2, 1.4.3, level AA
        looked.page.screenshot(path=ARTEFACTS / f"{name}-{width}-{scheme}.png", full_page=True)
        looked.page.mouse.wheel(0, 900)
        looked.page.evaluate(SCROLLED)
        looked.page.screenshot(path=ARTEFACTS / f"{name}-{width}-{scheme}-scrolled.png")


def faintest(page: Any) -> float:
    """The least contrast of any visible text against what is painted behind it, as WCAG 2.2 defines it."""
    found: float = page.evaluate(
        """() => {
          const channels = (color) => color.match(/[\\d.]+/g).map(Number);
          const bright = ([r, g, b]) => {
            const line = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
            return 0.2126 * line(r) + 0.7152 * line(g) + 0.0722 * line(b);
          };
          const behind = (node) => {
            for (; node; node = node.parentElement) {
              const paint = channels(getComputedStyle(node).backgroundColor);
              if (paint.length === 3 || paint[3] > 0) return paint;
            }
            return [255, 255, 255];
          };
          let least = 21;
          for (const node of document.querySelectorAll("main *")) {
            const own = [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
            if (!own || !node.checkVisibility() || node.disabled || node.closest("button:disabled")) continue;
            const [a, b] = [bright(channels(getComputedStyle(node).color)), bright(behind(node))];
            least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
          }
          return least;
        }"""
    )
    return found
