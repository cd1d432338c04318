"""Pools of systems for the tests."""

import numpy as np

# WMT24 English–German, 16 systems: MQM penalties in tenths, summed over 487 segments
PENALTY = np.array(
    [
        [7730, 6000, 4990, 4690, 3160, 7380, 11360, 16380, 5910, 8660, 4170, 8330, 4050, 5600, 4230, 4460],
        [7240, 4888, 4751, 3010, 4452, 3274, 7316, 8096, 5597, 8712, 5150, 7639, 4663, 5140, 4453, 3472],
    ]
)
ENDE24 = -PENALTY / 4870

# optimum on the full support, yet not certifiable
UNCERTIFIABLE = (0.5574, 0.9883, 1.4687, 3.0894), (0.4012, 0.5353, 1.4986, 1.2467), 0.9095
# five stationary points
FIVE = (2.1041, 1.8783, 1.1827, 0.9551), (2.7964, 2.7981, 0.8222, 3.8888), 0.6661

SYMMETRIC = ["central", "lattice", "mirrored", "rectangles"]  # r has nothing along a pole, or along both
KINDS = ["plain", "correlated", "grid", "duplicates", "collinear", "symmetric", "cluster", *SYMMETRIC]
MOVES = {
    "as is": (1.0, 0.0, 0.0),
    "times 1e6": (1e6, 0.0, 0.0),
    "times 1e-6": (1e-6, 0.0, 0.0),
    "plus 1e6": (1.0, 1e6, -1e6),
}


def make(kind: str, systems: int, rng) -> np.ndarray:
    """Two rows of scores, adequacy and fluency."""
    x = rng.normal(size=(2, systems))
    if kind == "correlated":
        x[1] = 0.7 * x[0] + 0.3 * x[1]
    elif kind == "grid":  # few values: many ties, pairs in line, repeated systems
        x = rng.integers(0, 4, size=(2, systems)).astype(float)
        x[:, :2] = [[0, 1], [0, 2]]
    elif kind == "duplicates":
        x[:, 0] = x[:, systems // 2]
    elif kind == "collinear":
        x[1, : systems // 2 + 1] = 2 * x[0, : systems // 2 + 1] + 1
    elif kind == "symmetric":  # mirrored in the fluency axis
        half = systems // 2
        x[:, half : 2 * half] = x[:, :half] * [[-1], [1]]
        x[0, 2 * half :] = 0
    elif kind == "cluster":
        x[:, 1:] *= 0.01
    elif kind in SYMMETRIC:
        if kind != "central":  # small whole numbers: parallelograms, hexagons, slopes that repeat
            x = rng.integers(-5, 6, size=(2, systems)).astype(float)
            x[:, 0] = [5, 4]  # never all at one point
        half, quarter = systems // 2, systems // 4
        if kind == "rectangles":  # in both axes
            x[:, quarter : 2 * quarter] = x[:, :quarter] * [[1], [-1]]
            half = 2 * quarter or half
        # in the adequacy axis, or through the centre
        x[:, half : 2 * half] = x[:, :half] * ([[1], [-1]] if kind == "mirrored" else [[-1], [-1]])
        x[1, 2 * half :] = 0
        if kind != "mirrored":
            x[0, 2 * half :] = 0
    return x
