"""fairfold: which multilabel classifier to trust when labels are many, skewed and partly missing."""

import hashlib
import os
import sys
from pathlib import Path

__version__ = "0.1.0"


def _cache_of_compiled_code() -> Path:
    """Folder of Numba's cache, named after all compiled sources.

    Numba looks for changes in the file of a function only, not in those of the compiled functions that it calls: after
    an update of these it would go on with old code.
    """
    sources = (path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py")))
    checksum = hashlib.sha256(b"".join(source for source in sources if b"njit" in source)).hexdigest()
    return Path(__file__).parent / "__pycache__" / f"compiled-{checksum[:16]}"


os.environ.setdefault("NUMBA_CACHE_DIR", str(_cache_of_compiled_code()))
if "numba" in sys.modules:  # which read the environment when it was imported
    sys.modules["numba"].config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"]
