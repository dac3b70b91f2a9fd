"""
A program that survives a preemption, in the form of a training: it counts steps, and continues from its last checkpoint.

Replace `run_step` and the content of the checkpoint with your own. STEPS and STEP_SECONDS choose how long it runs.
"""

import json
import os
import time

import quartermaster

STEPS = int(os.environ.get("STEPS", "100"))
STEP_SECONDS = float(os.environ.get("STEP_SECONDS", "1"))
STEPS_PER_CHECKPOINT = 50

checkpoint = quartermaster.checkpoint_dir("checkpoints") / "state.json"


def run_step() -> None:
    time.sleep(STEP_SECONDS)


def save(step: int) -> None:
    """Replaces the checkpoint in one step, so that an end in the middle leaves the old one."""
    unfinished = checkpoint.with_suffix(".next")
    unfinished.write_text(json.dumps({"step": step}))
    unfinished.replace(checkpoint)


def load() -> int:
    return int(json.loads(checkpoint.read_text())["step"]) if checkpoint.exists() else 0


def main() -> None:
    quartermaster.on_preempt()
    step = load()
    print(f"begins after step {step}", flush=True)
    while step < STEPS:
        run_step()
        step += 1
        print(f"step {step}", flush=True)
        stop = quartermaster.stop_requested()
        if stop or step % STEPS_PER_CHECKPOINT == 0:
            save(step)
        if stop:
            print(f"saved step {step} ({stop.reason}, {stop.seconds_left or 0:.0f} s left)", flush=True)
            return
    print("trained", flush=True)


if __name__ == "__main__":
    main()
