"""What a campaign prints, and what it keeps for those who look for a cause afterwards."""

import json
import threading
import time


class Journal:
    """Prints progress, and writes every note into a file of JSON lines."""

    def __init__(self, path):
        self._lock = threading.Lock()
        self._file = open(path, "a", encoding="utf-8")
        self._begun = time.monotonic()
        self.counts = {}

    def say(self, text):
        with self._lock:
            print(f"{time.strftime('%H:%M:%S')} {time.monotonic() - self._begun:7.1f} s  {text}", flush=True)
        self.note("say", text=text)

    def note(self, kind, **values):
        with self._lock:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            self._file.write(json.dumps({"at": now_ms(), "kind": kind, **values}) + "\n")
            self._file.flush()


class Verdict:
    """Collects what does not hold. A campaign passes when nothing was found."""

    MOST_SHOWN = 40

    def __init__(self, journal):
        self._journal = journal
        self._lock = threading.Lock()
        self.problems = []

    def fail(self, text):
        with self._lock:
            self.problems.append(text)
            shown = len(self.problems) <= self.MOST_SHOWN
        if shown:
            self._journal.say(f"PROBLEM  {text}")
        else:
            self._journal.note("problem", text=text)

    def check(self, holds, text):
        if not holds:
            self.fail(text)
        return holds

    def finish(self, name, summary):
        """Prints the verdict; returns the exit code."""
        failed = self._journal.counts.get("answer-500", 0)
        self.check(failed == 0, f"{failed} requests were answered 500; notes.jsonl has them")
        passed = not self.problems
        outcome = "PASS" if passed else f"FAIL ({len(self.problems)} problems)"
        self._journal.say(f"verdict of {name}: {summary}: {outcome}")
        return 0 if passed else 1


def now_ms():
    return time.time_ns() // 1_000_000


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def spread(values):
    """The number of values, their median and the largest, for people."""
    if not values:
        return "none"
    return f"{len(values)}, p50 {percentile(values, 0.5):.2f} s, longest {max(values):.2f} s"
