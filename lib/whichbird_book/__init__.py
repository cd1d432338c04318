"""What only the book needs: chapters, slides, the explorer's page and the exercises. It imports `whichbird`, never the other way round.

`check`, `hint`, `points` and `student` are what a notebook of exercises asks; each is loaded when it is first asked for.
"""

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .teach.check import check as check, hint as hint, points as points, student as student

__all__ = ["check", "hint", "points", "student"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(".teach.check", __name__), name)
    globals()[name] = value
    return value
