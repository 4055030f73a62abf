#!/bin/sh
# Prints the first Python that fits: 3.11 to 3.13, able to make virtual environments.
for candidate in "${PYTHON:-python3}" python3 python3.13 python3.12 python3.11 python; do
  if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null
  then
    command -v "$candidate"
    exit 0
  fi
done
echo "fairfold needs Python 3.11, 3.12 or 3.13 with venv (on Debian and Ubuntu: the package python3-venv)." >&2
echo "Found: $(python3 --version 2>&1). Install one, or name it: make PYTHON=/path/to/python3.12 ..." >&2
exit 1
