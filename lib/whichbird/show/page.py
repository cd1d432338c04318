"""A report as one HTML page that needs nothing else, and a card: the ranks of a scorer over β, small enough for a paper or a README.

Both are made from the tables of `study.portrait`. The page looks like the book: the same paper and ink, blue for adequacy and
orange for fluency and for nothing else, a dark side, and a printed one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

import pandas as pd

from ..data.protocol import ASPECTS
from ..data.registry import display, displays
from ..study.meta import METAMETRICS, SPA
from ..study.portrait import BALANCES, Tables
from ..study.significance import LEVEL
from . import palette

# The names of colours in a report, and what they are in the palette; own0 to own3 are lines of the scorers it is about
NAMES = {
    **{name: name for name in ("paper", "ink", "soft", "line", "tint", "adequacy", "fluency", "fluency-text")},
    "grey": "unreached", "own0": "ink", "own1": "green", "own2": "purple", "own3": "rose",
}  # fmt: skip
LIGHT, DARK = ({name: side[of] for name, of in NAMES.items()} for side in (palette.LIGHT, palette.DARK))
WORDS = {"low": "fluency end", "natural": "natural", "high": "adequacy end", "chosen": "chosen"}
STYLE = """
body{margin:0;background:var(--paper);color:var(--ink);font:1.05rem/1.6 Charter,"Bitstream Charter","Sitka Text",Cambria,Georgia,"Liberation Serif",serif}
main{max-width:66rem;margin:0 auto;padding:2rem 1.2rem 4rem}
h1{font-size:2.1rem;line-height:1.2;margin:.5rem 0 1rem}h2{font-size:1.5rem;margin:2.6rem 0 .6rem;border-top:1px solid var(--line);padding-top:1.4rem}
h3{font-size:1.1rem;margin:1.4rem 0 .3rem}p,ul{max-width:44rem}.soft{color:var(--soft)}
table,figcaption,.soft,svg text{font-family:-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",Arial,sans-serif}
.wide{overflow-x:auto;margin:.6rem 0 1rem}
table{font-size:.88rem;line-height:1.45;font-variant-numeric:tabular-nums;border-collapse:collapse;border:solid var(--ink);border-width:1.5px 0}
th,td{padding:.22rem .6rem;text-align:right;white-space:nowrap}th:first-child,td:first-child,.text{text-align:left}
thead th{border-bottom:1px solid var(--ink);font-weight:600;vertical-align:bottom}tbody tr+tr td{border-top:1px solid var(--line)}
tr.own td{font-weight:700;background:var(--tint)}.low{color:var(--fluency-text)}.high{color:var(--adequacy)}
.signature{font:.74rem/1.5 ui-monospace,"Liberation Mono",Menlo,Consolas,monospace;color:var(--soft);overflow-wrap:anywhere;max-width:none}
figure{margin:1rem 0}figcaption{font-size:.84rem;color:var(--soft);max-width:44rem}svg{max-width:100%;height:auto;display:block}
@media screen and (max-width:40rem){body{font-size:1rem}main{padding:1rem .8rem 3rem}h1{font-size:1.6rem}figure{overflow-x:auto}svg{max-width:none;min-width:34rem}}
@page{margin:16mm}
@media print{body{font-size:10pt}main{max-width:none;padding:0}h1{font-size:18pt}h2{font-size:14pt;margin-top:14pt}h2,h3{break-after:avoid}figure,tr,svg{break-inside:avoid}
.wide{overflow:visible;break-inside:avoid}table{font-size:7.5pt}th,td{padding:1.5pt 4pt}svg{max-height:200mm}}
"""


def page(tables: Tables) -> str:
    """The whole report.

    >>> from whichbird.study.average import opened
    >>> from whichbird.study.portrait import portrait
    >>> import numpy as np, whichbird as wb
    >>> d = wb.load("ende24")
    >>> mine = d.total[:, None] + np.random.default_rng(1).normal(size=(16, len(d.lines)))
    >>> text = page(portrait([opened("ende24", {"a<b": mine})], resamples=20)[0])
    >>> text.startswith("<!DOCTYPE html>"), "a&lt;b" in text, "://" in text
    (True, True, False)
    """
    tables = _readable(tables)
    own = _own(tables)
    names = ", ".join(map(escape, own))
    profile = tables["profile"]
    parts = [
        f"<h1>{names} over β</h1>",
        f"<p>Where {names} {'stands' if len(own) == 1 else 'stand'} among the scorers of {_count(len(profile), 'dataset')}, at the "
        "natural balance of each and at both ends of its reliable interval. β is adequacy's share of what tells the systems of a "
        "meta-evaluation apart; moving it means weighting the systems, and inside the reliable interval that leaves at least nine "
        "tenths of them, in effect.</p>",
        "<ul><li><b>SPA</b>, soft pairwise accuracy: how well a scorer orders the systems as people do.</li>"
        "<li><b>Rank</b>, and in brackets the best and the worst rank that go with the data (95 %, documents resampled).</li>"
        f"<li><b>Cluster</b>, WMT's: shared with those above unless one of them is significantly better (PERM-BOTH, p ≤ {LEVEL:g}).</li>"
        "<li>Two scorers <b>change places</b> if the one ahead at one end is behind at the other; nothing is tested by that. <b>The lead "
        "moves</b> if it changes by more than its interval. <b>The order turns</b> if the one ahead at each end is ahead by more than the "
        "interval of the lead there: only this is a change of order beyond noise (95 %, documents resampled).</li>"
        '<li>The <b class="low">fluency end</b> is the lowest reliable β, the <b class="high">adequacy end</b> the highest.</li></ul>',
        "<h2>Over β</h2>",
        *(
            f"<figure>{card(tables, s, inline=True)}<figcaption>The card of {escape(s)}: rank over the reliable interval of each dataset, "
            "1 at the top; bars are the ranks that go with the data at both ends and at the natural balance.</figcaption></figure>"
            for s in own
        ),
        _averages(tables, own),
        "<h2>All datasets</h2>",
        *(_overview(tables, s) for s in own),
        *(_dataset(tables, row, own) for _, row in profile.iterrows()),
        "<h2>What the figures rest on</h2>",
        *(f'<p class="signature">{escape(str(s))}</p>' for s in profile["signature"]),
        '<p class="soft">Made by whichbird; the lines above say by which version, and from what.</p>',
    ]
    return _named(
        tables,
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">"
        f"<title>{names} over β</title><style>{_colours()}{STYLE}</style></head><body><main>\n"
        + "\n".join(parts)
        + "\n</main></body></html>\n",
    )


def card(tables: Tables, scorer: str, inline: bool = False) -> str:
    """The ranks of one scorer over β in each dataset, with their intervals, as SVG; `inline` leaves out the colours of its own.

    A row a dataset: from the fluency end of its reliable interval to the adequacy end, rank 1 at the top, the last at the bottom.
    """
    profile = tables["profile"]
    profile = profile[profile["dataset"].isin(tables["standings"].query("scorer == @scorer")["dataset"])]
    width, row, left, right, top = 560, 46, 170, 150, 44
    height = top + row * len(profile) + 26
    body = [f'<text x="0" y="16" font-size="15" font-weight="700" fill="var(--ink)">{escape(display(scorer))}</text>']
    body.append(f'<text x="{left}" y="{top - 10}" font-size="11" fill="var(--fluency-text)">fluency end</text>')
    body.append(
        f'<text x="{width - right}" y="{top - 10}" font-size="11" text-anchor="end" fill="var(--adequacy)">adequacy end</text>'
    )
    body.append(f'<text x="{width}" y="{top - 10}" font-size="11" text-anchor="end" fill="var(--soft)">rank, of</text>')
    said = []
    for n, (_, about) in enumerate(profile.iterrows()):
        y, span = top + n * row, width - left - right
        last = int(about["scorers"])
        mine = _stands(tables, scorer, str(about["dataset"]))

        def place(value: float) -> float:
            return y + 5 + (row - 12) * (value - 1) / max(last - 1, 1)

        body.append(
            f'<text x="0" y="{y + row / 2 + 4:.1f}" font-size="12" fill="var(--ink)">{escape(str(about["title"]))}</text>'
        )
        body.append(
            f'<rect x="{left}" y="{y + 3}" width="{span}" height="{row - 8}" fill="none" stroke="var(--line)"/>'
        )
        low, high = about["reliable_min"], about["reliable_max"]
        shown = [at for at in ("low", "natural", "high") if at in mine]
        known = pd.notna(low) and high > low

        def across(beta: float) -> float:
            return left + 6 + (span - 12) * ((beta - low) / (high - low) if known else 0.5)

        for at in shown:
            x = across(mine[at]["beta"])
            ends = [place(mine[at][end]) for end in ("rank_low", "rank_high")]
            body.append(
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}" stroke="var(--grey)" stroke-width="5" stroke-linecap="round"/>'
            )
        line = tables["path"].query("scorer == @scorer and dataset == @about.dataset")
        points = " ".join(f"{across(b):.1f},{place(r):.1f}" for b, r in zip(line["beta"], line["rank"], strict=True))
        body.append(
            f'<polyline points="{points}" fill="none" stroke="var(--ink)" stroke-width="1.6"/>' if points else ""
        )
        for at in shown:
            body.append(
                f'<circle cx="{across(mine[at]["beta"]):.1f}" cy="{place(mine[at]["rank"]):.1f}" r="3" fill="var(--ink)"/>'
            )
        places = " → ".join(str(int(mine[at]["rank"])) for at in shown)
        said.append(f"{about['title']}: {places} of {last}")
        body.append(
            f'<text x="{width}" y="{y + row / 2 + 4:.1f}" font-size="12" text-anchor="end" fill="var(--ink)">{places} of {last}</text>'
        )
    body.append(
        f'<text x="0" y="{height - 6}" font-size="10" fill="var(--soft)">fluency end → natural → adequacy end; bars: ranks that go with the data (95 %), by whichbird</text>'
    )
    look = (
        ""
        if inline
        else f"<style>{_colours('svg')}text{{font-family:-apple-system,'Segoe UI',Roboto,'Noto Sans','Liberation Sans',Arial,sans-serif}}</style>"
    )
    space = "" if inline else ' xmlns="http://www.w3.org/2000/svg"'
    label = escape(f"Ranks of {display(scorer)} over β. " + "; ".join(said), quote=True)
    box = f"0 0 {width} {height}" if inline else f"-12 -8 {width + 24} {height + 16}"
    drawn = f'<svg{space} viewBox="{box}" width="{width}" role="img" aria-label="{label}">{look}{"".join(body)}</svg>'
    return drawn if inline else _named(tables, drawn)


def card_page(drawn: str) -> str:
    """A card as a page of its size, to be printed.

    >>> card_page('<svg viewBox="0 0 9 5"></svg>')
    '<style>@page{margin:0;size:9px 5px}body{margin:0}svg{width:9px;display:block}</style><svg viewBox="0 0 9 5"></svg>'
    """
    width, height = drawn.partition('viewBox="')[2].partition('"')[0].split()[2:]
    look = f"@page{{margin:0;size:{width}px {height}px}}body{{margin:0}}svg{{width:{width}px;display:block}}"
    return f"<style>{look}</style>{drawn}"


def _named(tables: Tables, html: str) -> str:
    """A page with the two aspects by their names; what is between tags and says their ends, that is."""
    for paper, label in zip(
        ASPECTS, str(tables["profile"].iloc[0].get("aspects", ",".join(ASPECTS))).split(","), strict=True
    ):
        for said in (f"{paper} end", f"{paper}'s share"):
            html = html.replace(said, said.replace(paper, escape(label)))
    return html


def _readable(tables: Tables) -> Tables:
    """The tables with scorers called as people read them."""
    names = displays([*tables["standings"]["scorer"], *tables["rivals"]["rival"]])
    return {key: t.assign(**{c: t[c].map(names) for c in ("scorer", "rival") if c in t}) for key, t in tables.items()}


def _averages(tables: Tables, own: Sequence[str]) -> str:
    table = tables["average"]
    if table.empty or len(tables["profile"]) < 2:
        return ""
    out = ["<h2>On average</h2>"]
    if not set(own) & set(table["scorer"]):
        return ""
    out.append(
        "<p>Made as WMT's task averages are, for each campaign: every dataset has the same weight, and only scorers that take part in all "
        "of them are averaged. <i>Mean rank</i> is over ranks among all scorers of each dataset, <i>mean cluster</i> over clusters. The interval of "
        "95 % takes the documents of different datasets as independent; where datasets share source texts it is somewhat too narrow.</p>"
    )
    head = ["scorer", "campaign", "datasets", "rank", "average SPA", "95 %", "mean rank", "mean cluster"]
    others = [m for m in METAMETRICS.values() if m is not SPA and f"average_{m.name}" in table]
    head += [m.title for m in others]
    for at in BALANCES:
        mine = table[(table["at"] == at) & table["own"]]
        if len(mine):
            rows = [
                (False, [*_average(r), *(f"{r[f'average_{m.name}']:.3f}" for m in others)]) for _, r in mine.iterrows()
            ]
            out.append(f'<h3 class="{at}">{WORDS[at].capitalize()}</h3>' + _table(head, rows, texts=(1,)))
    return "\n".join(out)


def _average(row: pd.Series) -> list[str]:
    """A scorer's average over the datasets of a campaign."""
    return [
        escape(row["scorer"]),
        escape(str(row["campaign"])),
        str(row["datasets"]),
        f"{int(row['rank'])} of {row['of']} ({int(row['rank_low'])}–{int(row['rank_high'])})",
        f"{row['average_spa']:.3f}",
        f"{row['average_low']:.3f}–{row['average_high']:.3f}",
        f"{row['average_rank']:.1f}",
        f"{row['average_cluster']:.1f}",
    ]


def _overview(tables: Tables, scorer: str) -> str:
    standings = tables["standings"].query("scorer == @scorer")
    kinds = [at for at in BALANCES if (standings["at"] == at).any()]
    head = [escape(scorer), "β₀"]
    for at in kinds:
        head += [f'<span class="{at}">{WORDS[at]}</span><br>SPA', "rank", "cluster"]
    others = [m for m in METAMETRICS.values() if f"rank_{m.name}" in standings]
    head += [f"{m.title}<br>natural" for m in others]
    rows = []
    for _, about in tables["profile"].iterrows():
        mine = standings[standings["dataset"] == about["dataset"]].set_index("at")
        if mine.empty:
            continue
        cells = [escape(str(about["title"])), "–" if pd.isna(about["beta0"]) else f"{about['beta0']:.3f}"]
        for at in kinds:
            cells += (
                [
                    f"{mine.loc[at, 'spa']:.3f}",
                    _placed(mine.loc[at], about["scorers"]),
                    str(int(mine.loc[at, "cluster"])),
                ]
                if at in mine.index
                else ["–"] * 3
            )
        cells += [f"{mine.loc['natural', m.name]:.3f} #{mine.loc['natural', f'rank_{m.name}']}" for m in others]
        rows.append((False, cells))
    return _table(head, rows)


def _dataset(tables: Tables, about: pd.Series, own: Sequence[str]) -> str:
    name = about["dataset"]
    out = [f"<h2>{escape(str(about['title']))}</h2>"]
    balance = (
        "Its error ratings were not obtained, so there is no β to move."
        if pd.isna(about["beta0"])
        else f"β₀ = {about['beta0']:.3f}; reliable from {about['reliable_min']:.3f} to {about['reliable_max']:.3f}."
    )
    out.append(
        f'<p class="soft">{escape(str(name))}: {about["systems"]} systems, {about["segments"]} rated segments, {about["documents"]} documents, '
        f"{about['scorers']} scorers; reference {escape(str(about['reference']))}. {balance}{_weighed(about)}{_people(about)}</p>"
    )
    path = tables["path"].query("dataset == @name")
    if len(path):
        out.append(
            f"<figure>{bump(path, own, about)}<figcaption>Ranks of all scorers over the reliable interval. The dashed line is the natural balance.</figcaption></figure>"
        )
    for scorer in own:
        rivals = tables["rivals"].query("dataset == @name and scorer == @scorer")
        if rivals.empty:
            continue
        out.append(f"<h3>{escape(scorer)}</h3><p>{_story(tables, rivals, scorer, name)}</p>")
        moved = rivals[rivals["places"].eq(True)].sort_values(
            ["turns", "moves"], ascending=False, kind="stable", key=lambda column: column.eq(True)
        )
        if len(moved):
            head = [
                "changes places with",
                '<span class="low">lead at the fluency end</span>',
                '<span class="high">lead at the adequacy end</span>',
                "change",
                "lead moves",
                "order turns",
            ]
            out.append(_each(moved, head, _moved))
    domains = tables["domains"].query("dataset == @name") if len(tables["domains"]) else tables["domains"]
    if len(domains):
        head = ["kind of text", "segments", "scorer", "SPA", "rank"]
        out.append("<h3>By kind of text, at the natural balance</h3>" + _each(domains, head, _kind, texts=(2,)))
        out.append(
            '<p class="soft">SPA here rests on p-values in closed form and comes without intervals; few segments make it rough.</p>'
        )
    return "\n".join(out)


def _weighed(about: pd.Series) -> str:
    """Who counts least and most at the two ends; nothing where no balance is known, or in a report of an older version."""
    low, high = (str(about.get(f"weights_{end}") or "") for end in ("low", "high"))
    if not (low and high):
        return ""
    return (
        f" Weights, times uniform, run from {escape(low)} at the fluency end, from {escape(high)} at the adequacy end."
    )


def _people(about: pd.Series) -> str:
    """The human ceiling, where people rated translations several times."""
    if pd.isna(about.get("human_ceiling", None)):
        return ""
    value, low, high, best = (
        f"{about[name]:.3f}" for name in ("human_ceiling", "human_ceiling_low", "human_ceiling_high", "best_scorer")
    )
    return (
        f" At the natural balance one person's ratings have an SPA of {value} against another's ({low}–{high}), the best scorer {best} "
        "against the same."
    )


def _story(tables: Tables, rivals: pd.DataFrame, scorer: str, dataset: str) -> str:
    """Who is surely better and worse at the natural balance, and what moves with β, in sentences."""
    ahead = rivals[rivals["p_worse"] <= LEVEL]["rival"].tolist()
    behind = int((rivals["p_better"] <= LEVEL).sum())
    level = len(rivals) - len(ahead) - behind
    out = f"At the natural balance {behind} of {len(rivals)} other scorers are significantly worse, {level} cannot be told apart from it, and "
    out += (
        f"{_some(ahead)} {'is' if len(ahead) == 1 else 'are'} significantly better. "
        if ahead
        else "none is significantly better. "
    )
    mine = _stands(tables, scorer, dataset)
    if "low" in mine:
        first, last = int(mine["low"]["rank"]), int(mine["high"]["rank"])
        moved = "stays on rank" if first == last else "gains" if last < first else "loses"
        out += f"From the fluency end to the adequacy end it {moved} " + (
            f"{first}. " if first == last else f"{_count(abs(last - first), 'place')} ({first} to {last}). "
        )
        placed = rivals[rivals["places"].eq(True)]
        out += f"It changes places with {_count(len(placed), 'scorer')}"
        if placed["turns"].isna().any():
            out += "; documents are too few to judge more."
        elif len(placed):
            shifted, turned = int(placed["moves"].sum()), placed[placed["turns"].eq(True)]["rival"].tolist()
            out += f"; the lead moves with {shifted or 'none'} of them, and the order turns with {_some(turned) or 'none'}."
        else:
            out += "."
    return out


def bump(path: pd.DataFrame, own: Sequence[str], about: pd.Series) -> str:
    """Ranks of all scorers over the reliable interval as SVG: yours in ink, the others in grey, the best named."""
    width, left, right, top = 720, 34, 190, 22
    last, low, high = int(path["rank"].max()), float(path["beta"].min()), float(path["beta"].max())
    height = top + 11 * last + 34

    def across(beta: float) -> float:
        return left + (width - left - right) * (beta - low) / max(high - low, 1e-12)

    def place(value: float) -> float:
        return top + 11 * (value - 0.5)

    middle = across(about["beta0"])
    body = [
        f'<line x1="{middle:.1f}" x2="{middle:.1f}" y1="{top}" y2="{height - 30}" stroke="var(--soft)" stroke-dasharray="3 3"/>'
    ]
    order = sorted(path["scorer"].unique(), key=lambda s: s in own)
    final = path[path["beta"] == high].set_index("scorer")["rank"]
    taken: dict[int, int] = {}
    for scorer in order:
        line = path[path["scorer"] == scorer]
        points = " ".join(f"{across(b):.1f},{place(r):.1f}" for b, r in zip(line["beta"], line["rank"], strict=True))
        mine = scorer in own
        colour = f"var(--own{own.index(scorer) % 4})" if mine else "var(--grey)"
        body.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{2.6 if mine else 1}"/>')
        at = int(final[scorer])
        shift = taken.get(at, 0)
        taken[at] = shift + 1
        weight = ' font-weight="700"' if mine else ""
        body.append(
            f'<text x="{width - right + 6}" y="{place(at + shift) + 3.5:.1f}" font-size="9.5"{weight} fill="{colour if mine else "var(--soft)"}">{escape(scorer)}</text>'
        )
    for value in sorted({1, *range(10, last + 1, 10), last}):
        body.append(
            f'<text x="{left - 8}" y="{place(value) + 3.5:.1f}" font-size="10" text-anchor="end" fill="var(--soft)">{value}</text>'
        )
    for x, y, text, anchor, colour in (
        (left, height - 14, f"{low:.3f}, fluency end", "start", "fluency-text"),
        (width - right, height - 14, f"{high:.3f}, adequacy end", "end", "adequacy"),
        (middle, top - 6, "β₀", "middle", "soft"),  # above: it may be next to an end
    ):
        body.append(
            f'<text x="{x:.1f}" y="{y}" font-size="11" text-anchor="{anchor}" fill="var(--{colour})">{text}</text>'
        )
    ends = path[path["beta"].isin([low, high])].query("scorer in @own")
    said = "; ".join(f"{s}: {int(g['rank'].iloc[0])} to {int(g['rank'].iloc[-1])}" for s, g in ends.groupby("scorer"))
    label = escape(f"Ranks over β from {low:.3f} to {high:.3f}. {said}", quote=True)
    return f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img" aria-label="{label}">{"".join(body)}</svg>'


def _stands(tables: Tables, scorer: str, dataset: str) -> dict[str, dict[str, Any]]:
    """The rows of `standings` of one scorer in one dataset, by balance."""
    rows = tables["standings"]
    rows = rows[(rows["scorer"] == scorer) & (rows["dataset"] == dataset)]
    return {str(row["at"]): {str(k): v for k, v in row.items()} for row in rows.to_dict("records")}


def _own(tables: Tables) -> list[str]:
    """The scorers that the report is about."""
    table = tables["standings"]
    return list(dict.fromkeys(table.loc[table["own"], "scorer"]))


def _colours(where: str = ":root") -> str:
    """Colours by name, dark ones where the reader's screen is dark; paper stays light."""
    light, dark = (";".join(f"--{k}:{v}" for k, v in colours.items()) for colours in (LIGHT, DARK))
    return (
        f"{where}{{{light};color-scheme:light dark}}@media screen and (prefers-color-scheme:dark){{{where}{{{dark}}}}}"
    )


def _table(head: Iterable[str], rows: Iterable[tuple[bool, list[str]]], texts: Sequence[int] = ()) -> str:
    """Rows of cells, which are HTML already; a row of yours stands out."""
    kind = [' class="text"' if n in texts else "" for n in range(99)]
    top = "".join(f"<th{kind[n]}>{cell}</th>" for n, cell in enumerate(head))
    body = "".join(
        f"<tr{' class=own' if mine else ''}>"
        + "".join(f"<td{kind[n]}>{cell}</td>" for n, cell in enumerate(cells))
        + "</tr>"
        for mine, cells in rows
    )
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _each(
    found: pd.DataFrame, head: list[str], cells: Callable[[pd.Series], list[str]], texts: Sequence[int] = ()
) -> str:
    """A table with a row for each of those that were found."""
    return _table(head, ((False, cells(row)) for _, row in found.iterrows()), texts)


def _moved(row: pd.Series) -> list[str]:
    """A rival with whom the order changes."""
    change = f"{_signed(row['change'])} ± {row['margin']:.3f}"
    ends = _signed(row["lead_low"]), _signed(row["lead_high"])
    return [escape(row["rival"]), *ends, change, _told(row["moves"]), _told(row["turns"])]


def _told(value: Any) -> str:
    """Yes or no, or a dash where nothing was judged."""
    return "–" if pd.isna(value) else "yes" if value else "no"


def _kind(row: pd.Series) -> list[str]:
    """A scorer on one kind of text."""
    place = f"{row['rank']} of {row['scorers']}"
    return [escape(row["domain"]), str(row["segments"]), escape(row["scorer"]), f"{row['spa']:.3f}", place]


def _placed(row: pd.Series, of: int) -> str:
    return f"{int(row['rank'])} of {of} ({int(row['rank_low'])}–{int(row['rank_high'])})"


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _some(names: Sequence[str], most: int = 8) -> str:
    shown = [escape(n) for n in names[:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")
