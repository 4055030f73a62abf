"""Python server with preloaded packages for the many short jobs of the studies that tests run.

It imports the packages below, warms up those with lazy imports, and then forks a process for each command of a client,
which replaces Python. It never imports fairfold, so each command finds its own copy as usual.
"""

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import threading
import traceback
import types
from pathlib import Path

PACKAGES = (
    "contourpy",
    "docutils.core",
    "jinja2",
    "matplotlib.pyplot",
    "nbformat",
    "numba",
    "numpy",
    "pandas",
    "platformdirs",
    "pydantic",
    "requests",
    "scipy.io",
    "scipy.optimize",
    "scipy.stats",
    "sklearn.datasets",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "sklearn.svm",
    "snakemake.cli",
    "snakemake.report.html_reporter",
    "snakemake.script",
    "snakemake.storage",
    "tqdm",
    "yte",
)
N_BYTES = 8  # length prefix of a client message


def serve(path: str) -> None:
    """Load the packages, report it, and fork a process for each client until standard input ends."""
    packages = {name: importlib.import_module(name) for name in PACKAGES}
    packages["numba"].njit(lambda values: values.sum())(packages["numpy"].zeros(1))
    draw_something(packages["matplotlib.pyplot"])
    gc.collect()
    gc.freeze()  # otherwise the collector of each child would copy all objects
    with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as events:
        listener.bind(path)
        listener.listen(64)
        events.register(listener, selectors.EVENT_READ, lambda: begin(listener.accept()[0], events))
        events.register(sys.stdin, selectors.EVENT_READ, sys.exit)
        print("ready", flush=True)
        while True:
            for key, _ in events.select():
                key.data()


def draw_something(pyplot: types.ModuleType) -> None:
    """Draw a figure to find fonts and load the writers."""
    with pyplot.rc_context({"pdf.fonttype": 42}):
        figure = pyplot.figure(layout="constrained")
        figure.add_subplot(title="$x$")
        for kind in ("pdf", "png"):
            figure.savefig(io.BytesIO(), format=kind)
        pyplot.close(figure)


def begin(connection: socket.socket, events: selectors.BaseSelector) -> None:
    """Run a client's command in a new process, which does not outlive the client."""
    streams = []
    try:
        head, streams, _, _ = socket.recv_fds(connection, N_BYTES, 3)
        with connection.makefile("rb") as stream:
            folder, environment, python, arguments = json.loads(stream.read(int.from_bytes(head, "big")))
    except (OSError, ValueError):  # the client was killed while it was sending
        for descriptor in (connection.detach(), *streams):
            os.close(descriptor)
        return
    process = os.fork()
    if process == 0:
        os.setpgid(0, 0)
        for descriptor in (connection.fileno(), *events.get_map()):
            os.close(descriptor)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        os._exit(run(python, arguments))  # regular cleanup would take longer than most jobs
    with contextlib.suppress(OSError):  # the child was first or has ended
        os.setpgid(process, process)  # allows killing it with its children; their clients end their own
    for stream in streams:
        os.close(stream)
    Command(process, connection, events)


class Command:
    """Process of a client's command; either may end first."""

    def __init__(self, process: int, connection: socket.socket, events: selectors.BaseSelector) -> None:
        self.process, self.connection, self.events = process, connection, events
        self.watched = os.pidfd_open(process)
        self.has_ended = False
        events.register(self.watched, selectors.EVENT_READ, self.end)
        events.register(connection, selectors.EVENT_READ, self.kill)

    def kill(self) -> None:
        """Kill the command after the client has ended."""
        if not self.has_ended:  # both may end at the same time
            os.killpg(self.process, signal.SIGKILL)
            self.events.unregister(self.connection)

    def end(self) -> None:
        """Send the exit code after the process has ended."""
        self.has_ended = True
        _, status = os.waitpid(self.process, 0)
        self.events.unregister(self.watched)
        os.close(self.watched)
        with contextlib.suppress(KeyError, BrokenPipeError):  # the client has ended too
            self.events.unregister(self.connection)
            self.connection.sendall(bytes([os.waitstatus_to_exitcode(status) % 256]))
        self.connection.close()


def run(python: str, arguments: list[str]) -> int:
    """Run ``python *arguments``, flush its output and return its exit code."""
    sys.path[1:1] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    is_safe = arguments[0] == "-P" or bool(os.environ.get("PYTHONSAFEPATH"))
    arguments = arguments[arguments[0] == "-P" :]
    try:
        if arguments[0] == "-m":
            sys.argv = arguments[1:]
            sys.path[:1] = [] if is_safe else [str(Path.cwd())]
            if arguments[1] in ("fairfold", "snakemake"):
                sys.executable = python  # for child processes
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = arguments
            sys.path[:1] = [] if is_safe else [str(Path(arguments[0]).absolute().parent)]
            runpy.run_path(arguments[0], run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    if not isinstance(code, int):
        code = print(code, file=sys.stderr) or 1 if code is not None else 0
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


if __name__ == "__main__":
    serve(sys.argv[1])
