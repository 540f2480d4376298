"""Settings that must stand in the environment before Prefect or a numeric library is imported."""

from __future__ import annotations

import os
from pathlib import Path

OFFLINE = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "RAY_USAGE_STATS_ENABLED": "0",
    "GX_ANALYTICS_ENABLED": "false",
}
"""Nothing phones home; Prefect's own log lines stay out of the way."""
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS", "ARROW_NUM_THREADS"), "1"
)
"""One native thread a process: work is spread over processes."""


def prepare(out: Path, results: Path) -> bool:
    """Sets what the user has not set, and says whether Prefect will start a server of its own, which takes a while.

    Prefect's home lies under ``out`` unless the user has an API or a home of their own. Results always lie with the run.
    """
    for name, value in {**OFFLINE, **ONE_THREAD}.items():
        os.environ.setdefault(name, value)
    os.environ["PREFECT_RESULTS_LOCAL_STORAGE_PATH"] = str(results.resolve())
    has_api = "PREFECT_API_URL" in os.environ
    if not has_api:
        os.environ.setdefault("PREFECT_HOME", str((out / "prefect").resolve()))
        Path(os.environ["PREFECT_HOME"]).mkdir(parents=True, exist_ok=True)  # SQLite opens no file in a missing folder
    return not has_api
