"""A Python that has loaded what jobs import, for the many short jobs of the studies that tests run.

``serve`` loads the packages below once, and then forks a process for every command that a client sends. The client is
this file, too: it takes Python's place, hands on its arguments, folder, environment and streams, and ends with the
command's exit code. Nothing of fairfold is loaded beforehand: each command finds its own, as it would without.
"""

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
from pathlib import Path

PACKAGES = (
    "jinja2",
    "jsonschema",
    "matplotlib.pyplot",
    "numba",
    "pandas",
    "requests",
    "scipy.stats",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "sklearn.svm",
    "snakemake.cli",
    "snakemake.script",
    "tqdm",
)
N_BYTES = 8  # of the length that comes before a message


def serve(path: str) -> None:
    """Load the packages, say so, and fork a process for every client that connects, until standard input ends."""
    for name in PACKAGES:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # else the collector of each child would copy all of it
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        print("ready", flush=True)
        while sys.stdin not in select.select([sys.stdin, listener], [], [])[0]:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                return attend(connection)
            connection.close()


def attend(connection: socket.socket) -> None:
    """Run a client's command in a process of its own, which does not outlive the client."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, streams, _, _ = socket.recv_fds(connection, N_BYTES, 3)
    with connection.makefile("rb") as stream:
        folder, environment, python, arguments = json.loads(stream.read(int.from_bytes(head, "big")))
    process = os.fork()
    if process == 0:
        os.setsid()  # as a group it can be ended with all that it starts, whose clients end their own
        connection.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        return run(python, arguments)
    for stream in streams:
        os.close(stream)
    watched = os.pidfd_open(process)
    ready, _, _ = select.select([watched, connection], [], [])
    if watched in ready:
        _, status = os.waitpid(process, 0)
        connection.sendall(bytes([os.waitstatus_to_exitcode(status) % 256]))
    else:
        os.killpg(process, signal.SIGKILL)
    os._exit(0)


def run(python: str, arguments: list[str]) -> None:
    """What ``python *arguments`` does."""
    sys.path[1:1] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = str(Path.cwd())
        if arguments[1] == "snakemake":
            sys.executable = python  # of the jobs
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = str(Path(arguments[0]).absolute().parent)
        runpy.run_path(arguments[0], run_name="__main__")


def send(path: str, python: str, arguments: list[str]) -> int:
    """Have a command run; returns its exit code."""
    message = json.dumps([str(Path.cwd()), dict(os.environ), python, arguments]).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [len(message).to_bytes(N_BYTES, "big")], [0, 1, 2])
        connection.sendall(message)
        code = connection.recv(1)
    return code[0] if code else 1


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        sys.exit(send(sys.argv[2], sys.argv[3], sys.argv[4:]))
