"""A style for the list of references: entries are labelled by author and year, as the chapters cite them, not by a code."""

from pybtex.plugin import register_plugin
from pybtex.style.formatting.alpha import Style as Alpha


def label(entry) -> str:
    """One name, two, or the first and "et al.", then the year as the entry has it (2021a and 2021b where two would look alike)."""
    names = [" ".join([*p.prelast_names, *p.last_names]) for p in entry.persons["author"]]
    pair = len(names) == 2 and names[1] != "others"
    who = names[0] if len(names) == 1 else " and ".join(names) if pair else f"{names[0]} et al."
    return f"{who}, {entry.fields['year']}"


class Labels:
    """Pybtex asks a style of labels for one string an entry."""

    def format_labels(self, entries):
        return map(label, entries)


class Style(Alpha):
    default_label_style = "authoryear"


def setup(app):
    register_plugin("pybtex.style.labels", "authoryear", Labels)
    register_plugin("pybtex.style.formatting", "authoryear", Style)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
