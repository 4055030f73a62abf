"""Write what the study says about each dataset."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.recommendation.study_tables import write_answers

    write_answers(snakemake.input, snakemake.output[0])
