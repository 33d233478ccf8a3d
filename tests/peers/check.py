"""Holds the installed trimmers of other projects to the laws, and prints which they break, and the smallest example.

Run by `make check-fitters`; the figures are in docs/trimmers-compared.md.
"""

from __future__ import annotations

import logging
import sys
import warnings
from importlib.metadata import version

from assembler.testing import ESSENTIAL, FitterError, Invariant, check_fitter
from tests.peers.trimmers import PEERS, Peer

EXAMPLES = 200
MANAGES_IN_PLACE = ("strands-agents",)
"""Written to change the list that they are given: the law against it is not asked."""
WITHOUT_A_HEAD = ("strands-agents",)
"""Keep the system text elsewhere: the law of the head is not asked."""


def laws(peer: Peer) -> list[Invariant]:
    unasked = {"input-untouched"} if peer.package in MANAGES_IN_PLACE else set()
    unasked |= {"instruction-stays"} if peer.package in WITHOUT_A_HEAD else set()
    return [law for law in ESSENTIAL if law.name not in unasked]


def report(peer: Peer) -> str:
    title = f"{peer.package} {version(peer.package)}: {peer.setting}; window in {peer.unit}"
    try:
        verdict = check_fitter(
            peer.fit,
            count=peer.count,
            spell=peer.spell,
            invariants=laws(peer),
            refuses=(ValueError,),
            max_examples=EXAMPLES,
        )
    except FitterError as error:
        return f"{title}\n{error}\n"
    return f"{title}\n{verdict}\n"


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    for project in PEERS:
        try:
            peers = project()
        except ImportError as absent:
            print(f"{project.__name__}: {absent}\n", file=sys.stderr)
            continue
        for peer in peers:
            print(report(peer), flush=True)


if __name__ == "__main__":
    main()
