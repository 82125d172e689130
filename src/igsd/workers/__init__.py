"""Calls of a function by several workers: processes of this machine, or a Dask cluster."""
