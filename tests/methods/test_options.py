"""Every search method refuses options out of range by their names."""

import pytest

from specahd.core.errors import ConfigError
from specahd.methods.eoh import EoH
from specahd.methods.eoh_s import EoHS
from specahd.methods.fun_search import FunSearch
from specahd.methods.lhns import LHNS
from specahd.methods.mcts_ahd import MCTSAHD
from specahd.methods.mles import MLES
from specahd.methods.partevo import PartEvo
from specahd.methods.reevo import ReEvo
from specahd.methods.vrpagent import VRPAgent

REFUSED = {
    EoH: {"population": [1], "operators": [["e9"], []], "rank_offset": [-1]},
    EoHS: {"population": [1]},
    FunSearch: {
        "islands": [0, 2.5],
        "samples_per_prompt": [0],
        "temperature": [0, "warm"],
        "temperature_period": [0],
        "reset_period": [0],
    },
    LHNS: {"kind": ["sa"], "ratio": [0.0], "initial_temperature": [0.0], "trajectories": [0]},
    MCTSAHD: {
        "elite": [1],
        "exploration": [-0.1],
        "widening": [1.5],
        "depth": [0],
        "variations": [0],
    },
    MLES: {"population": [1], "operators": [["m1_M"], []]},
    # cc needs clusters that another operator changes.
    PartEvo: {
        "population": [1, 91],
        "clusters": [0],
        "features": [["bert"]],
        "operators": [["cn"], ["cc"]],
    },
    ReEvo: {"population": [91], "initial": [1], "mutation_rate": [1.5]},
    VRPAgent: {"initial": [1], "elites": [0], "offspring": [0], "length_price": [-1]},
}


@pytest.mark.parametrize("method", REFUSED)
def test_options_out_of_range_are_refused(method):
    for option, values in REFUSED[method].items():
        for value in values:
            with pytest.raises(ConfigError, match=rf"method\.policy\.{option} "):
                method(**{option: value})
