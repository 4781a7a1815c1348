"""Several models that share the work of one run."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import reduce
from typing import Annotated

from specahd.core.contract import Contract, Request
from specahd.core.errors import ConfigError
from specahd.core.options import Option
from specahd.core.proposer import Proposer, Reply
from specahd.core.ranges import check_number
from specahd.core.seeding import generator
from specahd.core.sums import sequential_sum
from specahd.core.tariff import Tariff


class Mixture:
    """A proposer that passes each request to one of several, chosen by the request's seed.

    The choice depends only on the sample, so a repeated or resumed run uses
    the same model for it again.

    Parameters
    ----------
    proposers
        The proposers by name, at least one.
    weights
        Share of the requests of each proposer, at least 0, not all 0.

    Raises
    ------
    ConfigError
        The weights do not match the proposers, or are not valid shares.
    """

    def __init__(
        self,
        proposers: Mapping[str, Proposer],
        weights: Annotated[
            Mapping[str, float], Option("this model's share of the requests, at least 0", 0)
        ],
    ) -> None:
        if not proposers or set(proposers) != set(weights):
            expected, got = (", ".join(sorted(names)) or "none" for names in (proposers, weights))
            raise ConfigError(f"Expected llm.weights for llm.proposers {expected}, got {got}.")
        # In alphabetical order, so that the order in a file changes nothing.
        self._names = sorted(proposers)
        self._proposers = dict(proposers)
        shares = [weights[name] for name in self._names]
        for name, share in zip(self._names, shares, strict=True):
            check_number(f"llm.weights.{name}", share, 0)
        total = sequential_sum(shares)
        if total <= 0:
            raise ConfigError("Expected one of llm.weights above 0.")
        self._shares = [share / total for share in shares]

    def preflight(self, contracts: Collection[Contract] = ()) -> None:
        """Check that each used proposer can answer."""
        for name, share in zip(self._names, self._shares, strict=True):
            if share > 0:
                self._proposers[name].preflight(contracts)

    def tariff(self, request: Request | None = None) -> Tariff:
        """Return the tariff of the request's proposer; for None, the most expensive one."""
        if request is not None:
            return self._proposers[self.chosen_name(request)].tariff(request)
        asked = zip(self._names, self._shares, strict=True)
        return reduce(Tariff.dearer, (self._proposers[n].tariff() for n, share in asked if share))

    def close(self) -> None:
        for proposer in self._proposers.values():
            proposer.close()

    def propose(self, request: Request) -> Reply:
        """Pass the request on; the reply names the proposer that answered."""
        name = self.chosen_name(request)
        return replace(self._proposers[name].propose(request), provider=name)

    def chosen_name(self, request: Request) -> str:
        """Return the name of the proposer that a request goes to."""
        rng = generator(request.seed, "model", str(request.level), request.round, request.index)
        return self._names[int(rng.choice(len(self._names), p=self._shares))]
