"""One line for each option of the commands, as ``--help`` prints it.

An option is named as on the command line; ``*`` matches a part of a name. The first pattern
that matches is used, so the options of a single command come first. The line of an option of a
class in ``core/settings.py`` is stored there, beside its range.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from specahd.core.budget import Budget
from specahd.core.ranges import help_lines
from specahd.core.settings import CallLimits, Penalty, Pools, Settings, TierRule

GROUPS: Mapping[str, str] = {
    "problem": "what is routed",
    "llm": "who writes programs",
    "memory": "how programs are compared, and which records mutations see",
    "method": "the search method",
    "budget": "how many programs, rounds and instances",
    "executor": "where programs run",
    "tracking": "who keeps the runs",
    "ablation": "the memory without one of its parts",
    "experiment": "options that belong together",
}

_SERVICE: Mapping[str, str] = {
    "base_url": "its address, before /chat/completions or /embeddings",
    "api_key_env": "the environment variable that holds its key; null: it wants none",
    "timeout": "seconds for an attempt",
    "attempts": "how often one request is made before it fails",
    "deadline": "seconds for all attempts of a request; null: five times timeout",
    "backoff": "seconds of the longest first wait between attempts; it doubles",
    "patience": "seconds of the longest wait between attempts",
    "options": "sent with every request: +{group}.options.NAME=VALUE",
}
_MODEL: Mapping[str, str] = {
    "model": "its name; null: the only one that the server has",
    "input_price": "US dollars for a million tokens of prompts",
    "cached_input_price": "the same for tokens that the service has seen before",
    "output_price": "US dollars for a million tokens of replies",
    "requests_per_minute": "what the service allows; null: no limit",
    "tokens_per_minute": "what the service allows; null: no limit",
    "stream": "whether replies are asked for in pieces",
    **_SERVICE,
}

_COMMON: Mapping[str, str] = {
    **help_lines(Pools, "pools."),
    **help_lines(Budget, "budget."),
    **help_lines(Settings, "search."),
    **help_lines(Penalty, "search.penalty."),
    **help_lines(CallLimits, "limits."),
    **help_lines(TierRule, "tiers."),
    "seed": "same seed, same bytes, whatever the number of workers; at least 0",
    "resume": "a run to go on with: its directory, or its id in MLflow",
    "record": "a file that keeps every reply, for llm=recorded",
    "problem.repair": "rebuild regions: append or insertion; construct: a whole instance",
    "problem.baseline": "the solver whose solutions are repaired",
    "problem.max_regions": "most regions kept from one proposal, at least 1",
    "problem.max_size": "most nodes of a region",
    "problem.repairs_per_customer": "insertions for each customer in a search, at least 1",
    "problem.final_repairs_per_customer": "the same with a finished checkpoint; null: as many",
    "problem.solver_iterations": "iterations of PyVRP, where it is the baseline; at least 1",
    "problem.convention": "how files measure distances that leave it open",
    "problem.customers": "how many customers of Solomon's text to take; null: all",
    "memory.encoders": "views that are compared: syntax, tokens, idea",
    "memory.models.*": "an encoder of the embedding server",
    "memory.fuse": "how many of the encoders are compared, from the first",
    "memory.threshold": "least similarity of a duplicate, above 0 and at most 1",
    "memory.filter": "whether duplicates are turned away before they are evaluated",
    "memory.skills": "most skill records in a mutation request",
    "memory.batch": "texts in a request",
    "memory.cache": "where vectors are kept; null: nowhere",
    **{f"memory.{name}": line.format(group="memory") for name, line in _SERVICE.items()},
    "llm.path": "the cassette, or a run's wal.jsonl, that is replayed",
    "llm.match": "hash or sample: what a recorded reply is found by",
    "llm.weights.*": "this model's share of the requests, at least 0",
    **{f"llm.proposers.*.{name}": line.format(group="llm") for name, line in _MODEL.items()},
    **{f"llm.{name}": line.format(group="llm") for name, line in _MODEL.items()},
    "method.policy.population": "programs that a level keeps, at least 1",
    "method.policy.operators": "variations in turn, once i1 has founded the population",
    "method.policy.rank_offset": "added to a rank before parents are drawn by 1 / (rank + N)",
    "method.policy.distinct": "whether a program that scores just what another does is dropped",
    "method.policy.islands": "populations side by side, at least 1",
    "method.policy.samples_per_prompt": "how often a prompt is sent, at least 1",
    "method.policy.temperature": "of the draw of clusters by score, at least 0.001",
    "method.policy.temperature_period": "programs until the falling temperature starts again",
    "method.policy.reset_period": "samples between resets; null: a quarter of the programs",
    "method.policy.initial": "programs that are written from scratch at first",
    "method.policy.elites": "fittest programs, of which each is mutated, at least 1",
    "method.policy.offspring": "crossovers in a generation, at least 1",
    "method.policy.length_price": "what 1,000 characters of a program cost of its score",
    "method.portfolio": "most programs of the result; of several all are tried on each instance",
    "method.policy.mutation_rate": "mutations of a generation, as a share of the population",
    "method.policy.knowledge": "what experts know, told with initial programs and mutations",
    "method.policy.clusters": "groups of programs that are alike, at most",
    "method.policy.parents": "programs of a cluster that an operator varies",
    "method.policy.partners": "other clusters that a crossover looks at",
    "method.policy.archive": "best programs of all clusters that are kept for summaries",
    "method.policy.features": "what programs are partitioned by",
    "method.policy.released_weighting": "whether pairs are weighed as the released code does",
    "method.policy.kind": "how it goes on after rejections: vns, ils or ts",
    "method.policy.ratio": "share of the lines that is deleted at first, 0.001 to 1",
    "method.policy.initial_temperature": "at which annealing begins, above 0",
    "method.policy.trajectories": "independent ones that share the programs, at least 1",
    "method.policy.elite": "programs kept, of different scores, at least 2",
    "method.policy.exploration": "weight of exploration at the beginning, at least 0",
    "method.policy.widening": "children of a node: its visits to this power, 0 to 1",
    "method.policy.depth": "no descent goes below it, at least 1",
    "method.policy.variations": "programs by each of m1 and m2 in an expansion, at least 1",
    "method.lower": "another method for the lower level, in the form of policy",
    "method.upper": "another method for the upper level, in the form of policy",
    "executor.workers": "worker processes, 1 to 64; no result depends on it",
    "executor.address": "HOST:PORT of the cluster's head, auto, or null for this machine",
    "tracking.uri": "the MLflow store: sqlite:///FILE or http://HOST:PORT",
    "tracking.artifacts": "where a sqlite store keeps artifacts",
    "tracking.experiment": "the experiment that holds the runs",
    "tracking.traces": "requests to the model as traces; null: where one is asked",
    "tracking.patience": "seconds without progress after which MLflow is not waited for",
    "sandbox.require": "strict: do not run where a layer of the sandbox is missing",
}

_COMMANDS: Mapping[str, Mapping[str, str]] = {
    "evaluate": {
        "checkpoint": "a checkpoint, its run's directory, or models:/NAME@ALIAS",
        "pool": "a generated pool: selection, validation …",
        "set": "a public set, or a folder inside one: cvrp_x, sdvrp/SET-1",
        "instance": "a file, a folder, or several: [a.vrp,b.vrp]",
        "public": "the folder of the public sets, with bks.csv",
        "baselines": "a folder that keeps the baseline's solutions; null: none",
        "incumbent": "a file with the solution of instance to repair",
        "baseline": "another solver whose solutions are repaired; null: as trained",
        "accept": "improving or feasible; null: as trained",
        "passes": "most passes over a solution, at least 1; null: as trained",
        "tries": "members that rebuild a region, at least 1; null: as trained",
        "study": "routing: replay the whole repertoire on every region",
    },
    "solve": {
        "instance": "the file: VRPLIB, TSPLIB, Solomon's text, a table of stops (CSV)",
        "time_limit": "seconds of construction and search, at least 0",
        "checkpoint": "whose programs search: a run, by-hand, evolved; null: the better",
        "incumbent": "a file with a solution to start from, as out= writes it; null: none",
        "target": "a cost to compare with, at which the search ends",
        "seed": "for equal repairs, equal seeds give equal solutions; at least 0",
        "repairs": "customers to insert again, in place of time_limit",
        "capacity": "of a table of stops with demands: what a vehicle carries",
        "matrix": "of a table of stops: the file with the distances (CSV or .npy)",
        "ignore": "of a table of stops: columns to leave out, as phone,address",
        "split": "of a table of stops: whether demands may be split",
        "speed": "of a table with times: distance in one unit of time; null: 1",
        "convention": "how files measure distances that leave it open",
        "out": "files, as plan.sol or plan.sol,plan.csv; null: a new folder",
        "plot": "a picture of routes and cost: a file ending in .png, .pdf or .svg",
        "workers": "processes that search beside each other (cvrp, vrptw), 1 to 64",
        "cluster": "the Ray cluster where they are: HOST:PORT or auto; null: here",
        "memory_gb": "GiB that a process of programs may take",
    },
    "prepare": {"verify": "a folder of any instances and solutions to check instead"},
    "track": {"run": "the directory of a run to bring into MLflow"},
    "report": {
        "runs": "a folder of runs",
        "evaluations": "a folder of evaluations; null: the runs' own validation rows",
        "labels": "CSV of level, problem, source, label, note; null: names as they are",
        "references": "a folder of solvers' rows to stand beside several methods; null: none",
        "sets": "a folder of rows of public sets, in folders of methods; null: none",
        "pairs": "whether every two methods are compared, not just the cheapest",
        "audit": "a run to repeat from its files instead of a report; null: none",
    },
    "select": {
        "sweep": "the MLflow id of a sweep whose runs count; null: any",
    },
    "fetch": {
        "mirror": "a folder or address of the public sets; null: only verify",
        "folder": "where the public sets are",
        "connections": "files fetched at a time, 1 to 64",
        "attempts": "how often each file is tried, 1 to 20",
        "timeout": "seconds of silence from the mirror",
    },
    "embed": {
        "host": "the address to listen at",
        "port": "the port to listen at; 0: any that is free",
        "device": "where encoders run: auto, cpu, cuda",
        "models_dir": "the folder of the encoders' folders",
        "models.*.path": "the folder of this encoder; null: its name",
        "models.*.prefix": "what stands before each of its texts",
        "models.*.max_tokens": "tokens that it reads of a text; null: all",
        "serve": "which of the models; null: all",
        "trust_remote_code": "whether code that comes with a model may run",
        "batch_size": "texts encoded at once, 1 to 4096",
        "wait_ms": "milliseconds to wait for more texts, 0 to 1000",
        "queue": "texts that may wait",
        "max_texts": "most texts of a request, 1 to 4096",
        "max_characters": "most characters of a text",
        "timeout": "seconds for a request",
        "connections": "connections at once",
    },
}


def patterns(command: str) -> Mapping[str, str]:
    """Return the descriptions of a command's options by pattern, the command's own first."""
    own = _COMMANDS.get(command, {})
    return {**own, **{pattern: line for pattern, line in _COMMON.items() if pattern not in own}}


def describe(command: str, option: str) -> str:
    """Return the description of an option of a command.

    Raises
    ------
    KeyError
        No pattern matches the option.
    """
    for pattern, line in patterns(command).items():
        if fnmatchcase(option, pattern):
            return line
    raise KeyError(option)
