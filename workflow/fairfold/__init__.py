"""fairfold: which multilabel classifier to trust when labels are many, skewed and partly missing."""

import hashlib
import os
import re
import sys
from pathlib import Path

__version__ = "0.1.0"
_LIBRARY = Path(__file__).parent
# each process that starts waits for these searches
_COMPILED = re.compile(rb"\n(?:import numba|from numba|@(?:inner_)?njit)")
_IMPORT = re.compile(rb"^from fairfold\.([\w.]+) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)
_CONSTANT = re.compile(rb"\b[A-Z][A-Z0-9_]+\b")


def _cache_of_compiled_code() -> Path:
    """Folder of Numba's cache, named after all sources of compiled code.

    Numba looks for changes in the file of a function only, not in those of the compiled functions that it calls, of
    what makes code for them, or of constants that are compiled into it: after an update of these it would go on with
    old code.
    """
    sources = {path.relative_to(_LIBRARY).as_posix(): path.read_bytes() for path in sorted(_LIBRARY.rglob("*.py"))}
    compiled = {name for name, source in sources.items() if _COMPILED.search(b"\n" + source)}
    imports = (found for name in compiled for found in _IMPORT.findall(sources[name]))
    homes = {module.decode().replace(".", "/") for module, *names in imports if _CONSTANT.search(b" ".join(names))}
    compiled |= sources.keys() & {f"{home}{end}" for home in homes for end in (".py", "/__init__.py")}
    checksum = hashlib.sha256(b"".join(sources[name] for name in sorted(compiled))).hexdigest()
    return _LIBRARY / "__pycache__" / f"compiled-{checksum[:16]}"


os.environ["NUMBA_CACHE_DIR"] = os.environ.get("NUMBA_CACHE_DIR") or str(_cache_of_compiled_code())
if "numba" in sys.modules:  # which read the environment when it was imported
    sys.modules["numba"].config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"]
