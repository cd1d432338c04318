"""Pools of other fields: they load, and their balances are those of a script of its own that reads the raw files without the library."""

import numpy as np
import pytest

import whichbird as wb

# computed from the raw JSON and CSV files with plain Python
BALANCES = {
    "bio_deen": 0.8970, "bio_ende": 0.0003, "bio_enes": 0.6203, "bio_enfr": 0.6825, "bio_enru": 0.9711, "bio_enzh": 0.7441,
    "bio_esen": 0.9641, "bio_fren": 0.9766, "bio_ruen": 0.9924, "bio_zhen": 0.6682, "hanna": 0.3292,
}  # fmt: skip
WITHOUT_AGI = {"bio_deen": 0.9891, "bio_zhen": 0.9253}


def test_other_fields_are_listed_apart():
    assert len(wb.datasets()) == 16 and not set(wb.datasets()) & set(BALANCES)
    assert wb.datasets(field="biomedical") + wb.datasets(field="stories") == list(BALANCES)
    assert wb.datasets(field="stories", paper=True) == wb.datasets(field="stories", aspects=False) == []
    with pytest.raises(ValueError, match="unknown field 'law'; one of biomedical, stories"):
        wb.datasets(field="law")


@pytest.mark.parametrize("name", BALANCES)
def test_balance(name):
    pool = wb.load_pool(name)
    assert wb.balance(*pool.aspects) == pytest.approx(BALANCES[name], abs=6e-5)


@pytest.mark.parametrize("name", WITHOUT_AGI)
def test_lower_cased_runs_make_fluency(name):
    pool = wb.load_pool(name)
    keep = np.array(["AGI" not in s for s in pool.systems])
    assert wb.balance(*(x[keep] for x in pool.aspects)) == pytest.approx(WITHOUT_AGI[name], abs=6e-5)


def test_one_broken_file():
    pool = wb.load_pool("bio_enes")
    without = wb.leverage(*pool.aspects).without[pool.systems.index("TMT_run1")]
    assert without == pytest.approx(0.987, abs=6e-4)


def test_hanna():
    pool = wb.load_pool("hanna")
    assert pool.adequacy.shape == (10, 96) and len(pool.scorers) == 210 and len(pool.aliases) == 2
    assert np.allclose(np.mean([r.adequacy for r in pool.ratings], axis=0), pool.adequacy)
    assert np.allclose(np.mean([r.fluency for r in pool.ratings], axis=0), pool.fluency)
