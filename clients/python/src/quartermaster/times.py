"""Lengths of time, as people and the service write them."""

from __future__ import annotations

import re
from datetime import timedelta

_PARTS = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", re.ASCII)


def duration(value: timedelta | str) -> str:
    """A duration in ISO 8601, from a timedelta, a text such as `1h30m`, or one in ISO 8601 already."""
    if isinstance(value, timedelta):
        if value < timedelta(0):
            raise ValueError(f"a length of time is not negative: {value}")
        return f"PT{value // timedelta(seconds=1)}" + (f".{value.microseconds:06}" if value.microseconds else "") + "S"
    if value[:1] in ("P", "p"):
        return value
    parts = _PARTS.fullmatch(value.strip())
    if not value.strip() or parts is None:
        raise ValueError(f'"{value}" is no length of time, such as 90s, 1h30m or PT2H')
    days, hours, minutes, secs = (int(part or 0) for part in parts.groups())
    return duration(timedelta(days=days, hours=hours, minutes=minutes, seconds=secs))


def seconds(value: float | timedelta) -> float:
    """Seconds, from seconds or a timedelta."""
    return value.total_seconds() if isinstance(value, timedelta) else float(value)
