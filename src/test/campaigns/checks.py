"""Compares what the service says afterwards with what the campaign and the work know by themselves."""

import collections
import datetime
import http.client
import json
import time
import urllib.parse

from journal import now_ms

OVER = ("succeeded", "failed", "cancelled")
TENANTS = ("acme", "globex")


def to_ms(text):
    """A time of the API, in milliseconds since the epoch."""
    return round(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)


def to_milli(gpus):
    """A decimal of GPUs in thousandths, exactly."""
    whole, _, part = gpus.partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


class Work:
    """What the work wrote on its nodes: every start of every attempt, its end, and its last sign of life."""

    def __init__(self, installation):
        self.starts = collections.defaultdict(list)
        self.ends = collections.Counter()
        self.last = {}
        for agent, path in installation.records():
            for line in path.read_text().splitlines():
                what, attempt, workload, at, gpus, devices = line.split(" ", 5)
                at = int(at)
                if what == "start":
                    self.starts[attempt].append((agent, workload, at, to_milli(gpus), devices.split(",")))
                if what == "end":
                    self.ends[attempt] += 1
                self.last[attempt] = max(self.last.get(attempt, 0), at)
            for life in path.parent.glob(".life-*"):
                text = life.read_text().strip()
                if text:
                    attempt = life.name.removeprefix(".life-")
                    self.last[attempt] = max(self.last.get(attempt, 0), int(text))


def settle(installation, verdict, patience=600):
    """Waits until nothing is left that is not over. Says what is, if that does not happen."""
    clients = {tenant: installation.client(tenant, "admin") for tenant in TENANTS}
    end = time.monotonic() + patience
    while True:
        left = [
            (tenant, each["name"], each["state"], each.get("reason"))
            for tenant, client in clients.items()
            for each in client.pages(
                f"/v1/tenants/{tenant}/workloads?state=held,waiting,starting,running,stopping,paused&pageSize=100"
            )
        ]
        if not left:
            return True
        if time.monotonic() > end:
            verdict.fail(f"{len(left)} workloads are not over after {patience} s without new ones: {left[:10]}")
            return False
        time.sleep(2)


class Books:
    """The API's list of workloads and attempts, and its usage export, of all tenants."""

    def __init__(self, installation, operator, prefix):
        self.workloads = {}
        self.names = collections.defaultdict(list)
        for tenant in TENANTS:
            admin = installation.client(tenant, "admin")
            for each in list(admin.pages(f"/v1/tenants/{tenant}/workloads?pageSize=100")):
                if each["name"].startswith(prefix + "-"):
                    details = admin.get(f"/v1/tenants/{tenant}/workloads/{each['id']}")
                    self.workloads[each["id"]] = (tenant, details)
                    self.names[(tenant, each["name"])].append(each["id"])
        self.attempts = {
            attempt["id"]: (tenant, details, attempt)
            for tenant, details in self.workloads.values()
            for attempt in details["attempts"]
        }
        self.operator = operator

    def export(self, since_ms):
        hour = datetime.datetime.fromtimestamp(since_ms // 3_600_000 * 3600, datetime.timezone.utc)
        start = urllib.parse.quote(hour.strftime("%Y-%m-%dT%H:%M:%SZ"))
        answer = self.operator.call("GET", f"/v1/operator/usage/export?format=jsonl&provisional=true&from={start}")
        if not answer.ok:
            raise RuntimeError(f"usage export: {answer.status} {answer.text()[:300]}")
        return [json.loads(line) for line in answer.text().splitlines() if line]


def verify(installation, records, verdict, reserved):
    """
    Everything is over by now. Checks submissions, starts, attempts, devices, books, counters, quarantine and the product's own audit.

    reserved: thousandths of a GPU that each tenant has reserved in the pool, as the campaign stated them.
    """
    operator = installation.client("operator", "operator")
    books = Books(installation, operator, records.prefix)
    work = Work(installation)
    check_submissions(books, records, work, verdict)
    check_starts(books, work, verdict)
    check_attempts(books, work, verdict)
    check_devices(books, work, verdict)
    figures = check_usage(books, work, verdict, reserved)
    check_policies(installation, records, verdict)
    check_counters(installation, operator, verdict)
    audit = installation.command("audit")
    verdict.check(audit.returncode == 0, f"qm audit ended with {audit.returncode}: {audit.stdout[-800:]}")
    installation.journal.say(
        f"verified: {len(records.acknowledged())} submissions acknowledged, {records.replays} keys repeated, "
        f"{records.cancels} cancelled, {records.policy_edits} policy edits; {len(books.attempts)} attempts, "
        f"{sum(map(len, work.starts.values()))} starts on the nodes; outcomes "
        f"{dict(collections.Counter(a.get('outcome', '-') for _, _, a in books.attempts.values()))}; {figures}; "
        f"audit {'holds' if audit.returncode == 0 else 'FAILS'}"
    )


def check_submissions(books, records, work, verdict):
    for made in records.submissions:
        ids = books.names.get((made.tenant, made.name), [])
        if made.acknowledged_at is None:
            verdict.check(len(ids) <= 1, f"{made.name}, never acknowledged, is there {len(ids)} times")
            continue
        if not verdict.check(ids == [made.id], f"{made.name} was acknowledged as {made.id}; there is {ids}"):
            continue
        details = books.workloads[made.id][1]
        state = details["workload"]["state"]
        if state == "cancelled":
            verdict.check(made.cancel_asked, f"{made.name} was cancelled by nobody")
        else:
            verdict.check(state == "succeeded", f"{made.name} ended as {state}: {details['attempts'][-1:]}")
        for attempt in details["attempts"]:
            verdict.check(
                to_milli(attempt["gpus"]) == made.gpu_milli,
                f"{made.name} asked for {made.gpu_milli} thousandths of a GPU; its attempt holds {attempt['gpus']}",
            )
        if state == "succeeded":
            ended = sum(work.ends[attempt["id"]] for attempt in details["attempts"])
            verdict.check(ended >= 1, f"{made.name} succeeded, but its work never came to its end")


def check_starts(books, work, verdict):
    for attempt, starts in work.starts.items():
        verdict.check(len(starts) == 1, f"attempt {attempt} was started {len(starts)} times: {starts}")
        if verdict.check(attempt in books.attempts, f"attempt {attempt} ran, but the service does not know it"):
            workload = books.attempts[attempt][1]["workload"]["id"]
            verdict.check(starts[0][1] == workload, f"attempt {attempt} ran as one of workload {starts[0][1]}")
    for attempt, (_, _, told) in books.attempts.items():
        if told.get("outcome") == "succeeded":
            verdict.check(attempt in work.starts, f"attempt {attempt} succeeded, but never ran")


def check_attempts(books, work, verdict):
    for _, details in books.workloads.values():
        before = None
        for attempt in sorted(details["attempts"], key=lambda each: each["number"]):
            name = f"attempt {attempt['id']} of {details['workload']['name']}"
            if not verdict.check("endedAt" in attempt, f"{name} has no end"):
                continue
            bound, ended = to_ms(attempt["boundAt"]), to_ms(attempt["endedAt"])
            verdict.check(bound <= ended, f"{name} ended before it was bound")
            if before is not None:
                verdict.check(before <= bound, f"{name} was bound before the one before it had ended")
            before = ended
            for _, _, started, _, _ in work.starts.get(attempt["id"], []):
                verdict.check(started >= bound, f"{name} started {bound - started} ms before it was bound")
                last = work.last[attempt["id"]]
                verdict.check(last <= ended, f"{name} worked on for {last - ended} ms after it was booked as over")


def check_devices(books, work, verdict):
    """By what the work itself says: no device is ever held by more than one GPU's worth of work."""
    steps = collections.defaultdict(list)
    for attempt, starts in work.starts.items():
        agent, _, started, milli, devices = starts[0]
        for device in devices:
            share = milli // len(devices)
            steps[(agent, device)] += [(started, 1, share, attempt), (work.last[attempt], 0, -share, attempt)]
    for device, changes in steps.items():
        held = 0
        for at, _, milli, attempt in sorted(changes):
            held += milli
            if held > 1000:
                verdict.fail(f"device {device} is held by {held} thousandths at {at}, the last by attempt {attempt}")
                break


def check_usage(books, work, verdict, reserved):
    """The export, over the time in which the campaign's attempts were held, against an own fill of what was reserved."""
    held = {
        attempt: (tenant, to_ms(told["boundAt"]), to_ms(told["endedAt"]), to_milli(told["gpus"]))
        for attempt, (tenant, _, told) in books.attempts.items()
        if "endedAt" in told
    }
    if not held:
        return "no attempts"
    begin = min(bound for _, bound, _, _ in held.values())
    end = max(ended for _, _, ended, _ in held.values())
    found = collections.Counter()
    ids = collections.Counter()
    for record in books.export(begin):
        ids[record["id"]] += 1
        start, stop = max(begin, to_ms(record["from"])), min(end, to_ms(record["to"]))
        if start < stop and record["pool"] == "demo":
            amount = to_milli(record["gpus"]) * (stop - start)
            owner = record["attempt"] or record["class"]
            found[(record["tenant"], owner, record["class"])] += amount
    verdict.check(max(ids.values()) == 1, "the export has a record twice")
    expected = own_fill(held, reserved, begin, end)
    for key in sorted(set(found) | set(expected)):
        if key[2] != "reserved-unmet" and found[key] != expected[key]:
            verdict.fail(f"books of {key}: {found[key]} thousandths x ms in the export, {expected[key]} by own count")
    booked = sum(ended - bound for _, bound, ended, _ in held.values())
    worked = 0
    for attempt, (_, bound, ended, _) in held.items():
        for _, _, started, _, _ in work.starts.get(attempt, []):
            worked += work.last[attempt] - started
    seconds = sum(amount for key, amount in expected.items() if key[2] in ("reserved", "on-demand")) / 1e6
    return f"{seconds:.3f} GPU-seconds held; attempts held {booked / 1000:.0f} s and worked {worked / 1000:.0f} s"


def own_fill(held, reserved, begin, end):
    """What each attempt holds of what is reserved, in the order of (start, id), and what stays idle: an own count."""
    expected = collections.Counter()
    for tenant in TENANTS:
        own = sorted((bound, attempt, ended, milli) for attempt, (of, bound, ended, milli) in held.items() if of == tenant)
        moments = sorted({begin, end, *(each[0] for each in own), *(each[2] for each in own)})
        for start, stop in zip(moments, moments[1:]):
            left = reserved[tenant]
            for bound, attempt, ended, milli in own:
                if bound <= start and ended >= stop:
                    inside = min(left, milli)
                    left -= inside
                    expected[(tenant, attempt, "reserved")] += inside * (stop - start)
                    expected[(tenant, attempt, "on-demand")] += (milli - inside) * (stop - start)
            expected[(tenant, "reserved-idle", "reserved-idle")] += left * (stop - start)
    return +expected


def check_policies(installation, records, verdict):
    for (tenant, policy), limit in records.policies.items():
        told = installation.client(tenant, "admin").get(f"/v1/tenants/{tenant}/policies/{policy}")
        limits = [quota.get("limit") for quota in told["quotas"] if quota["pool"] == "demo"]
        verdict.check(limits == [limit], f"policy {policy} of {tenant}: limit {limits}, last stated {limit}")


def check_counters(installation, operator, verdict, patience=600):
    """Redis says that nothing is used and nothing waits; nothing is set aside; no stop is overdue."""
    for tenant in TENANTS:
        end = time.monotonic() + patience
        while True:
            live = operator.get(f"/v1/tenants/{tenant}/usage/live")
            zero = live["source"] == "redis" and all(
                pool["gpus"]["used"] == "0" and pool["gpus"]["queued"] == "0" for pool in live["pools"]
            )
            if zero:
                break
            if time.monotonic() > end:
                verdict.fail(f"live usage of {tenant} is not zero: {json.dumps(live)[:400]}")
                break
            time.sleep(1)
    entries = operator.get("/v1/operator/quarantine-entries").get("items", [])
    verdict.check(not entries, f"something is set aside: {json.dumps(entries)[:600]}")
    overdue = installation.metric("quartermaster_attempts_stop_overdue")
    verdict.check(overdue == 0, f"quartermaster_attempts_stop_overdue is {overdue}")


def await_true(what, holds, verdict, patience=300, every=0.5):
    """Waits until it is so; how long that took, or None."""
    begun = now_ms()
    end = time.monotonic() + patience
    while time.monotonic() < end:
        try:
            if holds():
                return (now_ms() - begun) / 1000
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(every)
    verdict.fail(f"did not come true within {patience} s: {what}")
    return None
