"""The weighting of a pool at a target balance: the published search with its certificate, and the solver people call.

May import from `core`.
"""
