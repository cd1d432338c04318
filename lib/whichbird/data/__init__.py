"""Files and what is made of them: readers, the registry of datasets, `Pool`, `Digest`.

May import from `core`. It never solves: what ships is made of arrays alone.
"""
