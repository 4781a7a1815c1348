"""J, the submodular objective of a repertoire, and its greedy maximisation; for both levels."""

from collections.abc import Sequence

import numpy as np

from specahd.routing.base import FloatArray


def objective(scores: FloatArray, chosen: Sequence[int], *, beta: float, budget: int) -> float:
    """Return J(H), eq. lower_objective.

    Parameters
    ----------
    scores
        s of shape (programs, tasks), tasks > 0, entries in [0, 1].
    chosen
        Rows of H.
    beta
        Weight of individual quality against coverage, in [0, 1].
    budget
        q, the largest repertoire.
    """
    if not chosen:
        return 0.0
    rows = scores[list(chosen)]
    quality = float(rows.mean(axis=1).sum())
    coverage = float(rows.max(axis=0).mean())
    return beta / budget * quality + (1 - beta) * coverage


def greedy_selection(
    scores: FloatArray, *, beta: float, budget: int, prices: FloatArray | float = 0.0
) -> list[int]:
    """Choose rows by the largest marginal gain δ until none is positive or q are chosen.

    Attains at least (1 - 1/e) of the best J (Proposition 2). Ties go to the
    lower row, so callers put older programs first.

    The scores of upper programs are the improvements of single passes from the same incumbents.
    With β = 0, J is then the mean over the incumbents of the best score. The proposition holds
    without prices; J minus prices need not be monotone. The result of several programs in
    sequence is not submodular in general, so the bound does not hold for it.

    Parameters
    ----------
    scores, beta, budget
        Those of :func:`objective`; scores below 0 count as 0 in coverage.
    prices
        Price of each row, which its gain must exceed: λΩ of upper programs.

    Returns
    -------
    list of int
        Rows in the order in which they were chosen.
    """
    chosen: list[int] = []
    if not scores.size:
        return chosen
    quality = beta / budget * scores.mean(axis=1)
    envelope = np.zeros(scores.shape[1])
    free = np.ones(len(scores), dtype=bool)
    while len(chosen) < budget and free.any():
        gains = quality + (1 - beta) * np.maximum(scores - envelope, 0.0).mean(axis=1) - prices
        gains[~free] = -np.inf
        best = int(np.argmax(gains))
        if not gains[best] > 0.0:
            break
        chosen.append(best)
        free[best] = False
        envelope = np.maximum(envelope, scores[best])
    return chosen


def survival_order(
    scores: FloatArray, *, beta: float, budget: int, prices: FloatArray | float = 0.0
) -> list[int]:
    """Rank all rows: the greedy order, then by mean score minus price; on ties, older first."""
    first = greedy_selection(scores, beta=beta, budget=budget, prices=prices)
    taken = set(first)
    means = (scores.mean(axis=1) if scores.size else np.zeros(len(scores))) - prices
    rest = sorted((row for row in range(len(scores)) if row not in taken), key=lambda r: -means[r])
    return [*first, *rest]
