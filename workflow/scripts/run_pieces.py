"""Run the small jobs of one unit in this process: each in a child of its own, what is known taken as it is."""

import sys
from pathlib import Path

import adapter
from adapter import logged
from fairfold.core.pieces import Piece, run_pieces

SCRIPTS = Path(adapter.__file__).parent

if __name__ == "__main__":  # where children are not copies, each reads this file once more
    with logged(snakemake.log):
        shared = {"config": snakemake.config, "threads": 1}
        stages = [
            [Piece(str(SCRIPTS / each["script"]), {**shared, **each["given"]}, each["benchmark"]) for each in stage]
            for stage in snakemake.params.stages
        ]
    # not into the log, as each has its own, and says on the screen what a user can mend
    store = Path(".snakemake", "pieces")
    if failed := run_pieces(stages, snakemake.threads, store, lambda: logged(snakemake.log)):
        sys.exit(f"Of the jobs of {snakemake.rule}, these failed, as their logs say: {', '.join(failed)}.")
