"""
Client of Quartermaster.

`Client` submits jobs and follows them. `on_preempt`, `checkpoint_dir` and the functions beside them are for the programs
that run as jobs. `quartermaster.generated` has all calls of the API; they take `Client.api`.
"""

from .client import Client
from .errors import (
    ConfigurationError,
    JobFailed,
    NotInJob,
    NotSignedIn,
    ProblemError,
    QuartermasterError,
    RefusedField,
    ServiceUnavailable,
)
from .job import Job
from .logs import LogLine
from .preemption import (
    STOP_NOTICE,
    Stop,
    attempt,
    checkpoint_dir,
    in_job,
    node_count,
    node_rank,
    on_preempt,
    stop_requested,
)
from .version import VERSION as __version__

__all__ = [
    "STOP_NOTICE",
    "Client",
    "ConfigurationError",
    "Job",
    "JobFailed",
    "LogLine",
    "NotInJob",
    "NotSignedIn",
    "ProblemError",
    "QuartermasterError",
    "RefusedField",
    "ServiceUnavailable",
    "Stop",
    "__version__",
    "attempt",
    "checkpoint_dir",
    "in_job",
    "node_count",
    "node_rank",
    "on_preempt",
    "stop_requested",
]
