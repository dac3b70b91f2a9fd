"""What Schemathesis needs to get past the gate: tokens of a role, and names of things that are there."""

import json
import os
import random
import urllib.parse
import urllib.request

import schemathesis

ROLE = os.environ["FUZZ_ROLE"]
URL = os.environ["FUZZ_URL"]
KEYCLOAK = os.environ["FUZZ_KEYCLOAK"]
TENANT = "acme"
USERS = {"tenant-admin": ("admin", "demo.admin"), "member": ("rnd-member", "demo.member")}
TOKEN_SECONDS = 120
# With real ids these end what the other cases need.
SPARED = {"offboardTenant", "updateTenant", "retireCluster", "retireNode", "retirePool"}
REAL_IDS_OF_FIVE = 4


def secrets():
    with open(os.environ["FUZZ_SECRETS"], encoding="utf-8") as lines:
        return dict(line.strip().split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def token(role):
    if role == "operator":
        realm = "operator"
        form = {
            "grant_type": "client_credentials",
            "client_id": "quartermaster-cli",
            "client_secret": secrets()["operator.quartermaster-cli"],
        }
    else:
        realm = TENANT
        user, password = USERS[role]
        form = {"grant_type": "password", "client_id": "portal", "username": user, "password": secrets()[password]}
    address = f"{KEYCLOAK}/realms/{realm}/protocol/openid-connect/token"
    with urllib.request.urlopen(address, urllib.parse.urlencode(form).encode(), timeout=30) as answer:
        return json.load(answer)["access_token"]


@schemathesis.auth(refresh_interval=TOKEN_SECONDS)
class RoleToken:
    def get(self, case, context):
        return token(ROLE)

    def set(self, case, data, context):
        case.headers = case.headers or {}
        case.headers["Authorization"] = "Bearer " + data


def read(path, bearer):
    request = urllib.request.Request(URL + path, headers={"Authorization": "Bearer " + bearer})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)["items"]


def known_ids():
    """Something that is there for the placeholders that a role meets."""
    operator, admin = token("operator"), token("tenant-admin")
    own = "/v1/tenants/" + TENANT
    ids = {"tenant": [TENANT], "cell": ["main"]}
    for name, path, bearer, field in (
        ("cluster", "/v1/operator/clusters", operator, "name"),
        ("node", "/v1/operator/nodes", operator, "name"),
        ("pool", "/v1/operator/pools", operator, "name"),
        ("profile", own + "/profiles", admin, "name"),
        ("policy", own + "/policies", admin, "name"),
        ("queue", own + "/queues", admin, "name"),
        ("capacityReservation", own + "/capacity-reservations", admin, "id"),
        ("workload", own + "/workloads", admin, "id"),
    ):
        ids[name] = [item[field] for item in read(path, bearer)]
    return {name: values for name, values in ids.items() if values}


KNOWN = known_ids()


@schemathesis.hook
def before_call(context, case, kwargs):
    """Most requests are for something that is there; the choice follows from the generated values, so a seed repeats it."""
    if not case.path_parameters or case.operation.definition.raw.get("operationId") in SPARED:
        return
    chance = random.Random(json.dumps([case.path_parameters, case.query], sort_keys=True, default=str))
    for name in list(case.path_parameters):
        if name in KNOWN and chance.randrange(5) < REAL_IDS_OF_FIVE:
            case.path_parameters[name] = chance.choice(KNOWN[name])
