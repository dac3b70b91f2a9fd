"""Kills the service, agents, Redis and PostgreSQL at random moments under load; nothing may be lost, or started twice."""

import collections
import time

from installation import INTERRUPT, KILL, send
from journal import now_ms, spread
from world import World

# How often each is chosen.
FAULTS = {
    "service killed": 5,
    "agent of the demonstration killed": 2,
    "agent killed": 3,
    "redis killed": 2,
    "postgres killed": 2,
    "postgres restarted": 1,
}

# The service ends when a part that it keeps ends for the sixth time within ten minutes; that is its rule, and not what is tried here.
MOST_LOSSES = 4
LOSS_WINDOW_SECONDS = 660


class Kills:
    def __init__(self, world):
        self.world = world
        self.installation = world.installation
        self.journal = world.installation.journal
        self.random = world.random
        self.losses = collections.defaultdict(list)
        self.done = collections.Counter()
        self.recovered = collections.defaultdict(list)
        self.killed_in_start = 0
        self.ended = 0

    def may(self, fault):
        part = fault.split()[0]
        recent = [at for at in self.losses[part] if time.monotonic() - at < LOSS_WINDOW_SECONDS]
        self.losses[part] = recent
        return len(recent) < MOST_LOSSES

    def strike(self):
        """One fault: what and when, or None where there was nothing to kill just then."""
        fault = self.random.choice([each for each, weight in FAULTS.items() for _ in range(weight) if self.may(each)])
        if fault == "service killed":
            done = self.kill_service()
        elif fault == "agent killed":
            self.installation.agents["campaign-1"].kill()
            time.sleep(self.random.uniform(0, 4))
            self.installation.agents["campaign-1"].start()
            done = True
        else:
            part = "agent" if fault.startswith("agent") else fault.split()[0]
            pid = self.installation.part_pid(part)
            # To be interrupted is for PostgreSQL what pg_ctl stop -m fast does: connections are ended, and it ends in good order.
            done = pid is not None and send(pid, KILL if "killed" in fault else INTERRUPT)
            if done and part != "agent":
                self.losses[part].append(time.monotonic())
        moment = now_ms()
        if done:
            self.done[fault] += 1
            self.journal.note("fault", what=fault, at=moment)
        return (fault, moment) if done else None

    def kill_service(self):
        service = self.installation.service
        if service.poll() is not None:
            return False
        if not self.installation.is_ready():
            self.killed_in_start += 1
        service.kill()
        service.wait()
        self.losses.clear()
        self.installation.start()
        return True

    def keep_service(self):
        """Starts it again when it ended by itself, as a service manager would."""
        code = self.installation.service.poll()
        if code is not None:
            self.journal.say(f"the service ended by itself with {code}; starting it again")
            self.ended += 1
            self.losses.clear()
            self.installation.start()

    def run(self, times, between):
        count = 0
        while count < times:
            self.pause(self.random.uniform(*between))
            struck = self.strike()
            if struck is None:
                continue
            count += 1
            fault, moment = struck
            # One time in four the next fault comes before the service has recovered from this one.
            if self.random.random() < 0.75:
                seconds = self.await_recovery(moment)
                self.journal.say(f"{count:3d} of {times}: {fault}; accepted again after {seconds} s")
                if seconds is not None:
                    self.recovered[fault].append(seconds)
            else:
                self.journal.say(f"{count:3d} of {times}: {fault}")

    def pause(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.keep_service()
            time.sleep(0.5)

    def await_recovery(self, moment):
        end = time.monotonic() + 600
        while time.monotonic() < end:
            later = [s.acknowledged_at for s in self.world.records.acknowledged() if s.acknowledged_at > moment]
            if later:
                return (min(later) - moment) / 1000
            self.keep_service()
            time.sleep(0.1)
        self.world.verdict.fail("nothing was accepted within 600 s after a fault")
        return None

    def calm(self):
        """Waits until all of it is up again."""
        end = time.monotonic() + 600
        while not self.installation.is_ready() and time.monotonic() < end:
            self.keep_service()
            time.sleep(0.5)
        self.world.verdict.check(self.installation.is_ready(), "the service is not ready after the last fault")


def run(installation, verdict, options):
    world = World.start(installation, verdict, options.seed)
    kills = Kills(world)
    left = options.times
    while left > 0:
        part = min(left, options.verify_every)
        world.begin_load()
        kills.run(part, (3, 20))
        world.end_load()
        kills.calm()
        world.verify()
        left -= part
    for fault, seconds in kills.recovered.items():
        installation.journal.say(f"accepted again after: {fault}: {spread(seconds)}")
    return (
        f"{sum(kills.done.values())} faults ({', '.join(f'{n} x {what}' for what, n in kills.done.items())}; "
        f"{kills.killed_in_start} of them during a start; the service ended by itself {kills.ended} times)"
    )
