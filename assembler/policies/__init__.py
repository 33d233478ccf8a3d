"""What gives way when it does not fit: one file a policy. Adding one is a file beside these and a line here."""

from assembler.policies.policy import Cut, OverflowPolicy
from assembler.policies.refuse import Refuse
from assembler.policies.trim_oldest import TrimOldest

__all__ = ["Cut", "OverflowPolicy", "Refuse", "TrimOldest"]
