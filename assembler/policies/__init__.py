"""What gives way when it does not fit: one file a policy. Adding one is a file beside these and a line here."""

from assembler.ledger import Cut
from assembler.passage import Change, Passage
from assembler.pins import first_user
from assembler.policies.clear_reasoning import ClearReasoning
from assembler.policies.clear_tool_results import ClearToolResults
from assembler.policies.policy import OverflowPolicy, Policy, RewritingPolicy
from assembler.policies.refuse import Refuse
from assembler.policies.summarize import Summarize
from assembler.policies.trim_oldest import TrimOldest
from assembler.policies.trim_steps import TrimSteps
from assembler.policies.truncate import Truncate

__all__ = [
    "Change",
    "ClearReasoning",
    "ClearToolResults",
    "Cut",
    "OverflowPolicy",
    "Passage",
    "Policy",
    "Refuse",
    "RewritingPolicy",
    "Summarize",
    "TrimOldest",
    "TrimSteps",
    "Truncate",
    "first_user",
]
