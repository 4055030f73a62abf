"""Run the small jobs of one unit in this process: each script in a child of its own, what is known taken as it is."""

import sys
from pathlib import Path

import adapter
from adapter import logged
from fairfold.pieces import Piece, run_pieces

SCRIPTS = Path(adapter.__file__).parent

with logged(snakemake.log):
    shared = {"config": snakemake.config, "threads": 1}
    stages = [
        [Piece(str(SCRIPTS / each["script"]), {**shared, **each["given"]}, each["benchmark"]) for each in stage]
        for stage in snakemake.params.stages
    ]

# not into the log, as each has its own, and says on the screen what a user can mend
if failed := run_pieces(stages, snakemake.threads, Path(".snakemake", "pieces")):
    sys.exit(f"Of the jobs of {snakemake.rule}, these failed, as their logs say: {', '.join(failed)}.")
