"""Makes `release_fakes` importable here; each folder of tests stands for itself."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
