"""Fills a demonstration installation with one of everything that is stored; README.md beside this says how it is used.

Arguments: the API's address, Keycloak's address, the secret of quartermaster-cli, the stage.
"""
import json, sys, time, urllib.error, urllib.parse, urllib.request, uuid, datetime

API, KEYCLOAK, SECRET = sys.argv[1:4]
STAGE = sys.argv[4]

def token(realm, **form):
    body = urllib.parse.urlencode(form).encode()
    return json.load(urllib.request.urlopen(f"{KEYCLOAK}/realms/{realm}/protocol/openid-connect/token", body))["access_token"]

def user(tenant, name, password):
    return token(tenant, grant_type="password", client_id="portal", username=name, password=password)

def call(who, method, path, body=None, key=None, match=None):
    headers = {"Authorization": f"Bearer {who}", "Content-Type": "application/json"}
    if key:
        headers["Idempotency-Key"] = key
    if match:
        headers["If-Match"] = match
    request = urllib.request.Request(API + path, method=method, data=json.dumps(body).encode() if body is not None else None, headers=headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as e:
        print(method, path, e.code, e.read().decode())
        return {"id": "00000000-0000-7000-8000-000000000000", "state": ""}

def etag(who, path):
    with urllib.request.urlopen(urllib.request.Request(API + path, headers={"Authorization": f"Bearer {who}"})) as answer:
        return answer.headers["ETag"]

def patch(who, path, body):
    return call(who, "PATCH", path, body, match=etag(who, path))

operator = token("operator", grant_type="client_credentials", client_id="quartermaster-cli", client_secret=SECRET)
SLEEP = ["sh", "-c", "for i in $(seq 1 20000); do sleep 1; done"]
now = datetime.datetime.now(datetime.timezone.utc)
at = lambda **k: (now + datetime.timedelta(**k)).strftime("%Y-%m-%dT%H:%M:%SZ")

def submit(who, tenant, name, queue, type="training", command=SLEEP, **more):
    return call(who, "POST", f"/v1/tenants/{tenant}/workloads", dict(name=name, queue=queue, type=type, command=command, **more), key=str(uuid.uuid4()))["id"]

def tokens(tenant):
    return user(tenant, "admin", "demo-admin-password"), user(tenant, "rnd-member", "demo-member-password"), user(tenant, "devops-member", "demo-member-password")

def first():
    # A third tenant, which is offboarded below, and a fourth, suspended.
    for t in ("initech", "umbrella"):
        call(operator, "POST", "/v1/operator/tenants", dict(id=t, displayName=t.title(), plan="demo"), key="make-" + t)
    admin, rnd, devops = tokens("acme")
    g_admin, g_rnd, g_devops = tokens("globex")
    base = "/v1/tenants/acme"
    call(admin, "POST", base + "/groups", dict(path="/rnd/vision"))
    call(admin, "POST", base + "/profiles", dict(name="elastic", gpus="1", workers=4, minWorkers=2, pools=["demo"]), key="elastic")
    call(admin, "POST", base + "/profiles", dict(name="quarter", gpus="0.25", gpuLimit="0.5", pools=["demo"], maxRuntime="PT2H"), key="quarter")
    call(admin, "POST", base + "/profiles", dict(name="range", gpus="1", maxGpus="4", pools=["demo"]), key="range")
    call(admin, "POST", base + "/policies", dict(name="vision", group="/rnd/vision", onPreemption="pause", userLimit="4", maxRunning=3, maxPriority=200, nonPreemptible=True,
         quotas=[dict(pool="demo", reserved="1", limit="4", weight=2, lendable="1", rank=1)], profiles=["elastic", "quarter", "range"]), key="vision")
    for q in ("vision-elastic", "vision-quarter", "vision-range"):
        call(admin, "POST", f"{base}/queues/{q}/access-rules", dict(subjectKind="everyone"))
    call(admin, "POST", f"{base}/queues/vision-quarter/access-rules", dict(subjectKind="user", subject="viewer"))
    # Work in every state.
    environment = {"DATA": "s3://bucket/data", "TOKEN": "not-a-secret"}
    submit(rnd, "acme", "long-running", "rnd-1gpu", environment=environment, labels={"project": "x"}, maxRuntime="PT6H")
    submit(rnd, "acme", "parts", "vision-quarter", environment=environment)
    submit(rnd, "acme", "parts-2", "vision-quarter", type="workspace")
    submit(rnd, "acme", "flexible", "vision-elastic", environment=environment)
    submit(rnd, "acme", "ranged", "vision-range", gpus="2", minGpus="1")
    for i in range(8):
        submit(rnd, "acme", f"short-{i}", "rnd-1gpu", command=["sh", "-c", "echo done; sleep 2"])
    submit(rnd, "acme", "fails", "rnd-1gpu", command=["sh", "-c", "echo no; exit 3"])
    submit(devops, "acme", "held", "devops-1gpu", hold=True)
    c = submit(devops, "acme", "cancelled", "devops-2gpu")
    submit(devops, "acme", "paused-later", "devops-1gpu")
    call(devops, "POST", f"{base}/workloads/{c}/cancel", {})
    for i in range(3):
        submit(g_rnd, "globex", f"borrower-{i}", "rnd-1gpu", environment=environment)
    call(g_rnd, "POST", "/v1/tenants/globex/workloads/batches", dict(items=[dict(name=f"batch-{i}", queue="rnd-1gpu", type="training", command=SLEEP) for i in range(20)]), key="batch-1")
    # The calendar and the operator's grants.
    call(operator, "POST", "/v1/operator/tenants/acme/capacity-reservations", dict(pool="demo", gpus="2", startsAt=at(days=1), endsAt=at(days=2)), key="r1")
    call(operator, "POST", "/v1/operator/tenants/globex/capacity-reservations", dict(pool="demo", gpus="1", startsAt=at(seconds=2), endsAt=at(days=2), lendable=False), key="r2")
    call(admin, "POST", base + "/capacity-reservations", dict(policy="vision", pool="demo", gpus="1", startsAt=at(days=1, hours=1), endsAt=at(days=1, hours=3)), key="r3")
    patch(operator, "/v1/operator/pools/demo", {"hours": {"timeZone": "Europe/Berlin", "open": [{"days": ["monday","tuesday","wednesday","thursday","friday","saturday","sunday"], "from": "00:00", "to": "24:00"}]}})
    patch(admin, base + "/queues/rnd-2gpu", {"order": "strict-fifo"})
    call(operator, "POST", "/v1/operator/audits", {}, key="audit-1")
    for i in range(40):
        t = call(operator, "GET", "/v1/operator/tenants/umbrella")
        if t["state"] == "active": break
        time.sleep(3)
    for t in ("initech", "umbrella"):
        call(operator, "PUT", f"/v1/operator/tenants/{t}/allotments/demo", dict(reserved="0", limit="1"))
        patch(operator, f"/v1/operator/tenants/{t}", {"state": "suspended"})
    call(operator, "DELETE", "/v1/operator/tenants/initech")

def second():
    """The third tenant leaves."""
    admin, rnd, devops = tokens("acme")
    g_admin, g_rnd, g_devops = tokens("globex")
    base = "/v1/tenants/acme"
    print([ (t["id"], t["state"]) for t in call(operator, "GET", "/v1/operator/tenants")["items"]])
    patch(operator, "/v1/operator/tenants/initech", {"state": "suspended"})
    print(call(operator, "DELETE", "/v1/operator/tenants/initech"))
    call(operator, "POST", "/v1/operator/audits", dict(tenant="acme"), key="audit-2")
    call(g_admin, "POST", "/v1/tenants/globex/drift-checks", {})

def third():
    """A group that fills its reservation, and work behind it."""
    admin, rnd, devops = tokens("acme")
    SLOW = ["sh", "-c", "trap 'sleep 3000; exit 1' TERM; for i in $(seq 1 20000); do sleep 1; done"]
    for i in range(4): submit(devops, "acme", f"steady-{i}", "devops-1gpu"); time.sleep(0.5)
    for i in range(4): submit(devops, "acme", f"slow-{i}", "devops-1gpu", command=SLOW, environment={"KEY": "value"}); time.sleep(0.5)
    time.sleep(6)
    submit(rnd, "acme", "reclaims-1", "rnd-1gpu"); time.sleep(8)
    submit(rnd, "acme", "reclaims-2", "rnd-2gpu"); time.sleep(6)

def policy(admin, base, name, **changes):
    view = call(admin, "GET", f"{base}/policies/{name}")
    body = {k: view[k] for k in ("name", "group", "profiles") if k in view}
    body["quotas"] = [{k: q[k] for k in ("pool", "reserved", "limit") if q.get(k) is not None} for q in view["quotas"]]
    body.update(changes)
    call(admin, "PUT", f"{base}/policies/{name}", body, match=etag(admin, f"{base}/policies/{name}"))

def fourth():
    """Over-quota work that a reclaim pauses, then a victim that takes its whole grace."""
    admin, rnd, devops = tokens("acme")
    base = "/v1/tenants/acme"
    policy(admin, base, "devops", onPreemption="pause")
    named = lambda: {w["name"]: w for w in call(admin, "GET", base + "/workloads?state=held,waiting,starting,running,stopping,paused&pageSize=100")["items"]}
    for w in ("reclaims-2", "ranged", "reclaims-1"):
        call(admin, "POST", f"{base}/workloads/{named()[w]['id']}/cancel", {})
    for i in range(30):
        if named().get("slow-1", {}).get("state") == "running": break
        time.sleep(1)
    time.sleep(3)
    submit(rnd, "acme", "reclaims-3", "rnd-1gpu"); time.sleep(12)
    print({n: w["state"] for n, w in named().items()})
    policy(admin, base, "devops", onPreemption="requeue", grace="PT1H"); time.sleep(2)
    submit(rnd, "acme", "reclaims-4", "rnd-1gpu"); time.sleep(6)
    for n, w in named().items():
        print(n, w["state"], w.get("reason"))

def last():
    """While the leader is kept from planning."""
    admin, rnd, devops = tokens("acme")
    for i in range(3): submit(rnd, "acme", f"unread-{i}", "rnd-2gpu", environment={"KEY": "value"})

def starting():
    """While the agent stands still."""
    admin, rnd, devops = tokens("acme")
    submit(rnd, "acme", "parts-3", "vision-quarter", maxRuntime="PT1H"); time.sleep(3)

globals()[STAGE]()
