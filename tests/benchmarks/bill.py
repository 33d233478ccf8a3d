"""The cost of a session in money under three policies, by model: the input, cached and fresh.

    python -m tests.benchmarks.bill [--kind NAME]

The session and the cache are those of `cache_economy`; a character stands for a token. Prices: genai-prices, those that
it lists last. Where an API caches only what is marked, what is read anew is written at the premium as well.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from decimal import Decimal

import genai_prices

from assembler import TrimOldest
from tests.benchmarks.cache_economy import Ledger, beginning, run_session
from tests.benchmarks.kinds import KINDS, arrivals

MODELS = (("openai", "gpt-4o"), ("openai", "gpt-5"), ("anthropic", "claude-sonnet-4-5"), ("google", "gemini-2.5-flash"))
MARKED = ("anthropic",)
WHEN = datetime(9999, 12, 31, 12, tzinfo=UTC)


def dollars(ledger: Ledger, provider: str, model: str) -> Decimal:
    """The price of all prompts of a session, as so many equal ones: prices have tiers by the size of a request."""
    requests = len(ledger.fills)
    usage = genai_prices.Usage(
        input_tokens=ledger.prompt // requests,
        cache_read_tokens=(ledger.prompt - ledger.outside) // requests,
        cache_write_tokens=ledger.outside // requests if provider in MARKED else 0,
    )
    found = genai_prices.calc_price(usage, model, provider_id=provider, genai_request_timestamp=WHEN)
    return requests * found.total_price


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=KINDS, default="tool-heavy")
    kind = parser.parse_args().kind
    calls = arrivals(kind)
    policies = {
        "TrimOldest()": TrimOldest(),
        "TrimOldest(low_water=0.5)": TrimOldest(low_water=0.5),
        "TrimOldest(low_water=0.6, pins=beginning)": TrimOldest(low_water=0.6, pins=beginning(calls)),
    }
    print(f"{kind}: {len(calls)} calls, genai-prices {genai_prices.__version__}, US dollars of input")
    print(f"{'':<44} {'prompt':>11} {'outside':>11} " + " ".join(f"{model:>18}" for _, model in MODELS))
    for name, policy in policies.items():
        ledger = run_session(calls, policy)
        paid = " ".join(f"{dollars(ledger, provider, model):18.2f}" for provider, model in MODELS)
        print(f"{name:<44} {ledger.prompt:11,} {ledger.outside:11,} {paid}")


if __name__ == "__main__":
    main()
