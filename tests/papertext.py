"""The number tokens of the paper's source, outside formulas and references; for the test that each belongs to a claim."""

import re

# Commands whose arguments are no text of the paper: addresses, labels, lengths, layouts.
DROPPED = [
    r"(?<!\\)%.*",
    r"\\(?:cite\w*)(?:\[[^\]]*\])*\{[^}]*\}",
    r"\\(?:ref|eqref|label|vspace|includegraphics|bibliography|bibliographystyle|usepackage|documentclass|setlength|cmidrule|multirow|rotatebox|resizebox|hspace)"
    r"(?:\([^)]*\))?(?:\[[^\]]*\])*(?:\{[^{}]*\})*",
    r"\\href\{[^}]*\}\{[^}]*\}",
    r"\\begin\{tabular\}(?:\[[^\]]*\])?\{(?:[^{}]|\{[^{}]*\})*\}",
    r"\\multicolumn\{\d+\}\{[^}]*\}",
    r"\\begin\{algorithmic\}\[\d\]",
    r"\\texttt\{[^}]*\}",
]
FORMULAS = [r"\\begin\{(align\*?|equation\*?)\}.*?\\end\{\1\}", r"\$[^$]*\$"]
ONLY_A_NUMBER = re.compile(r"\$\s*(-?\d[\d{},]*(?:\.\d+)?\s*(?:\\%)?)\s*\$")
TOKEN = re.compile(r"(?<![\w.\-–])-?\d[\d{},]*(?:\.\d+)?(?![\w]*-)(?:[KMB]\b|\s?\\%)?(?![\d.]*[A-Za-z_])")


def plain(source):
    """The source without what is no prose; a number that stands alone between dollars is prose."""
    body = source.partition(r"\begin{document}")[2]
    body = ONLY_A_NUMBER.sub(r" \1", body)
    for pattern in DROPPED[:1]:
        body = re.sub(pattern, "", body)
    for pattern in FORMULAS:
        body = re.sub(pattern, " FORMULA ", body, flags=re.S)
    for pattern in DROPPED[1:]:
        body = re.sub(pattern, " ", body)
    return body.replace(r"\_", "_")


def tokens(text):
    r"""The numbers in a piece of prose, as they stand there.

    >>> tokens(r"in ende24 99.1\% of 554 pairs, 26{,}304.8M FLOPs, BLEURT-20 and Case 2.3")
    ['99.1\\%', '554', '26{,}304.8M', '2.3']
    """
    return [found[0] for found in TOKEN.finditer(text)]


def parts(source):
    """The paper in pieces: (section, label of the table it is, or "", text)."""
    section, out = "Abstract", []
    letters = iter("ABCDEFG")
    numbered = iter("12345")
    appendix = False
    pattern = r"(\\begin\{table\*?\}.*?\\end\{table\*?\}|\\section\*?\{[^}]*\}|\\appendix)"
    labels = re.findall(r"\\begin\{table\*?\}.*?\\label\{(tab:[^}]*)\}.*?\\end\{table\*?\}", source, flags=re.S)
    tables = iter(labels)
    for piece in re.split(pattern, source.partition(r"\begin{document}")[2], flags=re.S):
        if piece == r"\appendix":
            appendix = True
        elif piece.startswith(r"\section{"):
            section = next(letters) if appendix else next(numbered)
        elif piece.startswith(r"\begin{table"):
            out.append((section, next(tables), plain(r"\begin{document}" + piece)))
        elif not piece.startswith(r"\section*"):
            out.append((section, "", plain(r"\begin{document}" + piece)))
    return out
