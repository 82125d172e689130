"""Many calls of a function by workers: processes on this machine, or a Dask cluster."""
