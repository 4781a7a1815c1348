"""What search methods are told, made by hand: rounds, and samples that were measured or failed."""

from offered import contract_of
from specahd.core.contract import Operator, Parent, Request
from specahd.core.program import Level, Outcome, Program
from specahd.search.base import RoundStart, Sample

CONTRACT = contract_of("cvrp", Level.LOWER)


def parent(name, score, responses=(), source=CONTRACT.seed.source):
    program = Program(name, Level.LOWER, source, "", "seed", contract=CONTRACT.id)
    return Parent(program, score, responses)


def by_score(known):
    """Return a round's order of programs: by score, older first on ties."""

    def rank(programs):
        parents = [known[program.id] for program in programs]
        return sorted(parents, key=lambda parent: -parent.score)

    return rank


def start(*carried, tickets=60):
    known = {parent.program.id: parent for parent in carried}
    return RoundStart(CONTRACT, tickets, carried, by_score(known))


def measured(index, parent, operator=Operator("any", "")):
    """Return what is told of a program that was retained."""
    return Sample(
        Request(CONTRACT, 0, Level.LOWER, 1, index, operator),
        "",
        Outcome.OK,
        program=parent.program,
        score=parent.score,
        retained=True,
        responses=parent.responses,
    )


def failed(index, operator=Operator("any", "")):
    """Return what is told of a reply without a program."""
    return Sample(
        Request(CONTRACT, 0, Level.LOWER, 1, index, operator), "?", Outcome.PARSE_ERROR, "None."
    )
