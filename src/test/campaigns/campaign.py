"""
Long runs against the packaged program, which are no part of its tests: see CONTRIBUTING.md.

    python3 src/test/campaigns/campaign.py evictions --times 20

Exit codes: 0 everything held, 1 something did not, 2 an option is wrong.
"""

import argparse
import pathlib
import random
import signal
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import campaign_evictions
import campaign_keycloak
import campaign_kills
import campaign_replicas
import campaign_restore
import campaign_upgrade
from installation import Installation
from journal import Journal, Verdict

CAMPAIGNS = {
    "evictions": (campaign_evictions.run, 20, "a preemptor that waits for its devices while larger work comes"),
    "keycloak": (campaign_keycloak.run, 10, "Keycloak stands still for 100 s under policy edits and submissions"),
    "keycloak-long": (campaign_keycloak.run_long, 1, "Keycloak stands still for 15 minutes while work waits and runs"),
    "kills": (campaign_kills.run, 60, "service, agents, Redis and PostgreSQL are killed under load"),
    "replicas": (campaign_replicas.run, 10, "two replicas, of which the leader stands still for 30 s under load"),
    "restore": (campaign_restore.run, 2, "an older backup of the database comes back while agents keep what they know"),
    "upgrade": (campaign_upgrade.run, 1, "two replicas are replaced by another build one after the other, and back, under load"),
}


def parse(arguments):
    parser = argparse.ArgumentParser(
        description="Runs a campaign against the packaged program. Campaigns: "
        + "; ".join(f"{name}: {what}" for name, (_, _, what) in CAMPAIGNS.items())
    )
    home = pathlib.Path(__file__).resolve().parents[3]
    parser.add_argument("campaign", choices=CAMPAIGNS)
    parser.add_argument("--times", type=int, help="how often the fault is made; default: 20, 10, 1, 60, 10, 2, 1")
    parser.add_argument("--home", default=home, help="folder of a built checkout; default: this one")
    parser.add_argument("--folder", help="empty folder for data, logs and notes; default: target/campaigns/CAMPAIGN")
    parser.add_argument("--again", action="store_true", help="go on in the folder of an earlier campaign, on the same ports")
    parser.add_argument("--port", type=int, default=18300, help="first of ten free ports; default: 18300")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000), help="of all that is random")
    parser.add_argument("--seconds", type=float, help="how long a part stands still; default: 100, 900, 30, 45, 60")
    parser.add_argument("--verify-every", type=int, default=20, help="faults after which all is compared; default: 20")
    parser.add_argument("--old", help="folder of a built checkout of the version before; upgrade needs it")
    options = parser.parse_args(arguments)
    if options.campaign == "upgrade" and not options.old:
        parser.error("upgrade needs --old, the folder of a built checkout of the version before")
    options.times = options.times or CAMPAIGNS[options.campaign][1]
    return options


def main(arguments):
    options = parse(arguments)
    folder = pathlib.Path(options.folder or pathlib.Path(options.home) / "target" / "campaigns" / options.campaign)
    if not options.again and folder.exists() and any(folder.iterdir()):
        print(f"The folder {folder} is not empty. Empty it, name another with --folder, or give --again.", file=sys.stderr)
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    journal = Journal(folder / "notes.jsonl")
    verdict = Verdict(journal)
    installation = Installation(options.home, folder, options.port, journal)
    journal.say(f"campaign {options.campaign}, {options.times} times, seed {options.seed}, folder {folder}")
    summary = "broken off"
    # Whoever ends the campaign ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        summary = CAMPAIGNS[options.campaign][0](installation, verdict, options)
    except Exception as e:  # the verdict must be printed, whatever happens
        verdict.fail(f"the campaign broke off: {e!r}")
        traceback.print_exc()
    finally:
        try:
            installation.down()
        except Exception as e:
            verdict.fail(f"cannot end the installation: {e!r}")
    return verdict.finish(options.campaign, f"{summary}, seed {options.seed}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
