"""What people see: the look of figures, a report as a page.

May import from `core`, `solve`, `data` and `study`.
"""
