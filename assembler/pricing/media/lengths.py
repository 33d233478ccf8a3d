"""Prices audio as Voxtral bills it and video as Nova does, by their seconds, or else by their bytes.

Sources, read 2026-11, none of them recorded here. Audio: mistral-common 1.13.1, tokens/tokenizers/audio (12.5 tokens a
second, padded to whole chunks), with the chunks of 30 seconds of Voxtral's published tokenizers; 40 minutes at most
(Mistral, "Voxtral"). Video: AWS, Amazon Nova user guide, "Video understanding" (a frame a second, 960 frames at most,
3,200 for Nova Premier; 2,880 tokens for ten frames).
Unknown seconds are guessed from the bytes, with the lowest bit rate for the bound. For a medium by URL, the bound is
the longest that is accepted.
"""

from __future__ import annotations

from math import ceil

import attrs

from assembler.pricing.media.facts import MediaFacts
from budgets import Count, Grade, Tokens

CHUNK_SECONDS = 30
CHUNK: Tokens = 375
FRAME: Tokens = 288
FRAMES, MOST_FRAMES = 960, 3_200
SLACK = 1.25
"""The factor of the bound, because the rules are not recorded."""
DEAREST_AUDIO = 32 * CHUNK_SECONDS / CHUNK
"""The highest published price of a second, 32 tokens (Google, "Understand and count tokens"), over Voxtral's."""


@attrs.frozen
class Coding:
    """Bytes of a second, typically and at least; seconds of a medium that cannot be read, typically and at most."""

    typical: int
    leanest: int
    unseen: float
    longest: float

    def seconds(self, facts: MediaFacts) -> tuple[float, float]:
        """The length of a medium in seconds, typically and at most."""
        if facts.seconds is not None:
            return facts.seconds, facts.seconds
        if facts.bytes:
            return min(facts.bytes / self.typical, self.longest), min(facts.bytes / self.leanest, self.longest)
        return self.unseen, self.longest


AUDIO = Coding(typical=16_000, leanest=1_000, unseen=60, longest=2_400)
"""128 kbit/s as in MP3, at least 8 kbit/s as in Opus for speech."""
VIDEO = Coding(typical=250_000, leanest=12_500, unseen=FRAMES, longest=MOST_FRAMES)
"""2 Mbit/s, at least 100 kbit/s."""


def price_audio(facts: MediaFacts, slack: float = SLACK) -> Count:
    """The price of audio for Voxtral, estimated, with a bound of `slack` times as much."""
    typical, most = (ceil(seconds / CHUNK_SECONDS) * CHUNK + 2 for seconds in AUDIO.seconds(facts))
    return Count(typical, Grade.ESTIMATED, upper=ceil(most * slack))


def price_video(facts: MediaFacts) -> Count:
    """The price of a video for Nova, estimated."""
    typical, most = (ceil(seconds) for seconds in VIDEO.seconds(facts))
    upper = ceil(min(most, MOST_FRAMES) * FRAME * SLACK)
    return Count(min(typical, FRAMES) * FRAME, Grade.ESTIMATED, upper=upper)
