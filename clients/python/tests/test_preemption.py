"""The end of an attempt, as the agent brings it about."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

import quartermaster
from quartermaster import NotInJob

PROGRAM = """
import sys, time, quartermaster
{prepare}
print("ready", flush=True)
for step in range(600):
    time.sleep(0.05)
    if quartermaster.stop_requested():
        print("leaves the loop")
        sys.exit(3)
"""


class JobProcess:
    """A program in the environment that the agent makes."""

    def __init__(self, prepare: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.environment = os.environ | {"TMPDIR": self._folder.name, "QM_ATTEMPT_ID": "a-1", "QM_ATTEMPT": "2"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM.format(prepare=prepare)],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def stop(self, callback: tuple[str, ...] = ()) -> tuple[int, str]:
        """The abort callback, then TERM. Returns the exit code and the output."""
        if callback:
            more = {"QM_STOP_REASON": "PREEMPTED", "QM_GRACE_MILLIS": "60000"}
            subprocess.run(callback, env=self.environment | more, check=True)
        self._process.send_signal(signal.SIGTERM)
        output, _ = self._process.communicate(timeout=20)
        self._folder.cleanup()
        return self._process.returncode, output


class PreemptionTest(unittest.TestCase):
    def test_a_callback_gets_the_reason_and_the_deadline_and_then_the_program_ends(self) -> None:
        job = JobProcess(
            "quartermaster.on_preempt(lambda stop: print(stop.reason, stop.runs_again, 55 < stop.seconds_left <= 60))"
        )

        self.assertEqual(job.stop(quartermaster.STOP_NOTICE), (143, "PREEMPTED True True\n"))

    def test_without_the_notice_reason_and_deadline_are_unknown(self) -> None:
        job = JobProcess("quartermaster.on_preempt(lambda stop: print(stop.reason, stop.deadline))")

        self.assertEqual(job.stop(), (143, "None None\n"))

    def test_a_loop_that_asks_leaves_by_itself(self) -> None:
        job = JobProcess("quartermaster.on_preempt()")

        self.assertEqual(job.stop(), (3, "leaves the loop\n"))

    def test_earlier_callbacks_and_handlers_run_too(self) -> None:
        job = JobProcess(
            "import signal\n"
            "signal.signal(signal.SIGTERM, lambda *_: print('handler'))\n"
            "quartermaster.on_preempt(lambda stop: print('first'), then_exit=False)\n"
            "quartermaster.on_preempt(lambda stop: print('second'), then_exit=False)"
        )

        self.assertEqual(job.stop(), (3, "first\nsecond\nhandler\nleaves the loop\n"))

    def test_cleanups_run_when_a_callback_ends_the_program(self) -> None:
        job = JobProcess(
            "import atexit; atexit.register(print, 'cleaned'); quartermaster.on_preempt(lambda stop: None)"
        )

        self.assertEqual(job.stop(), (143, "cleaned\n"))

    def test_another_thread_cannot_install_a_handler(self) -> None:
        raised: list[BaseException] = []

        def install() -> None:
            try:
                quartermaster.on_preempt()
            except RuntimeError as e:
                raised.append(e)

        thread = threading.Thread(target=install)
        thread.start()
        thread.join()

        self.assertIn("main thread", str(raised[0]))


class EnvironmentTest(unittest.TestCase):
    def test_a_job_sees_its_place(self) -> None:
        variables = {
            "QM_CHECKPOINT_DIR": "/c",
            "QM_ATTEMPT": "2",
            "QM_NODE_RANK": "1",
            "QM_NODES": "4",
            "QM_ATTEMPT_ID": "a",
        }
        with mock.patch.dict(os.environ, variables, clear=True):
            self.assertEqual(quartermaster.checkpoint_dir(), Path("/c"))
            self.assertEqual(
                (quartermaster.attempt(), quartermaster.node_rank(), quartermaster.node_count()), (2, 1, 4)
            )
            self.assertTrue(quartermaster.in_job())

    def test_outside_a_job_there_is_a_clear_error_or_the_given_folder(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, clear=True):
            with self.assertRaisesRegex(NotInJob, "QM_CHECKPOINT_DIR"):
                quartermaster.checkpoint_dir()
            with self.assertRaisesRegex(NotInJob, "QM_ATTEMPT"):
                quartermaster.attempt()
            self.assertFalse(quartermaster.in_job())
            self.assertTrue(quartermaster.checkpoint_dir(Path(folder) / "own").is_dir())
