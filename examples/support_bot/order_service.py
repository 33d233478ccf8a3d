"""Orders: what was bought, when it arrived, and what may still be done with it.

The support desk reads this module; the rules in it are the ones of the returns policy.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum

RETURN_DAYS = 60
SWAP_DAYS = 30
BATTERY_ANY_STATE_DAYS = 14
LATE_AFTER_WORKING_DAYS = 3
LABEL_FEE = Decimal("4.90")
USED_SHARE = Decimal("0.70")


class Reason(Enum):
    FAULTY = "faulty"
    WRONG_ITEM = "wrong_item"
    DAMAGED = "damaged"
    CHANGED_MIND = "changed_mind"


@dataclass(frozen=True)
class Line:
    sku: str
    price: Decimal
    delivered_on: date | None
    battery: bool = False
    consumable: bool = False


@dataclass(frozen=True)
class Order:
    number: str
    lines: tuple[Line, ...]
    shipping_fee: Decimal
    promised_on: date


def working_days_between(start: date, end: date) -> int:
    """Working days after `start`, up to and including `end`; 0 when `end` is not later."""
    days = (end - start).days
    return sum((start + timedelta(n)).weekday() < 5 for n in range(1, days + 1))


def is_late(order: Order) -> bool:
    """Whether any parcel came three or more working days after the promise."""
    arrivals = [line.delivered_on for line in order.lines if line.delivered_on is not None]
    return any(working_days_between(order.promised_on, day) >= LATE_AFTER_WORKING_DAYS for day in arrivals)


def may_return(line: Line, today: date, reason: Reason) -> bool:
    """Whether a return may be registered today. An article that never arrived cannot be returned."""
    if line.delivered_on is None:
        return False
    age = (today - line.delivered_on).days
    if reason is Reason.CHANGED_MIND and line.consumable:
        return False
    if reason is Reason.CHANGED_MIND and line.battery:
        return age <= BATTERY_ANY_STATE_DAYS
    return age <= RETURN_DAYS


def may_swap(line: Line, today: date) -> bool:
    """Whether a faulty article is replaced by a new one at once, instead of being repaired."""
    return line.delivered_on is not None and (today - line.delivered_on).days <= SWAP_DAYS


def refund(order: Order, returned: list[tuple[Line, Reason]], *, used: bool = False) -> Decimal:
    """Euros that go back: the prices, less one label fee if nothing but a change of mind is in the parcel.

    The shipping fee is added when the whole order goes back or when it was late. A used article counts 70 %.
    """
    share = USED_SHARE if used else Decimal(1)
    total = sum((line.price * share for line, _ in returned), Decimal(0))
    if returned and all(reason is Reason.CHANGED_MIND for _, reason in returned):
        total -= LABEL_FEE
    if is_late(order) or len(returned) == len(order.lines):
        total += order.shipping_fee
    return total.quantize(Decimal("0.01"))
