"""Many models, each in a process with limits: their rows in a Parquet dataset; local or on a Dask cluster."""
