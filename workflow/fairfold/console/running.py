"""Run Snakemake with a progress bar on the screen and all messages in a log file."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from fairfold.console.plan import trainings_of_jobs
from fairfold.console.stopping import Stopper, stopped_by_signals
from fairfold.core.config import load_yaml
from fairfold.core.machine import check_space
from fairfold.core.project import PROJECT
from fairfold.errors import CONTINUES, ConfigError, DataError, StudyError, count, listed

if TYPE_CHECKING:
    from fairfold.settings import Study

LOG = Path("logs", "study.log")
LOG_OF = "Log of the"
"""Start of the lines of an error that name logs."""
"""Log file of a study in its folder."""
LOCK = "fairfold-command"
"""Name of the lock of a command that changes a study."""
_PACKAGES = Path(".snakemake", "pip-deployments")  # Snakemake adds it to the path of Python.
_CORRECT_FIRST = "Correct the table or the options of the command, then rerun it."
_READ_DATA = ("prepare_dataset", "set_samples_aside", "describe_study")  # rules
_OF_DATA = ("CellError", "DataError")
_ERROR = re.compile(r"^(\w*(?:Error|Exception)): (.+)$", re.MULTILINE)
_MOST_STEPS = 3  # failed steps in a message
_MOST_LINES = 12  # last lines in a message
_SECONDS_BETWEEN_LINES = 15
_CONFIGURED = "--configfile="
_INTRODUCED = "describe_study"  # rule that the introduction needs
_UNIMPORTANT = ("Using workflow specific profile", "Complete log(s)", "Exiting because a job execution failed")


def snakemake_command(folder: Path, *words: str, cores: str = "1") -> list[str]:
    """Return the command that runs Snakemake in the folder of a study.

    Parameters
    ----------
    folder : Path
        Folder of the study.
    *words : str
        Targets and options. Targets come first, because some options take all words up to the next option.
    cores : str, default="1"
        Number of cores, or ``"all"``.

    Returns
    -------
    list of str
        Words of the command.
    """
    # Without this option, Snakemake would prefer a profile of the current folder, whose expressions it evaluates.
    profile = f"--workflow-profile={PROJECT / 'profiles' / 'default'}"
    command = [sys.executable, "-m", "snakemake", profile, *words, "--snakefile", str(PROJECT / "Snakefile")]
    return [*command, f"--directory={folder}", "--cores", cores]


def check_file(path: Path, option: str = "") -> None:
    """Check that a file of the command line exists.

    Parameters
    ----------
    path : Path
        The file.
    option : str, default=""
        Option that names it.

    Raises
    ------
    DataError
        If the file does not exist, or is a folder, a pipe or a device.
    """
    from fairfold.tables.rows import check_is_file

    check_is_file(path)
    if not path.is_file():
        raise DataError(f"{f'{option}: ' if option else ''}there is no file {path} in {Path.cwd()}. Check the path.")


class Run:
    """A run of Snakemake.

    Parameters
    ----------
    folder : Path
        Folder of the study.
    stream : file object
        Log file.
    say : callable, default=str
        Function that converts a line of the log for the screen.
    study : Study or None, default=None
        Checked configuration, from which trainings are counted before they are announced.
    """

    def __init__(
        self, folder: Path, stream: IO[str], say: Callable[[str], str] = str, study: Study | None = None
    ) -> None:
        from snakemake_logger_plugin_fairfold import Console

        self.folder, self.stream, self.say, self.study = folder, stream, say, study
        self.console = Console(sys.stderr, _SECONDS_BETWEEN_LINES)
        self.shown: set[str] = set()
        self.failed: dict[str, list[str]] = {}  # log files of each failed step
        self.last_lines: deque[str] = deque(maxlen=_MOST_LINES)
        self.is_introduced = False

    def execute(self, command: Sequence[str], stopper: Stopper) -> int:
        """Run Snakemake to its end.

        Parameters
        ----------
        command : sequence of str
            Command of Snakemake.
        stopper : Stopper
            Starts the process.

        Returns
        -------
        int
            Exit status.
        """
        from snakemake_logger_plugin_fairfold import EVENTS

        process = stopper.start(
            command,
            env={**os.environ, EVENTS: "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
        with process, self.console.refreshed():
            for line in process.stdout or ():
                self._read(line.rstrip("\n"))
        if not process.returncode:
            self._introduce()  # if there was nothing to be done
        self.console.bar.close()
        return process.returncode

    def _read(self, line: str) -> None:
        """Handle a line of output: an event, a warning or another message."""
        from snakemake_logger_plugin_fairfold import EVENT

        text, mark, event = line.partition(EVENT)
        method, *arguments = json.loads(event) if mark else [""]
        if method == "log":
            print(*arguments, file=self.stream, flush=True)
        elif method:
            self._handle(method, arguments)
        if text:
            print(text, file=self.stream, flush=True)
            if not text.startswith(_UNIMPORTANT):
                self.last_lines.append(text)
            if text.startswith(("warning: ", "error: ")):
                self._show(text)

    def _handle(self, method: str, arguments: list) -> None:
        if method == "fail":
            self.failed[arguments[1]] = arguments[2]
        getattr(self.console, method)(*arguments)
        if method == "plan" and self.study is not None:
            self.console.expect(trainings_of_jobs(self.console.waiting, self.study))
        if method in ("plan", "finish") and self.console.waiting[_INTRODUCED] <= 0:
            self._introduce()

    def _introduce(self) -> None:
        if not self.is_introduced:
            self.is_introduced = True
            for line in introduction(self.folder / "results"):
                self._show(line)

    def _show(self, line: str) -> None:
        """Show a line once."""
        if line not in self.shown:
            self.shown.add(line)
            self.console.write(self.say(line))

    def failure(self) -> StudyError:
        """Describe why the run failed.

        Returns
        -------
        StudyError
            Error that names the failed steps, the reasons and the log files.
        """
        lines = [line for step, logs in self.failed.items() for line in self._about_step(step, logs)]
        if not lines:
            lines = ["The study failed:", *self.last_lines]
        advice = _CORRECT_FIRST if self._is_data_refused() else CONTINUES
        return StudyError("\n".join([*lines, f"{LOG_OF} study: {self.folder / LOG}", advice]))

    def _is_data_refused(self) -> bool:
        """Return whether an error of the data stopped the study, so that the same command would fail again."""
        if len(self.failed) != 1 or (step := next(iter(self.failed))) not in _READ_DATA:
            return False
        _, errors = self._errors_of(self.failed[step])
        return bool(errors) and errors[-1][0] in _OF_DATA and "run the same command" not in errors[-1][1]

    def _about_step(self, step: str, logs: list[str]) -> Iterator[str]:
        if step not in [*self.failed][:_MOST_STEPS]:
            return
        log, errors = self._errors_of(logs)
        yield f"Step {step} failed{f': {errors[-1][1]}' if errors else '.'}"
        if log:
            yield f"{LOG_OF} step: {log}"

    def _errors_of(self, logs: Sequence[str]) -> tuple[Path | None, list[tuple[str, str]]]:
        """Return the first log file that exists, and the classes and messages of the errors in it."""
        log = next((path for path in (self.folder / name for name in logs) if path.is_file()), None)
        return log, _ERROR.findall(log.read_text(encoding="utf-8", errors="replace")) if log else []


def jobs_to_run(command: Sequence[str], folder: Path) -> dict[str, int]:
    """Count the jobs that Snakemake would run.

    Parameters
    ----------
    command : sequence of str
        Command of Snakemake without ``--dry-run``.
    folder : Path
        Folder of the study.

    Returns
    -------
    dict of str to int
        Number of jobs of each rule.

    Raises
    ------
    StudyError
        If Snakemake cannot plan the study.
    """
    _check_no_packages(folder)
    with Path(os.devnull).open("w") as stream, stopped_by_signals() as stopper:
        run = Run(folder, stream)
        run.is_introduced = True
        if run.execute([*command, "--dry-run"], stopper):
            raise run.failure()
    return {rule: n for rule, n in run.console.waiting.items() if n}


def _check_no_packages(folder: Path) -> None:
    for place in (folder / _PACKAGES, _PACKAGES):
        if place.exists():
            raise StudyError(f"{place.absolute()}: Snakemake would import packages from here. Delete this folder.")


def _study_of(path: Path) -> Study | None:
    """Return the study of a configuration file, or None if there is no file or no dataset to compare."""
    from fairfold.planning.check import check_config

    with suppress(ConfigError):  # All datasets of the comparison may be left out.
        if path.is_file():
            return check_config(load_yaml(path))
    return None


def introduction(results: Path) -> Iterator[str]:
    """Describe the user's own data with their warnings, and the plan of the study.

    Parameters
    ----------
    results : Path
        Folder of results.

    Yields
    ------
    str
        A line. There are none if the study has no data of the user, or the target does not need their tables.
    """
    from fairfold.console.options import in_options
    from fairfold.core.files import read_table
    from fairfold.datasets.audit import finding_lines
    from fairfold.datasets.audit.columns import ROLES_FOUND
    from fairfold.planning.forecast import LARGE_TABLE, forecast

    study = _study_of(results / "config.yaml")
    if study is None or not (results / "tables" / "datasets.csv").is_file():
        return
    own, labels = study.data.own, study.weak_labels
    sizes = read_table(results / "tables" / "datasets.csv").set_index("dataset")
    for name in (name for name in own if name in sizes.index):
        audit = read_table(results / "datasets" / f"{name}.audit.csv")
        yield from (lines := finding_lines(audit))
        shape = ", ".join(count(sizes.loc[name, f"n_{noun}s"], noun) for noun in ("sample", "feature", "label"))
        n_warnings = count(len(lines), "data warning") if lines else "The audit found no fault in the data"
        yield f"{Path(own[name].path).name}: {shape}. {n_warnings}."
        yield from (f"{in_options(note)}." for note in audit.loc[audit["check"] == ROLES_FOUND, "message"])
    if own:
        models, n_folds = count(len(labels.models), "model"), study.folds.n_splits * study.folds.n_repeats
        n = len(labels.models) * len(labels.datasets) * len(labels.missing_rates) * n_folds
        hidden = "/".join(str(rate) for rate in labels.missing_rates if rate)
        tried = "on the labels as they are" if 0 in labels.missing_rates else ""
        tried += (" and " if tried and hidden else "") + (f"with {hidden} % of the positives hidden" if hidden else "")
        if any(dataset.folds or dataset.hold_out for dataset in own.values()):  # other numbers of folds
            yield f"{models}, {tried}."
        else:
            is_elsewhere = bool(labels.elsewhere.datasets)
            jobs = {"compare_models": 1, "score_elsewhere": is_elsewhere, "fit_final_model": study.final.fit}
            n_more = len(labels.datasets) * sum(trainings_of_jobs(jobs, study).values()) - n
            parts = {"the learning curve": labels.sample_curves.datasets, "unlike samples": is_elsewhere}
            parts |= {"the final model": study.final.fit}
            up_to = "up to " if is_elsewhere else ""
            more = f", and {up_to}{n_more} more for {listed([part for part in parts if parts[part]])}" if n_more else ""
            yield f"{models} in {count(n_folds, 'fold')}, {tried}: {count(n, 'training')}{more}."
    for name in own:
        if name in sizes.index and sizes.loc[name, "n_samples"] >= LARGE_TABLE:
            n_samples, n_features, n_labels = sizes.loc[name, ["n_samples", "n_features", "n_labels"]]
            expected = forecast(n_samples, n_features, n_labels, n // len(labels.datasets))
            yield f"Expected: {expected}."


def run_study(
    command: Sequence[str], folder: Path, *, is_verbose: bool = False, say: Callable[[str], str] = str
) -> None:
    """Run Snakemake, and print the progress and the run time.

    Parameters
    ----------
    command : sequence of str
        Command of Snakemake.
    folder : Path
        Folder of the study.
    is_verbose : bool, default=False
        Whether Snakemake writes its messages to the screen instead of the log file.
    say : callable, default=str
        Function that converts a line of the log for the screen.

    Raises
    ------
    StudyError
        If the run fails, or the folder contains packages that Snakemake would import.
    InterruptedStudyError
        If SIGINT, SIGTERM or SIGHUP ends the run, after all its processes have ended.
    """
    _check_no_packages(folder)
    began, log = time.monotonic(), folder / LOG
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as stream, stopped_by_signals() as stopper:
        configured = [word.removeprefix(_CONFIGURED) for word in command if word.startswith(_CONFIGURED)]
        run = Run(folder, stream, say, _study_of(Path(*configured[-1:])))
        status = stopper.start(command).wait() if is_verbose else run.execute(command, stopper)
    if status:
        check_space(folder)
        raise StudyError(f"The study failed; see above. {CONTINUES}") if is_verbose else run.failure()
    if not is_verbose:
        n_jobs, seconds = run.console.n_jobs, round(time.monotonic() - began)
        took = f"{seconds // 60} min {seconds % 60:02d} s" if seconds >= 60 else f"{seconds} s"
        done = f"[{'#' * 20}] {n_jobs} jobs done in {took}" if n_jobs else "All results are up to date"
        print(f"{done}   (log: {log})", file=sys.stderr, flush=True)
