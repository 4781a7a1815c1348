"""A search of a single level: its one round, and the program or portfolio that it hands on."""

import numpy as np
import pytest
from arithmetic import asked, checkpoint

from specahd.core.errors import ConfigError
from specahd.design.coupled import Coupled
from specahd.design.single import Single
from specahd.methods.eoh import EoH


@pytest.mark.parametrize(("portfolio", "most"), [(1, 1), (2, 2)])
def test_a_single_level_has_one_round_and_a_portfolio(trained, portfolio, most):
    run = trained(kind=Single, parts={"portfolio": portfolio}, levels="both", rounds=4)
    assert asked(run) == {(1, "lower"): 12}
    [candidate] = run.candidates
    assert len(candidate.repertoire) == most
    assert candidate.portfolio is (portfolio > 1)
    rows = {}
    for (_, program), found in candidate.archive.responses.items():
        rows.setdefault(program, []).append(found.score)
    best = max(map(np.mean, rows.values()))
    # Numbers come twice; the older program stands first.
    assert candidate.repertoire[0].id == min(
        program for program, scores in rows.items() if np.mean(scores) == best
    )


@pytest.mark.parametrize("portfolio", [False, True])
def test_a_portfolio_that_is_given_stays_one(trained, portfolio):
    given = checkpoint(portfolio)
    for kind, parts in ((Coupled, {}), (Single, {"portfolio": 3})):
        run = trained(kind=kind, levels="upper", rounds=1, parts={"given": given, **parts})
        [candidate] = run.candidates
        assert candidate.portfolio is portfolio


@pytest.mark.parametrize("portfolio", [0, True, 1.5])
def test_a_portfolio_out_of_range_is_refused(portfolio):
    with pytest.raises(ConfigError, match=r"method\.portfolio (of at least 1|to be an integer)"):
        Single.check(policy=lambda: EoH(2), portfolio=portfolio)
