"""Checks for students: what the book's exercises accept, without saying what it is. Imports from no other room.

`check` compares an answer with salted hashes in `key.json`, which `book/course/key.py` makes from the book's own solutions.
"""
