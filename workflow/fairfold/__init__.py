"""fairfold: compare multilabel classifiers on data with many, imbalanced and partly missing labels."""

import sys

if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
    # `python -m` puts the current folder first on the path, where a file such as random.py would hide the module.
    del sys.path[0]

import hashlib
import os
import re
import tempfile
from pathlib import Path

import platformdirs

from fairfold.core.private import private_folder

__version__ = "0.1.0"


def _key_of_compiled_code() -> str:
    """Hash the modules that import Numba and those that they import, because constants are compiled, too."""
    library = Path(__file__).parent
    sources = {path.relative_to(library).as_posix(): path.read_bytes() for path in sorted(library.glob("*/*.py"))}
    compiled = {name for name, source in sources.items() if b"from numba" in source}
    for name in sorted(compiled):
        imported = re.findall(rb"^from fairfold\.([\w.]+) import", sources[name], re.MULTILINE)
        compiled |= sources.keys() & {f"{module.decode().replace('.', '/')}.py" for module in imported}
    return hashlib.sha256(b"".join(sources[name] for name in sorted(compiled))).hexdigest()[:16]


def _choose_cache_folder() -> str:
    """Return a cache folder for compiled code that is named after a hash of its sources.

    Numba detects changes of a file, but not changes of compiled functions that the file calls.
    """
    key, chosen = _key_of_compiled_code(), os.environ.get("NUMBA_CACHE_DIR")
    if chosen and Path(chosen).name == key:  # The parent process chose this folder.
        return chosen
    try:
        folder = Path(chosen).absolute() if chosen else platformdirs.user_cache_path("fairfold-compiled")
        return str(private_folder(folder / key))
    except (OSError, RuntimeError):  # No permission, or no home folder.
        return tempfile.mkdtemp(prefix="fairfold-compiled-")


os.environ["NUMBA_CACHE_DIR"] = _choose_cache_folder()
if "numba" in sys.modules:  # Numba reads the variable only when it is imported.
    sys.modules["numba"].config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"]
