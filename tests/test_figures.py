"""Figures that carry numbers: what is drawn is what the table says."""

import matplotlib
import numpy as np
import pandas as pd

from whichbird.show import figures

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def test_a_ramp_runs_from_mean_minus_std_to_mean_plus_std_and_other_cells_stay_empty():
    cells = pd.DataFrame(
        {
            "ess": [0, 1, 7],
            "beta": [0, 7, 2],
            "ess_from": [8.0, 9.0, 15.0],
            "beta_from": [0.1, 0.8, 0.3],
            "mean": [0.2, 0.7, 0.5],
            "std": [0.1, 0.05, 0.0],
        }
    )
    fig, ax = plt.subplots()
    drawn = figures.ramps(ax, cells, shades=5)
    image = np.ma.filled(drawn.get_array(), np.nan).reshape(8, 5, 8)  # β bin, height inside it, ESS bin
    assert np.allclose(image[0, :, 0], [0.1, 0.15, 0.2, 0.25, 0.3])
    assert np.allclose(image[7, [0, -1], 1], [0.65, 0.75])
    assert np.allclose(image[2, :, 7], 0.5)
    assert np.isfinite(image).sum() == 15
    assert np.allclose(drawn.get_extent(), [8, 16, 0.1, 0.9])
    plt.close(fig)
