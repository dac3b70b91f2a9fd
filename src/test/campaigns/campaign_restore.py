"""
An older backup of the database comes back, again and again, while the agents' folders and Redis stay as they are. Nothing may be started twice.

The procedure is that of docs/runbooks/backup-and-restore.md: the service ends, the leases run out, the database is restored, the service starts.
"""

import os
import shutil
import signal
import time

import checks
from journal import now_ms
from world import RESERVED, World

# Lease and margin of agents are 30 s and 5 s, and a call may be held for 5 s.
LEASE_SECONDS = 45


def run(installation, verdict, options):
    world = World.start(installation, verdict, options.seed, own_gpus=8)
    unknown, restarted = set(), []
    for round_number in range(1, options.times + 1):
        world.begin_load(pause=(0.5, 2.0), steps=(10, 60))
        time.sleep(world.random.uniform(25, 40))
        backup, cut = back_up(installation, round_number)
        policies = dict(world.records.policies)
        time.sleep(world.random.uniform(30, 50))
        world.end_load()
        lost = now_ms()
        halt(installation)
        kept = forget_what_came_after(world.records, cut, lost, policies)
        time.sleep(options.seconds or LEASE_SECONDS)
        restore(installation, backup)
        begun = now_ms()
        begin(installation)
        checks.await_true("all nodes are up after the restore", lambda: all(
            node["contact"] == "up" for node in world.nodes()), verdict, 600)
        restarted.append((now_ms() - begun) / 1000)
        # New work beside what the backup holds.
        world.begin_load(pause=(0.5, 2.0), steps=(2, 12))
        time.sleep(20)
        world.end_load()
        if checks.settle(installation, verdict):
            unknown = verify(world, cut, begun, unknown)
        installation.journal.say(
            f"{round_number:3d} of {options.times}: {kept} acknowledged before the backup, "
            f"{len(unknown)} attempts so far of which the restored service knows nothing")
    verdict.check(unknown, "no attempt was started between a backup and its restore, so nothing was tried")
    return f"{options.times} restores; {len(unknown)} attempts came after a backup; all nodes back after {restarted} s"


def halt(installation):
    """Ends the service and what is embedded; agents of the campaign's own stay."""
    os.kill(installation.service.pid, signal.SIGTERM)
    installation.service.wait(180)


def begin(installation):
    installation.start()
    installation.await_ready()


def back_up(installation, number):
    """A copy of the database's folder while nothing runs, as the runbook says it for what is embedded; and when that was."""
    halt(installation)
    cut = now_ms()
    folder = installation.folder / f"backup-{number}"
    shutil.copytree(installation.data / "postgres", folder, symlinks=True)
    begin(installation)
    return folder, cut


def restore(installation, backup):
    shutil.rmtree(installation.data / "postgres")
    # copytree keeps modes and times; a backup of another user would have to be given to this one.
    shutil.copytree(backup, installation.data / "postgres", symlinks=True)


def forget_what_came_after(records, cut, lost, policies):
    """What was acknowledged between backup and end may be there or not; only what came before must be. Answers how much that is."""
    kept = 0
    for each in records.submissions:
        if each.acknowledged_at is not None and cut <= each.acknowledged_at <= lost:
            each.acknowledged_at = None
        kept += each.acknowledged_at is not None
    records.policies.clear()
    records.policies.update(policies)
    return kept


def verify(world, cut, begun, known_before):
    """Every attempt that ran was started once; what the service does not know ran between backup and restore, and was over before the restart."""
    installation, verdict = world.installation, world.verdict
    operator = installation.client("operator", "operator")
    books = checks.Books(installation, operator, world.records.prefix)
    work = checks.Work(installation)
    for attempt, starts in work.starts.items():
        verdict.check(len(starts) == 1, f"attempt {attempt} was started {len(starts)} times: {starts}")
    checks.check_devices(books, work, verdict)
    unknown = {attempt for attempt in work.starts if attempt not in books.attempts}
    for attempt in unknown - known_before:
        started, last = work.starts[attempt][0][2], work.last[attempt]
        verdict.check(started > cut - 1000, f"attempt {attempt} was started {cut - started} ms before the backup, and is not known")
        verdict.check(last < begun, f"attempt {attempt}, unknown to the restored service, worked until {last - begun} ms after its start")
    for attempt in unknown:
        del work.starts[attempt]
    checks.check_submissions(books, world.records, work, verdict)
    checks.check_starts(books, work, verdict)
    checks.check_attempts(books, work, verdict)
    checks.check_policies(installation, world.records, verdict)
    checks.check_counters(installation, operator, verdict)
    audit = installation.command("audit")
    verdict.check(audit.returncode == 0, f"qm audit ended with {audit.returncode}: {audit.stdout[-800:]}")
    figures = checks.check_usage(books, work, verdict, RESERVED)
    installation.journal.say(f"verified: {len(books.attempts)} attempts, {len(unknown)} unknown; {figures}")
    return known_before | unknown
