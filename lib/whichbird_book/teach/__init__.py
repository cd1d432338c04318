"""Checks for students: what the book's exercises accept, without saying what it is. Imports nothing of the other modules.

`check` compares an answer with salted hashes in `key.json`, which `book/course/key.py` makes from the book's own solutions.
"""
