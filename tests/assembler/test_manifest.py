"""A manifest states the decisions and quotes no text. A replay gives the same bytes or names what changed."""

from __future__ import annotations

import copy
import functools
import hashlib
import json
import math
import operator
import pickle
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import (
    Assembler,
    ChatRegions,
    ClearToolResults,
    ContextLengthError,
    ManifestError,
    QuestionChunks,
    ReplayError,
    Summarize,
    TrimOldest,
    Truncate,
)
from assembler.dialects import DIALECTS, anthropic, openai_chat, plain
from assembler.prompts import Prompt
from assembler.report.manifest.digests import describe_setting, digest, spell_json
from assembler.report.manifest.writing import installed_version
from budgets import Budget, Limit, transformers_counter
from tests.assembler.drawn import histories
from tests.budgets.toy_tokenizers import byte_level

CANARY = "xyzzy"
TOOL = {"name": "find", "description": CANARY, "parameters": {"type": "object", "properties": {CANARY: {}}}}


def history(turns: int = 6) -> list[dict[str, Any]]:
    return [
        {"role": role, "content": f"{CANARY} {turn} " + "word " * 20}
        for turn in range(turns)
        for role in ("user", "assistant")
    ] + [{"role": "user", "content": "and now?"}]


def gathered(window: int = 300, policy: Any = None, **budget: Any) -> Assembler:
    made = Assembler(
        Budget(window, max_output_tokens=50, model="gpt-4o", **budget),
        on_overflow=policy or TrimOldest(note=f"{CANARY} was here"),
        strategy=ChatRegions(reminder=CANARY),
    )
    made.add_instruction(f"You are {CANARY}.").add_capability([TOOL])
    made.add_knowledge(f"{CANARY} is a word.", type="rag", source=f"https://{CANARY}", metadata={"page": 1})
    return made.add_messages(history())


def stored(assembler: Assembler) -> dict[str, Any]:
    """The manifest after a round trip through JSON."""
    found: dict[str, Any] = json.loads(json.dumps(assembler.plan().manifest(), allow_nan=False))
    return found


def sent(assembler: Assembler) -> str:
    return json.dumps(assembler.build().request())


def test_a_replay_gives_the_bytes_that_were_sent() -> None:
    manifest, before = stored(gathered()), sent(gathered())
    assert json.dumps(gathered().replay(manifest).request()) == before
    assert gathered().build().manifest() == manifest


@given(histories(), st.integers(20, 400))
def test_every_build_replays_and_writes_the_same_manifest_in_two_runs(messages: list[Any], window: int) -> None:
    first = Assembler(Budget(window, counter=len), dialect=plain, on_overflow=TrimOldest()).add_messages(messages)
    again = pickle.loads(pickle.dumps(first))
    try:
        manifest = stored(first)
    except ContextLengthError:
        return
    assert stored(again) == manifest
    assert json.dumps(again.replay(manifest).request()) == sent(first)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_replays(dialect: str) -> None:
    def made() -> Assembler:
        budget = Budget(400, max_output_tokens=10)
        return Assembler(budget, dialect=DIALECTS[dialect], on_overflow=TrimOldest()).add_messages(history())

    assert json.dumps(made().replay(stored(made())).request(), default=repr) == json.dumps(
        made().build().request(), default=repr
    )


def test_the_manifest_and_its_error_quote_no_text() -> None:
    manifest = stored(gathered())
    assert CANARY not in json.dumps(manifest)
    with pytest.raises(ReplayError) as caught:
        gathered().add_message({"role": "user", "content": f"{CANARY} again"}).replay(manifest)
    assert CANARY not in f"{caught.value} {caught.value!r} {caught.value.differences}"


def test_the_manifest_names_the_template_of_an_instruction_and_hides_its_text() -> None:
    instruction = Prompt(f"You are {CANARY}.", name="support")
    item = Assembler().add_instruction(instruction).plan().manifest()["items"]["instruction"]
    assert CANARY not in str(item)
    assert "support" in item["prompt"]


def test_the_manifest_states_the_decision_that_was_made() -> None:
    plan = gathered().plan()
    decision = plan.manifest()["decision"]
    assert [int(one["id"].removeprefix("message-")) for one in decision["messages"]] == plan.kept
    assert sum(one["tokens"] for one in decision["messages"]) < decision["regions"]["conversation"] + 1
    assert decision["tokens"] == plan.count.tokens == sum(decision["regions"].values())
    assert decision["knowledge"][0]["id"] == "knowledge-0"
    assert decision["summary"] is not None


CHANGES: dict[str, tuple[Callable[[], Assembler], str]] = {
    "instruction": (lambda: gathered().add_instruction("Other."), "instruction"),
    "no instruction": (lambda: gathered().add_instruction(""), "instruction"),
    "tool": (lambda: gathered().add_capability([TOOL | {"description": "Other."}]), "tools[0]"),
    "one tool more": (lambda: gathered().add_capability([TOOL, TOOL | {"name": "other"}]), "number of tools"),
    "document": (lambda: gathered().add_knowledge("More.", type="rag"), "number of knowledge"),
    "a message more": (lambda: gathered().add_message(("user", "wait")), "number of messages"),
    "a message": (lambda: gathered().add_messages([*history()[:-1], ("user", "or now?")]), "messages[12]"),
    "window": (lambda: gathered(window=200), "budget.context_window"),
    "reserve": (lambda: gathered(reasoning_tokens=100), "budget.reasoning_tokens"),
    "limits": (lambda: gathered(limits={"conversation": Limit(cap=0.2)}), "budget.limits.conversation"),
    "counter": (lambda: gathered(counter=len), "counter"),
    "policy": (lambda: gathered(policy=TrimOldest(keep_turns=1)), "on_overflow[0].note"),
    "another policy": (lambda: gathered(policy=[ClearToolResults(), TrimOldest()]), "number of on_overflow"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_that_alters_the_bytes_is_named(case: str) -> None:
    made, place = CHANGES[case]
    with pytest.raises(ReplayError) as caught:
        made().replay(stored(gathered()))
    assert place in [difference.place for difference in caught.value.differences]
    assert pickle.loads(pickle.dumps(caught.value)).differences == caught.value.differences
    assert str(caught.value).endswith("Restore what changed, or build() a new request.")


def test_an_input_that_no_longer_fits_is_named_and_the_overflow_chained() -> None:
    with pytest.raises(ReplayError) as caught:
        gathered().add_message(("user", "long " * 500)).replay(stored(gathered()))
    assert isinstance(caught.value.__cause__, ContextLengthError)
    assert caught.value.differences[0].place == "number of messages"


def test_an_overflow_that_no_input_explains_passes_through() -> None:
    manifest = stored(gathered(counter=Fickle(10), window=800))
    with pytest.raises(ContextLengthError):
        gathered(counter=Fickle(10_000), window=800).replay(manifest)


class Fickle:
    """A counter whose answers change without a change in the manifest."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    def __call__(self, text: str) -> int:
        return self.tokens


def test_a_change_that_alters_no_byte_is_not_an_error() -> None:
    manifest = stored(gathered())
    messages = history()
    messages[0]["content"] = "dropped anyway"
    assert gathered().add_messages(messages).replay(manifest).request() == gathered().build().request()


@pytest.mark.parametrize(("part", "value", "place"), [
    ("context-assembler", "0.0.1", "context-assembler"),
    ("vocabulary", "0" * 64, "vocabulary"),
])  # fmt: skip
def test_a_version_that_changed_is_named_where_the_bytes_differ(part: str, value: str, place: str) -> None:
    manifest = stored(gathered())
    manifest["versions"][part] = value
    assert gathered().replay(manifest)
    manifest["request"]["sha256"] = "0" * 64
    with pytest.raises(ReplayError) as caught:
        gathered().replay(manifest)
    assert [(one.place, one.then) for one in caught.value.differences] == [(place, value)]


def test_the_error_names_a_summary_that_was_rewritten() -> None:
    def made(text: str) -> Assembler:
        return gathered(policy=[Summarize(lambda *_: text, keep_turns=1)])

    with pytest.raises(ReplayError) as caught:
        made("two").replay(stored(made("one")))
    assert "decision.summary" in [one.place for one in caught.value.differences]


def test_unexplained_differences_in_the_bytes_are_reported_as_such() -> None:
    manifest = stored(gathered())
    manifest["request"]["sha256"] = "0" * 64
    with pytest.raises(ReplayError, match="Check the results of your own functions") as caught:
        gathered().replay(manifest)
    assert caught.value.differences == ()


def test_a_manifest_states_limits_and_rewrites() -> None:
    limited = gathered(limits={"knowledge": Limit(cap=0.01)}).plan().manifest()
    assert len(limited["items"]["knowledge"]) == 1
    assert limited["decision"]["knowledge"] == []
    long = [("user", "word " * 300), ("assistant", "yes"), ("user", "so?")]
    made = Assembler(Budget(200, model="gpt-4o"), on_overflow=Truncate(50)).add_messages(long)
    outcomes = [one["outcome"] for one in made.plan().manifest()["decision"]["messages"]]
    assert outcomes == ["shortened", "kept", "kept"]


def test_an_unreadable_message_has_no_hash() -> None:
    broken = [("user", "hi"), {"role": "user", "content": 5}, *history(150)]
    made = Assembler(Budget(300, counter=len), dialect=plain, on_overflow=TrimOldest()).add_messages(broken)
    manifest = stored(made)
    assert manifest["items"]["messages"][1] == {"id": "message-1", "role": None, "sha256": None}
    assert made.replay(manifest)


def test_a_manifest_without_budget_and_with_a_choosing_strategy_replays() -> None:
    made = Assembler(dialect=anthropic, strategy=QuestionChunks())
    made.add_knowledge("A fact.", type="rag").add_messages([("user", "Why?")])
    assert made.replay(stored(made))


NO_MANIFEST: dict[str, Any] = {
    "nothing": None,
    "a list": [],
    "another format": {"manifest": 99},
    "an empty one": {"manifest": 1},
    "no hash": {"manifest": 1, "items": {}, "terms": {}, "versions": {}, "decision": {}, "request": {}},
}


@pytest.mark.parametrize("case", NO_MANIFEST)
def test_a_value_that_is_not_a_manifest_is_refused(case: str) -> None:
    with pytest.raises(ManifestError, match="pass"):
        gathered().replay(NO_MANIFEST[case])


def places(value: Any, path: str = "") -> Iterator[tuple[str, list[Any], Any]]:
    """Every field of plain data: its path, the keys that lead there, and what it holds."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        place = f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}" if path else key
        yield place, [key], item
        yield from ((below, [key, *keys], found) for below, keys, found in places(item, place))


def odd_for(value: Any, hashed: bool) -> list[Any]:
    """A value of a wrong type for this place, recognisable in an error."""
    if value is None:
        return [object(), math.nan]
    text = ["abc"] if hashed else []
    others = [each for each in ([CANARY], {CANARY: 1}, True) if not isinstance(each, type(value))]
    return [object(), *text, *others, CANARY if isinstance(value, int) else 5, math.nan]


WHOLE = ("terms.on_overflow", "terms.strategy", "terms.cache_marks", "terms.calibration", "terms.budget.limits.")
"""Described by the settings' own types: what is in them is compared, and has no shape that could be broken."""


def summed_up() -> Assembler:
    ladder = [ClearToolResults(), Summarize(lambda *_: "in short", keep_turns=1)]
    return gathered(policy=ladder, limits={"conversation": Limit(cap=0.5)})


@pytest.mark.parametrize("made", [gathered, summed_up, lambda: Assembler().add_messages(history(1))])
def test_a_field_that_is_not_of_its_kind_is_named_by_its_path_and_not_shown(made: Callable[[], Assembler]) -> None:
    whole, found = made().plan().manifest(), 0
    for place, keys, value in places(whole):
        if place.startswith(WHOLE):
            continue
        for odd in odd_for(value, hashed=keys[-1] == "sha256"):
            broken = copy.deepcopy(whole)
            *outer, last = keys
            functools.reduce(operator.getitem, outer, broken)[last] = odd
            with pytest.raises(ManifestError) as caught:
                made().replay(broken)
            assert caught.value.place is not None
            assert caught.value.place == place or (isinstance(odd, dict) and caught.value.place.startswith(f"{place}."))
            assert place in str(caught.value)
            assert CANARY not in str(caught.value)
            assert pickle.loads(pickle.dumps(caught.value)).place == caught.value.place
            found += 1
    assert found > 200


def test_a_field_that_is_missing_is_named_by_its_path() -> None:
    whole = gathered().plan().manifest()
    for place, keys, _ in places(whole):
        if isinstance(keys[-1], int) or (place.startswith(WHOLE) and place not in WHOLE):
            continue
        broken = copy.deepcopy(whole)
        *outer, last = keys
        del functools.reduce(operator.getitem, outer, broken)[last]
        with pytest.raises(ManifestError) as caught:
            gathered().replay(broken)
        assert caught.value.place == place


def test_a_field_of_a_later_version_is_ignored() -> None:
    manifest = stored(gathered())
    for place in (manifest, manifest["items"], manifest["items"]["messages"][0], manifest["decision"]):
        place["new"] = {"x": [1]}
    assert gathered().replay(manifest).request() == gathered().build().request()


@pytest.mark.parametrize("setting", ["strategy", "calibration", "cache_marks"])
def test_a_setting_of_any_plain_kind_is_a_difference(setting: str) -> None:
    manifest = stored(gathered())
    for odd in (5, [1], "x", {"a": [object()]}):
        manifest["terms"][setting] = odd
        with pytest.raises(ReplayError) as caught:
            gathered().add_message(("user", "more")).replay(manifest)
        assert any(each.place.startswith(setting) for each in caught.value.differences)


def test_changing_a_returned_manifest_changes_nothing_else() -> None:
    plan = gathered().plan()
    taken = plan.manifest()
    kept = copy.deepcopy(taken)
    taken["items"]["messages"].clear()
    assert plan.manifest() == kept


def test_the_error_names_the_counter_and_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = transformers_counter(byte_level())
    versions = Assembler(Budget(100, counter=tokenizer)).plan().manifest()["versions"]
    assert versions["engine"] == {"name": "tokenizers", "version": metadata.version("tokenizers")}
    assert versions["vocabulary"] == tokenizer.digest
    installed_version.cache_clear()
    monkeypatch.setattr(sys, "path", ["", "no folder"])
    assert Assembler().plan().manifest()["versions"]["context-assembler"] is None
    installed_version.cache_clear()


# ── how values are told


def test_the_manifest_states_settings_without_their_texts() -> None:
    described = describe_setting(TrimOldest(note=CANARY, pins={2, 1}))
    assert described == {"type": "TrimOldest", "low_water": None, "keep_turns": 1, "pins": [1, 2],
                    "note": {"sha256": digest(CANARY)}}  # fmt: skip
    assert describe_setting(len) == "builtins.len"
    assert describe_setting({"a": (1, b"x")}) == {"a": [1, {"sha256": digest(b"x")}]}
    assert describe_setting(list(range(40))) == {"items": 40, "sha256": digest(list(range(40)))}
    assert describe_setting(openai_chat)["type"] == type(openai_chat).__qualname__


def test_a_value_nested_without_end_is_named_by_its_type() -> None:
    circle: list[Any] = []
    circle.append(circle)
    assert "list" in json.dumps(describe_setting(circle))
    assert spell_json(circle) == b"list"
    assert spell_json({(1, 2): 3}) == b"dict"


def test_the_manifest_states_values_that_json_cannot_carry() -> None:
    class Array:
        def tolist(self) -> list[int]:
            return [1, 2]

    assert spell_json([Array(), object(), Budget]) == b'[[1,2],"object","type"]'
    assert (
        spell_json({"a": b"x"}) == json.dumps({"a": {"bytes": digest_of_bytes(b"x")}}, separators=(",", ":")).encode()
    )


def digest_of_bytes(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
