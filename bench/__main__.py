"""make bench: every comparison, one after the other."""

import importlib
import pkgutil
from pathlib import Path

for module in sorted(m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)]) if not m.name.startswith("_")):
    print(f"\n== {module}\n")
    importlib.import_module(f"bench.{module}").main()
