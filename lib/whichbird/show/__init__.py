"""What people see: the look of figures, tables beside published ones, the live figures of the pages.

May import from `core`, `solve`, `data` and `study`.
"""
