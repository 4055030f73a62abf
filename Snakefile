# The workflow lives in workflow/; this lets both `snakemake` here and the workflow catalog find it.


include: "workflow/Snakefile"


# An included file cannot name the default target, so it is named here again.
rule study:
    default_target: True
    input:
        rules.all.input,
