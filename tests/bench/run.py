"""Speed in CPU-seconds, beside the roofline measured in the same run. Prints one JSON object. Run by `make bench`.

The roofline counts rows for each second of user plus system time of its whole process; the project's own figures are
the best of three processes each, as is the roofline.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOFLINE_ROWS = 20_000_000
RUNS = 3
KINDS = {
    "domain_files": "files",
    "draws": "uniforms",
    "personas": "personas",
    "actors": "personas",
    "catalogue": "items",
    "timelines": "events",
}

TARGETS: dict[str, dict[str, float]] = {
    "personas": {"personas_per_cpu_second": 200_000, "peak_mib": 600},
    "actors": {"personas_per_cpu_second": 200_000, "peak_mib": 600},
    "timelines": {"ratio_to_roofline": 0.05, "peak_mib": 1536},
}
"""At least so many a CPU-second, of a million people or as a share of the roofline; at most so much memory."""


def child_cpu_seconds(command: list[str]) -> tuple[float, str]:
    """User plus system time of one child, and what it printed."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def roofline(folder: Path) -> float:
    """Rows per CPU-second, best of three."""
    command = [sys.executable, "-m", "tests.bench.roofline", str(ROOFLINE_ROWS), str(folder / "roofline.parquet")]
    return max(ROOFLINE_ROWS / child_cpu_seconds(command)[0] for _ in range(RUNS))


def best_of(kind: str, folder: Path) -> dict[str, Any]:
    """The run with the least CPU-seconds of three."""
    command = [sys.executable, "-m", "tests.bench.work", kind, str(folder)]
    results = [json.loads(child_cpu_seconds(command)[1]) for _ in range(RUNS)]
    return min(results, key=lambda result: float(result["cpu_seconds"]))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        top = roofline(folder)
        report: dict[str, Any] = {"roofline_rows_per_cpu_second": round(top)}
        for kind, unit in KINDS.items():
            result = best_of(kind, folder)
            rate = result["made"] / result["cpu_seconds"]
            report[kind] = {
                f"{unit}_per_cpu_second": round(rate),
                "ratio_to_roofline": round(rate / top, 4),
                "peak_mib": result["peak_mib"],
                "made": result["made"],
                "cpu_seconds": result["cpu_seconds"],
            }
            if kind in TARGETS:
                report[kind]["target"] = TARGETS[kind]
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
