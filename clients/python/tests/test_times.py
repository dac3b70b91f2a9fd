"""Lengths of time."""

import unittest
from datetime import timedelta

from quartermaster.times import duration


class DurationTest(unittest.TestCase):
    def test_lengths_of_time_are_written_as_the_service_reads_them(self) -> None:
        for value, text in (
            (timedelta(hours=2), "PT7200S"),
            (timedelta(milliseconds=1500), "PT1.500000S"),
            (timedelta(0), "PT0S"),
            ("90s", "PT90S"),
            ("1d2h", "PT93600S"),
            ("PT2H", "PT2H"),
        ):
            with self.subTest(value):
                self.assertEqual(duration(value), text)

    def test_other_texts_are_refused(self) -> None:
        for value in ("", "2", "1h 30m", "-5m", "1.5h", timedelta(seconds=-1)):
            with self.subTest(value), self.assertRaises(ValueError):
                duration(value)
