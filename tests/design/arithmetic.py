"""A proposer of numbered programs, and an executor without processes that measures by numbers."""

from concurrent.futures import Future

from hydra.utils import instantiate
from omegaconf import OmegaConf

from specahd.checkpoint.frozen import Checkpoint
from specahd.config import CONF_DIR
from specahd.core.program import Level, Outcome, Tier
from specahd.core.proposer import Reply
from specahd.core.settings import Accept
from specahd.core.tariff import Tariff
from specahd.repair.cases import Incumbent
from specahd.repair.episodes import Episode
from specahd.repair.evaluator import LowerResult, UpperResult
from specahd.repair.responses import RepairTask, Response, task_key
from specahd.repair.router import ResponseArchive
from specahd.repair.system import Repair
from specahd.routing.base import Region, contracts

PROBLEM = instantiate(OmegaConf.load(CONF_DIR / "problem" / "cvrp.yaml"))
WIDTH = len(PROBLEM.descriptor_names)
BROKEN = 13
"""The number of programs that do not launch, or fail."""
POOLS = {"lower_train": [0, 1], "upper_train": [2, 3], "selection": [4, 5], "validation": [6, 7]}
INCUMBENTS = [Incumbent(0), Incumbent(1)]
SEEDS = {level: contract.seed for level, contract in contracts(PROBLEM.operator).items()}


def number_of(program):
    """Return the number that a program's idea states; 0 for a seed program."""
    digits = "".join(letter for letter in program.idea if letter.isdigit())
    return int(digits) if digits and program.operator != "seed" else 0


def task(case, nodes, *descriptor, solution=None):
    key = task_key(f"x{case}", sorted(nodes), solution)
    filled = (*map(float, descriptor), *(0.0,) * (WIDTH - len(descriptor)))
    return RepairTask(key, case, Region(tuple(nodes)), filled, solution)


def response(number, place):
    """Return how the lower program of a number does on the task at a place, in percent."""
    return Response(Outcome.OK, 100.0, 100.0 - (number * (place + 3)) % 11)


class Arithmetic:
    """Measures by numbers, and notes which cases it was asked to measure on.

    Parameters
    ----------
    exposed
        How many regions an upper program of a number exposes on a case; two unless given.
    """

    workers = 1

    def __init__(self, exposed=lambda number: 2):
        self.exposed = exposed
        self.cases = {"expose": [], "utility": [], "repair": []}
        self.episodes = []
        self.systems = []

    def submit(self, method, *arguments):
        future = Future()
        future.set_result(getattr(self, method)(*arguments))
        return future

    def expose(self, programs, incumbents):
        self.cases["expose"] += [incumbent.case for incumbent in incumbents]
        return [
            task(
                incumbent.case,
                (place + number + 2, place + number + 1),
                *(incumbent.case, number, place),
                solution=incumbent.solution,
            )
            for incumbent in incumbents
            for number in map(number_of, programs)
            for place in range(self.exposed(number))
        ]

    def respond(self, program, tasks, race):
        number = number_of(program)
        if number == BROKEN:
            return LowerResult(False, Tier.INTERPRETED, Outcome.LAUNCH_FAILED, "no", ())
        made = tuple(response(number, place) for place in range(len(tasks)))
        return LowerResult(True, Tier.INTERPRETED, Outcome.OK, "", made)

    def utility(self, program, system, incumbents, penalty, race):
        self.cases["utility"] += [incumbent.case for incumbent in incumbents]
        self.systems.append(system)
        number = number_of(program)
        if number == BROKEN:
            return UpperResult(Outcome.CRASHED, "no", (), (), ())
        count = len(incumbents)
        utilities = (number / 100,) * count
        return UpperResult(Outcome.OK, "", utilities, (0.01,) * count, ((0.5,) * WIDTH,) * count)

    def episode(self, programs, system, case, annealing, path):
        """Reward a pair by both numbers, and a little by the case."""
        self.episodes.append((programs, system, case, path))
        rewards = [
            [number_of(upper) + number_of(lower) + case / 8 for lower in system.repertoire]
            for upper in programs
        ]
        return Episode(case / 4, tuple(map(tuple, rewards)))

    def repair(self, programs, system, case):
        self.cases["repair"].append(case)
        self.systems.append(system)
        cost = 100.0 - sum(map(number_of, programs))
        return Repair(Outcome.OK, "", 100.0, cost, ((case,),), 0, (), (), {})


class InTurn:
    """A proposer whose programs bear the given numbers, by index in their round."""

    def __init__(self, *numbers):
        self.numbers = numbers

    def close(self):
        pass

    def tariff(self, request=None):
        return Tariff(max_reply=2)

    def propose(self, request):
        number = self.numbers[request.index % len(self.numbers)]
        contract = contracts(PROBLEM.operator)[request.level]
        given = ", ".join(contract.arguments)
        body = f"return {number}" if request.level is Level.LOWER else f"return [[{number}]]"
        return Reply(
            f"{{Try {number}.}}\ndef {contract.name}({given}):\n    {body}\n",
            len(request.prompt),
            2,
        )


def asked(run):
    """Return how many programs each round asked of each level."""
    counts = {}
    for sample in run.samples:
        slot = sample["round"], sample["level"]
        counts[slot] = counts.get(slot, 0) + 1
    return counts


def checkpoint(portfolio=False):
    """Return a checkpoint with the seed programs."""
    archive = ResponseArchive(PROBLEM.descriptor_names)
    return Checkpoint(
        problem="arithmetic",
        settings={},
        uppers=(SEEDS[Level.UPPER],),
        repertoire=(SEEDS[Level.LOWER],),
        archive=archive,
        statistics=archive.statistics(),
        accept=Accept.IMPROVING,
        neighbours=5,
        portfolio=portfolio,
    )
