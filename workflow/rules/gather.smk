# Tables of the same columns, one below the other

for name, (parts, whole) in GATHERED.items():

    rule:
        name:
            f"gather_{name}"
        input:
            parts,
        output:
            whole,
        log:
            f"results/logs/gather_{name}.log",
        script:
            "../scripts/tabulate.py"
