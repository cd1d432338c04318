"""The datasets: one record each says where it lies in the tree, and all that is particular about it.

Adding a dataset is adding a record; names, menus, counts and tables of the book follow from here.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

TREE = "mt-metrics-eval-v2"
LANGUAGES = {
    "de": "German", "en": "English", "es": "Spanish", "fr": "French", "he": "Hebrew", "ja": "Japanese", "ru": "Russian", "zh": "Chinese"
}  # fmt: skip


class Source(NamedTuple):
    """Where a dataset lies in the tree, the reference WMT used for it, and what is known to be odd about it."""

    set: str
    pair: str
    standard: str = "refA"  # the reference WMT scored with
    reference: str = "refA"  # the one this book scores with, as the paper does
    drop: tuple[str, ...] = ()  # systems its organisers flagged for exclusion
    ratings: bool = True  # mt-metrics-eval has its per-error ratings
    prefer: tuple[
        tuple[int, int, str], ...
    ] = ()  # where all raters saw the same lines (first, last): whose rating counts
    rating: str = "merged"  # whose rating of a cell counts: the merged file's, or "mean", of all raters of the cell
    official: bool = True  # there are official totals
    paper: bool = True  # it is one of the paper's datasets
    humans: tuple[str, ...] = ()  # human translations that WMT ranked among the systems, with the standard reference


DATASETS = {
    # 2020: three raters a cell, but the release lacks some ratings, nearly all of them with errors; the mean is over the rest
    "ende20": Source("wmt20", "en-de", "ref", "ref", rating="mean", paper=False),
    "zhen20": Source("wmt20", "zh-en", "ref", "ref", rating="mean", paper=False),
    "ende21": Source("wmt21.news", "en-de", "refC"),
    "zhen21": Source("wmt21.news", "zh-en", "refB"),
    "ted_ende": Source("wmt21.tedtalks", "en-de"),
    "ted_zhen": Source("wmt21.tedtalks", "zh-en", "refB"),
    "ende22": Source("wmt22", "en-de", drop=("M2M100_1.2B-B4",)),
    "zhen22": Source("wmt22", "zh-en"),  # M2M100_1.2B-B4 stays here: only so are there the published 14 systems
    "enru22": Source("wmt22", "en-ru", paper=False),  # its organisers flag no system, so M2M100_1.2B-B4 stays
    "enzh22": Source("wmt22", "en-zh", rating="mean", official=False, paper=False),
    "ende23": Source("wmt23", "en-de", paper=False),
    "heen23": Source("wmt23", "he-en", "refB", ratings=False, humans=("refA",)),
    "zhen23": Source("wmt23", "zh-en", prefer=((964, 973, "rater6"), (1327, 1334, "rater5"))),
    "ende24": Source("wmt24", "en-de", "refB", drop=("MSLC",), humans=("refA",)),
    "enes24": Source("wmt24", "en-es", drop=("MSLC",)),
    "jazh24": Source("wmt24", "ja-zh", drop=("MSLC",)),
}

# The field of each pool of another one. They are no part of WMT's sixteen, so `datasets()` does not list them.
FIELDS = {
    **{f"bio_{pair}": "biomedical" for pair in "deen ende enes enfr enru enzh esen fren ruen zhen".split()},
    "hanna": "stories",
}

IN_TREE = {f"{source.set}/{source.pair}": name for name, source in DATASETS.items()}  # what mt-metrics-eval calls them


# Scorers that WMT made primary, baselines among them, by set, as mt-metrics-eval lists them in its meta_info.py. Where
# several names have the same scores, the one that is here is shown. Of 2020 none are known, and 2021 and 2022 have no twins.
PRIMARIES = {
    "wmt23": frozenset(
        "BERTscore BLEU BLEURT-20 COMET Calibri-COMET22 Calibri-COMET22-QE CometKiwi GEMBA-MQM KG-BERTScore MEE4 MS-COMET-QE-22 "
        "MaTESe MetricX-23 MetricX-23-QE Random-sysname XCOMET-Ensemble XCOMET-QE-Ensemble XLsim YiSi-1 chrF cometoid22-wmt22 "
        "docWMT22CometDA docWMT22CometKiwiDA eBLEU embed_llama f200spBLEU mbr-metricx-qe mre-score-labse-regular prismRef prismSrc "
        "sescoreX tokengram_F".split()
    ),
    "wmt24": frozenset(
        "BERTScore BLCOM_1 BLEU BLEURT-20 COMET-22 CometKiwi MEE4 MetricX-24-Hybrid MetricX-24-Hybrid-QE PrismRefMedium "
        "PrismRefSmall XCOMET XCOMET-QE XLsimMqm YiSi-1 bright-qe chrF chrfS damonmonli gemba_esa metametrics_mt_mqm_hybrid_kendall "
        "metametrics_mt_mqm_qe_kendall.seg.s sentinel-cand-mqm sentinel-ref-mqm sentinel-src-mqm spBLEU".split()
    ),
}


def ships(given: object) -> bool:
    """Whether the name of a dataset that ships is meant, and no file.

    >>> ships("ende24"), ships("hanna"), ships("human.csv"), ships("./ende24")
    (True, True, False, False)
    """
    if not isinstance(given, str):
        return False
    known = given in DATASETS or given in IN_TREE or given in FIELDS
    return known or not (os.sep in given or "." in given or os.path.exists(given))


def title(name: str) -> str:
    """A dataset in words, short enough for a menu on a phone; its own name if it is none of ours.

    >>> title("ted_zhen"), title("ende24"), title("bio_enes"), title("hanna"), title("mine")
    ('Chinese–English, TED 2021', 'English–German 2024', 'English–Spanish, biomedical', 'English, stories', 'mine')
    """
    if name in FIELDS:
        codes = re.fullmatch(r"\w+_(\w\w)(\w\w)", name)
        pair = "–".join(LANGUAGES.get(code, code) for code in codes.groups()) if codes else "English"
        return f"{pair}, {FIELDS[name]}"
    if name not in DATASETS:
        return name
    source = DATASETS[name]
    pair = "–".join(LANGUAGES.get(code, code) for code in source.pair.split("-"))
    year, _, domain = source.set.removeprefix("wmt").partition(".")
    return f"{pair}{', TED' if domain == 'tedtalks' else ''} 20{year}"


def campaign_of(name: str) -> str:
    """The metrics task, by its year, or the field that a dataset belongs to; its own name if it is none of ours.

    >>> campaign_of("ted_zhen"), campaign_of("bio_enes"), campaign_of("mine")
    ('2021', 'biomedical', 'mine')
    """
    if name not in DATASETS:
        return FIELDS.get(name, name)
    return f"20{DATASETS[name].set.removeprefix('wmt').partition('.')[0]}"


# What people read in place of names that the release spells like files: for tables and figures, never for data.
DISPLAY = {
    "all-rembert-20": "All-RemBERT-20",
    "BAQ_dyn": "BAQ-dyn",
    "BAQ_static": "BAQ-static",
    "BERTscore": "BERTScore",
    "BLCOM_1": "BLCOM-1",
    "bleurt-20": "BLEURT-20",
    "bleurt-21-beta": "BLEURT-21-beta",
    "bleurt-combi": "BLEURT-combi",
    "bright-qe": "Bright-QE",
    "COMET-DA_2020": "COMET-DA-2020",
    "COMET-DA_2021": "COMET-DA-2021",
    "COMET-MQM_2021": "COMET-MQM-2021",
    "COMET-QE-DA_2021": "COMET-QE-DA-2021",
    "COMET-QE-MQM_2021": "COMET-QE-MQM-2021",
    "cometoid22-wmt21": "Cometoid22-WMT21",
    "cometoid22-wmt22": "Cometoid22-WMT22",
    "cometoid22-wmt23": "Cometoid22-WMT23",
    "docWMT22CometDA": "Doc-COMET-22-DA",
    "docWMT22CometKiwiDA": "Doc-CometKiwi-22-DA",
    "embed_llama": "Embed-Llama",
    "esim": "ESIM",
    "f101spBLEU": "spBLEU-101",
    "f200spBLEU": "spBLEU-200",
    "gemba_esa": "GEMBA-ESA",
    "instructscore": "InstructScore",
    "mbr-metricx-qe": "MBR-MetricX-QE",
    "metametrics_mt_mqm_hybrid_kendall": "MetaMetrics-MT-hybrid",
    "metametrics_mt_mqm_kendall": "MetaMetrics-MT",
    "metametrics_mt_mqm_qe_kendall.seg.s": "MetaMetrics-MT-QE",
    "metametrics_mt_mqm_qe_same_source_t": "MetaMetrics-MT-QE-same-source",
    "metametrics_mt_mqm_same_source_targ": "MetaMetrics-MT-same-source",
    "metricx_xl_DA_2019": "MetricX-XL-DA-2019",
    "metricx_xl_MQM_2020": "MetricX-XL-MQM-2020",
    "metricx_xxl_DA_2019": "MetricX-XXL-DA-2019",
    "metricx_xxl_MQM_2020": "MetricX-XXL-MQM-2020",
    "mre-score-labse-regular": "MRE-Score-LaBSE",
    "parbleu": "parBLEU",
    "parchrf++": "parchrF++",
    "paresim-1": "parESIM-1",
    "prism": "Prism",
    "prismRef": "Prism-ref",
    "prismSrc": "Prism-src",
    "PrismRefMedium": "Prism-ref-medium",
    "PrismRefSmall": "Prism-ref-small",
    "Random-sysname": "Random-by-system",
    "sentinel-cand-mqm": "Sentinel-cand-MQM",
    "sescoreX": "SEScoreX",
    "tokengram_F": "Tokengram-F",
    "XLsimDA": "XLsim-DA",
    "XLsimMqm": "XLsim-MQM",
    "Yisi-combi": "YiSi-combi",
    "yisi1-translate": "YiSi-1-translate",
}


def display(scorer: str) -> str:
    """What people read for a scorer; data, JSON and CSV keep the release's name.

    >>> display("metametrics_mt_mqm_qe_kendall.seg.s"), display("chrF")
    ('MetaMetrics-MT-QE', 'chrF')
    """
    return DISPLAY.get(scorer, scorer)


def displays(scorers: Iterable[str]) -> dict[str, str]:
    """What people read for each of some scorers; the release's name where two would be called the same.

    >>> displays(["gemba_esa", "BERTscore", "BERTScore"])
    {'gemba_esa': 'GEMBA-ESA', 'BERTscore': 'BERTscore', 'BERTScore': 'BERTScore'}
    """
    names = list(dict.fromkeys(scorers))
    times = Counter(map(display, names))
    return {name: display(name) if times[display(name)] == 1 else name for name in names}
