"""Every colour, once: what it is for, on light paper and on dark pages. Figures, reports, pages and slides take theirs from here.

`book/palette.py` writes them as variables of style sheets and into the marks (`make palette`), and a test says if that
was forgotten. Blue is adequacy and orange is fluency, everywhere and for nothing else.
"""

from __future__ import annotations

COLOURS = {  # light, dark
    "paper": ("#fdfdfb", "#16191d"),  # the ground of pages and figures
    "ink": ("#24292f", "#dcdedf"),
    "soft": ("#565f69", "#a5adb5"),  # captions, signatures, navigation
    "line": ("#dcdbd4", "#383e45"),
    "rule": ("#c9c8c2", "#383e45"),  # lines of a printed sheet
    "tint": ("#f5f4ef", "#20252a"),  # code, hover
    "edge": ("#24292f2e", "#dcdedf40"),  # the shadow of what is out of sight
    "wall": ("#e9e8e2", "#0c0e10"),  # around a slide
    "adequacy": ("#0b62a4", "#77b5e8"),
    "adequacy-tint": ("#f1f5f8", "#1a232c"),
    "fluency": ("#d9680f", "#f0924a"),  # differs from adequacy in lightness, too: it survives grey printing
    "fluency-text": ("#a84a04", "#f2a063"),  # as text the other would be too pale
    "fluency-tint": ("#fbf4ec", "#272019"),
    "drawn": ("#2b3036", "#dcdedf"),  # ink of figures
    "faint": ("#8a929b", "#8b949d"),
    "grid": ("#e4e4de", "#2b3036"),
    "pale": ("#d3d6d9", "#454c54"),  # lines of a crowd that only its named members stand out from
    "shade": ("#dfe9d6", "#263029"),  # the reliable interval
    "unreached": ("#b4b9be", "#4a5057"),
    "green": ("#2f8f6b", "#58c79c"),  # from here on: what is neither adequacy nor fluency
    "purple": ("#9b59b6", "#c890e0"),
    "rose": ("#b5446e", "#ee86ab"),
    "olive": ("#6f7b16", "#b9c65a"),
    "teal": ("#127f84", "#4fc3c8"),
    "brown": ("#7a4b57", "#d0a0ab"),
    "right": ("#2a7354", "#6cc49a"),  # an answer, or a claim that holds
    "wrong": ("#a8324a", "#ef8fa0"),
    "differs": ("#76489f", "#bea1e4"),
    "unobtainable": ("#646d75", "#a0a9b1"),
    "setup": ("#6b6233", "#cbbf83"),
    "on-mark": ("#ffffff", "#16191d"),
}
LIGHT = {name: light for name, (light, _) in COLOURS.items()}
DARK = {name: dark for name, (_, dark) in COLOURS.items()}
