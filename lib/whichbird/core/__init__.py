"""Arrays in, arrays out: the checks every array passes, one balance, p-values, meta-metrics, augmented scorers.

Imports nothing of the other rooms.
"""
