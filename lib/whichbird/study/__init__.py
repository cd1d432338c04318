"""Questions put to a dataset: contests and rankings, sweeps over β, augmentation measures, sampling, stability.

May import from `core`, `solve` and `data`.
"""
