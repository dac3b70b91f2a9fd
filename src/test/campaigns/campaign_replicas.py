"""Two replicas behind a balancer, on one database, Redis and Keycloak; the one that leads stands still for a while, again and again."""

import time

import checks
from balancer import Balancer
from installation import CONTINUE, STOP, send
from journal import now_ms, spread
from world import World

METRIC = "quartermaster_dispatch_leads"


def run(installation, verdict, options):
    seconds = options.seconds or 30
    second_management = f"http://127.0.0.1:{installation.ports['second-management']}"
    balanced = f"http://127.0.0.1:{installation.ports['balancer']}"
    Balancer(installation.ports["balancer"], [
        (installation.ports["http"], installation.management),
        (installation.ports["second-http"], second_management),
    ]).start()
    world = World.start(installation, verdict, options.seed, own_gpus=18, server=balanced)
    # The demonstration's own agent asks the first replica alone; work goes where the agent asks the balancer.
    world.cordon("local-1")
    second = installation.spawn("second", ["up"], installation.second_environment())
    replicas = [(installation.service.pid, installation.management), (second.pid, second_management)]
    try:
        ready = checks.await_true("the second replica is ready", lambda: installation.health(
            "ready", management=second_management).status == 200, verdict, 600)
        installation.journal.say(f"the second replica is ready after {ready} s")
        taken_over, accepted, stopped = [], [], [0, 0]
        left = options.times
        world.begin_load(pause=(1.0, 3.0), url=balanced)
        while left > 0:
            left -= 1
            time.sleep(world.random.uniform(10, 25))
            which = leader(installation, replicas, verdict)
            if which is None:
                break
            stopped[which] += 1
            pid, other = replicas[which][0], replicas[1 - which][1]
            epoch = world_epoch(world)
            moment = now_ms()
            send(pid, STOP)
            try:
                took = checks.await_true("the other replica leads", lambda: installation.metric(METRIC, other) == 1, verdict, 300, 0.2)
                time.sleep(max(0, seconds - (now_ms() - moment) / 1000))
            finally:
                until = now_ms()
                send(pid, CONTINUE)
            first = [s.acknowledged_at for s in world.records.acknowledged() if moment < s.acknowledged_at < until]
            if took is not None:
                taken_over.append(took)
            verdict.check(first, "nothing was accepted while the leader stood still")
            if first:
                accepted.append((min(first) - moment) / 1000)
            checks.await_true("the replica that stood still follows", lambda: installation.metric(
                METRIC, replicas[which][1]) == 0 and installation.metric(METRIC, other) == 1, verdict, 600)
            after = world_epoch(world)
            verdict.check(after > epoch, f"the epoch was {epoch}, and is {after}")
            installation.journal.say(
                f"{options.times - left:3d} of {options.times}: replica {which + 1} led and stood still for {seconds:.0f} s; "
                f"the other led after {took} s; {len(first)} accepted meanwhile; epoch {epoch}, then {after}")
            verdict.check(all(n["contact"] == "up" for n in world.nodes() if n["name"] == "campaign-1"), "the node was lost")
        world.end_load()
        world.verify()
    finally:
        send(second.pid, CONTINUE)
        second.terminate()
        second.wait(90)
    return (
        f"the leader stood still {sum(stopped)} times ({stopped[0]} and {stopped[1]} of each replica); "
        f"other replica led after: {spread(taken_over)}; next accepted after: {spread(accepted)}")


def leader(installation, replicas, verdict):
    """Which replica leads, waiting until just one does."""
    found = []

    def one():
        found[:] = [i for i, (_, management) in enumerate(replicas) if installation.metric(METRIC, management) == 1]
        return len(found) == 1

    return found[0] if checks.await_true("one replica leads", one, verdict, 600) is not None else None


def world_epoch(world):
    return world.operator.get("/v1/operator/cells/main")["epoch"]
