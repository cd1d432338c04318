"""Numerical constants: one name, one value; what each is for stands in lib/CONSTANTS.md. Names that begin with an underscore stay in their module."""

import ast
from collections import defaultdict

import constants


def test_no_name_has_two_values():
    values = defaultdict(dict)
    for module, name, _, value in constants.constants():
        values[name][module] = value
    assert len(values) > 100
    assert [(name, there) for name, there in values.items() if len(set(there.values())) > 1] == []


def test_the_table_is_that_of_the_code():
    page = constants.PAGE.read_text("utf-8")
    assert constants.written(page) == page, (
        "run 'make map', and say in lib/CONSTANTS.md what breaks when a new constant is wrong"
    )
    assert "to be said" not in page and len(constants.rows(page)) > 70


def test_no_module_imports_a_private_name_of_another():
    found = [
        (path.name, alias.name)
        for path in constants.LIB.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "") != "__future__"
        for alias in node.names
        if alias.name.startswith("_") and not alias.name.startswith("__")
    ]
    assert found == [] or {name for _, name in found} == {"_version"}, found
