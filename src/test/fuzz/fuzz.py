"""Runs Schemathesis against a running demonstration, once for each role and seed, until that many cases were sent.

Fails when an answer is a 5xx, or its status, media type or body is not as in the contract.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
HOME = HERE.parents[2]
REPORTS = HOME / "target" / "fuzz"
ROLES = ("operator", "tenant-admin", "member")
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
# Its answer is a stream that ends with the token.
STREAMS = ("watchWorkloads",)
SENT = re.compile(r"(\d[\d,]*) generated")


def run(arguments, role, seed):
    """Returns the number of cases that were sent, and whether all answers were right."""
    report = REPORTS / f"{role}-{seed}.log"
    command = [
        str(pathlib.Path(sys.executable).with_name("schemathesis")),
        "--config-file", str(HERE / "schemathesis.toml"), "run", str(HOME / "openapi" / "openapi.yaml"),
        "--url", arguments.url, "--checks", CHECKS, "--phases", arguments.phases, "--seed", str(seed),
        "--max-examples", str(arguments.examples), "--workers", "1", "--request-timeout", "30",
        "--continue-on-failure", "--warnings", "off", "--no-color", "--suppress-health-check", "all",
        "--generation-database", "none",
    ]
    for operation in STREAMS:
        command += ["--exclude-operation-id", operation]
    for tag in arguments.tag:
        command += ["--include-tag", tag]
    environment = dict(
        os.environ,
        PYTHONPATH=str(HERE),
        PYTHONDONTWRITEBYTECODE="1",
        SCHEMATHESIS_HOOKS="hooks",
        FUZZ_ROLE=role,
        FUZZ_URL=arguments.url,
        FUZZ_KEYCLOAK=arguments.keycloak,
        FUZZ_SECRETS=str(arguments.data / "secrets.properties"),
    )
    with open(report, "w", encoding="utf-8") as log:
        ended = subprocess.run(command, cwd=REPORTS, env=environment, stdout=log, stderr=subprocess.STDOUT, check=False)
    text = report.read_text(encoding="utf-8")
    sent = sum(int(number.replace(",", "")) for number in SENT.findall(text))
    print(f"{role}, seed {seed}: {sent} cases, {'passed' if ended.returncode == 0 else 'FAILED: see ' + str(report)}")
    return sent, ended.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:" + os.environ.get("QM_HTTP_PORT", "8080"))
    parser.add_argument("--keycloak", default="http://127.0.0.1:" + os.environ.get("QM_KEYCLOAK_PORT", "8180"))
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(os.environ.get("QM_DATA_DIR", HOME / ".qm")),
                        help="the data folder of the service, with the demonstration's passwords")
    parser.add_argument("--cases", type=int, default=10_000, help="to send in all")
    parser.add_argument("--examples", type=int, default=20, help="at random, for each operation, role and seed")
    parser.add_argument("--phases", default="examples,coverage,fuzzing")
    parser.add_argument("--seed", type=int, default=1, help="the first")
    parser.add_argument("--roles", nargs="+", choices=ROLES, default=ROLES)
    parser.add_argument("--tag", action="append", default=[], help="only operations with this tag")
    arguments = parser.parse_args()
    REPORTS.mkdir(parents=True, exist_ok=True)

    sent, passed, seed = 0, True, arguments.seed
    while sent < arguments.cases:
        before = sent
        for role in arguments.roles:
            more, right = run(arguments, role, seed)
            sent, passed = sent + more, passed and right
        if sent == before:
            sys.exit("no case was sent")
        seed += 1
    print(f"{sent} cases in all: {'passed' if passed else 'FAILED'}")
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
