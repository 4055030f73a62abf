"""What commands share: options of a table, runs of Snakemake with progress, stops by signals, published archives."""
