"""What a memory's novelty filter tells apart, what it costs, and what it saves.

    python benchmarks/novelty.py [PROGRAMS] [--memory structural] [--set base_url=http://HOST/v1]

Prints the Markdown tables of benchmarks/notes/2026-11-20-what-structural-turns-away.md. The
labelled pairs are made from the vocabularies of all problems, PROGRAMS programs (20) of each
contract; the journals of finished pilot runs (benchmarks/pilot.py) say what the filter would have
turned away, and what that scored.
Memories with encoders (`--memory three`) need their server.
"""

import argparse
import ast
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from hydra.utils import instantiate
from omegaconf import OmegaConf

from runs import ROOT, seconds
from specahd.config import CONF_DIR
from specahd.core.contract import Contract
from specahd.core.program import Level, Program, canonical_source
from specahd.core.syntax import parse
from specahd.core.vocabulary import Constant
from specahd.llm.grammar import Grammar, Tree, rounded
from specahd.llm.variation import cross, restructure, simplify
from specahd.memory.memory import FUSED, Memory
from specahd.memory.views import local_names
from specahd.routing.base import contracts

THRESHOLDS = (0.9, 0.95, 0.97, 0.98, 0.985, 0.99, 0.9925, 0.995, 0.996, 0.9975, 1.0)
WORDS = {
    "visit": "choose", "customer": "client", "customers": "clients", "city": "node",
    "cities": "nodes", "least": "smallest", "largest": "greatest", "distance": "length",
    "from here": "from the current position", "minus": "less", "times": "multiplied by",
    "return to": "go back to", "gather": "collect", "exceeds": "is above", "join": "unite",
}  # fmt: skip
Rng = np.random.Generator
Maker = Callable[[], Memory]


@dataclass(frozen=True)
class Pair:
    """Two programs, how the second was made of the first, and whether it repeats it."""

    kind: str
    repeats: bool
    first: Program
    second: Program


def renamed(source: str, _: Rng) -> str:
    """Give every local variable another name."""
    names = {name: f"value_{i}" for i, name in enumerate(sorted(local_names(source)))}
    [function] = parse(source).body
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = names.get(node.arg, node.arg)
    return canonical_source(function)


def reordered(source: str, rng: Rng) -> str:
    """Exchange neighbouring assignments of which neither reads what the other sets."""
    [function] = parse(source).body
    body = function.body
    for _ in range(20):
        first = int(rng.integers(max(len(body) - 1, 1)))
        pair = body[first : first + 2]
        if len(pair) == 2 and all(_is_plain(statement) for statement in pair):
            uses = [{n.id for n in ast.walk(s) if isinstance(n, ast.Name)} for s in pair]
            sets = [statement.targets[0].id for statement in pair]
            if sets[0] not in uses[1] and sets[1] not in uses[0]:
                body[first : first + 2] = pair[::-1]
    return canonical_source(function)


def rewritten(source: str, rng: Rng) -> str:
    """Commute operands, mirror comparisons, call np.f(x) for x.f(), write some values in place."""
    [function] = parse(source).body
    _inline(function)
    return canonical_source(_Rewriting(rng).visit(function))


def reworded(idea: str) -> str:
    """Say the idea in other words."""
    words = idea.lower()
    for word, other in WORDS.items():
        words = words.replace(word, other)
    return words


class _Rewriting(ast.NodeTransformer):
    def __init__(self, rng: Rng) -> None:
        self._rng = rng

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Add | ast.Mult) and self._rng.random() < 0.5:
            node.left, node.right = node.right, node.left
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        mirrored = {ast.Gt: ast.Lt, ast.Lt: ast.Gt, ast.GtE: ast.LtE, ast.LtE: ast.GtE}
        if len(node.ops) == 1 and type(node.ops[0]) in mirrored:
            node.left, node.comparators = node.comparators[0], [node.left]
            node.ops = [mirrored[type(node.ops[0])]()]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        names = ("min", "max", "mean", "sum", "std")
        if isinstance(node.func, ast.Attribute) and node.func.attr in names:
            owner = node.func.value
            if not (isinstance(owner, ast.Name) and owner.id == "np"):
                node.func.value = ast.Name("np", ast.Load())
                node.args.insert(0, owner)
        return node


def _is_plain(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)


def _inline(function: ast.FunctionDef) -> None:
    """Write a value in place of the one local that only the next statement reads, once."""
    names = [node.id for node in ast.walk(function) if isinstance(node, ast.Name)]
    for position, (statement, after) in enumerate(
        zip(function.body, function.body[1:], strict=False)
    ):
        if not (_is_plain(statement) and isinstance(after, ast.Assign | ast.Return)):
            continue
        name = statement.targets[0].id
        uses = [n for n in ast.walk(after) if isinstance(n, ast.Name) and n.id == name]
        if names.count(name) == 2 and len(uses) == 1:
            value = statement.value

            class InPlace(ast.NodeTransformer):
                def visit_Name(self, node: ast.Name, name=name, value=value) -> ast.AST:
                    return value if node.id == name else node

            function.body[position : position + 2] = [InPlace().visit(after)]
            return


def changed(tree: Tree, rng: Rng, *, slight: bool) -> Tree:
    """Change every number by 3% at most, or one by a factor of 1.5 to 3."""
    places = [(path, node) for path, node in tree.walk() if isinstance(node.rule, Constant)]
    for index in rng.permutation(len(places)):
        path, node = places[index]
        factor = rng.uniform(0.97, 1.03) if slight else rng.uniform(1.5, 3) ** rng.choice([-1, 1])
        value = rounded(node.value * factor, node.rule)
        if slight:
            tree = tree.replace_at(path, Tree(node.rule, value=value))
        elif max(value, node.value) >= 1.4 * min(value, node.value):
            return tree.replace_at(path, Tree(node.rule, value=value))
    return tree


def pairs(contract: Contract, count: int, draw: int = 7) -> Iterator[Pair]:
    """Make pairs of every kind from one contract's vocabulary; other draws, other pairs."""
    grammar = Grammar(contract.vocabulary)
    rng = np.random.default_rng([draw, *contract.task.encode()])

    def program(tree: Tree) -> Program:
        source = grammar.source(tree, contract.name, contract.arguments)
        return replace(contract.seed, id="", source=source, idea=grammar.idea(tree))

    trees = [grammar.draw_program(rng) for _ in range(count)]
    seed = grammar.recover(contract.seed.source)
    trees = trees + ([seed] if seed else [])
    same: dict[str, Callable[[str, Rng], str]] = {
        "renamed variables": renamed,
        "reordered statements": reordered,
        "equal rewriting": rewritten,
    }
    for tree, another in zip(trees, trees[1:] + trees[:1], strict=True):
        # Mature programs are children themselves, and larger than fresh ones.
        parent = restructure(grammar, tree, rng) if rng.random() < 0.5 else tree
        base = program(parent)
        for kind, change in same.items():
            yield Pair(kind, True, base, replace(base, source=change(base.source, rng)))
        rewriting = renamed(rewritten(base.source, rng), rng)
        other = replace(base, source=rewriting, idea=reworded(base.idea))
        yield Pair("rewritten, renamed and reworded", True, base, other)
        yield Pair("constants within 3%", True, base, program(changed(parent, rng, slight=True)))
        strong = changed(parent, rng, slight=False)
        yield Pair("one constant × 1.5 to 3", False, base, program(strong))
        yield Pair("one part changed (m1)", False, base, program(restructure(grammar, parent, rng)))
        simpler = simplify(grammar, parent, rng)
        if simpler is not None:
            yield Pair("one part removed (m3)", False, base, program(simpler))
        yield Pair("crossed (e2)", False, base, program(cross(parent, another, rng)))
        yield Pair("another program", False, base, program(another))


def similarity(pair: Pair, make: Maker) -> dict[str, float]:
    """Return how alike the two are by encoder, and fused."""
    memory = make()
    memory.judge(replace(pair.first, id="first"))
    return dict(memory.judge(replace(pair.second, id="second")).similarity)


def drawn(count: int, draw: int) -> Iterator[Pair]:
    """Make the pairs of all contracts, without those that change nothing."""
    for contract in every_contract():
        for pair in pairs(contract, count, draw):
            if pair.first.source != pair.second.source:
                yield pair


def again(count: int, make: Maker, threshold: float) -> None:
    """Print precision and recall of the conf's threshold on pairs that did not choose it."""
    caught = [
        (pair.repeats, similarity(pair, make)[FUSED] >= threshold) for pair in drawn(count, 8)
    ]
    repeats, found = np.array(caught).T
    right = (repeats & found).sum()
    print(
        f"\nAnother draw of {len(repeats)} pairs, threshold {threshold}: "
        f"precision {right / found.sum():.3f}, recall {right / repeats.sum():.3f}"
    )


def study(count: int, make: Maker) -> None:
    """Print similarity by kind, and precision and recall by threshold."""
    made = list(drawn(count, 7))
    measured = [(pair, similarity(pair, make)) for pair in made]
    views = [name for name in measured[0][1] if name != FUSED]
    repeats = np.array([pair.repeats for pair in made])
    fused = np.array([found[FUSED] for _, found in measured])
    print(f"\n| kind | pairs | {' | '.join(views)} | fused: 5% | median | 95% |")
    print("|---|---|" + "---|" * (len(views) + 3))
    for kind in dict.fromkeys(pair.kind for pair in made):
        rows = [found for pair, found in measured if pair.kind == kind]
        medians = [f"{np.median([row[view] for row in rows]):.3f}" for view in views]
        spread = [f"{x:.3f}" for x in np.percentile([row[FUSED] for row in rows], [5, 50, 95])]
        print(f"| {kind} | {len(rows)} | {' | '.join(medians + spread)} |")
    kinds = list(dict.fromkeys(pair.kind for pair in made))
    print(f"\n| threshold | precision | recall | {' | '.join(kinds)} |")
    print("|---|---|---|" + "---|" * len(kinds))
    for threshold in THRESHOLDS:
        caught = fused >= threshold
        right = int((caught & repeats).sum())
        cells = [f"{right / max(int(caught.sum()), 1):.3f}", f"{right / repeats.sum():.3f}"]
        for kind in kinds:
            members = np.array([pair.kind == kind for pair in made])
            cells.append(f"{100 * caught[members].mean():.0f}%")
        print(f"| {threshold} | {' | '.join(cells)} |")


def every_contract() -> Iterator[Contract]:
    """Yield both contracts of every problem in conf/problem."""
    for path in sorted((CONF_DIR / "problem").glob("*.yaml")):
        problem = instantiate(OmegaConf.load(path))
        yield from (contracts(problem.operator)[level] for level in Level)


def journals() -> Iterator[tuple[Path, list[dict]]]:
    """Yield the finished pilot runs with their samples."""
    for path in sorted(ROOT.glob("pilot-*/journal.jsonl")):
        records = [json.loads(line) for line in path.read_text().splitlines()]
        samples = [record for record in records if record.get("source")]
        if samples:
            yield path.parent, samples


def judged(
    directory: Path, samples: list[dict], make: Maker
) -> Iterator[tuple[dict, object, float]]:
    """Run a filter over a journal; yield sample, verdict and seconds."""
    problem = instantiate(OmegaConf.load(directory / "config.yaml").problem)
    memories = {level: make() for level in Level}
    for level, memory in memories.items():
        memory.judge(contracts(problem.operator)[level].seed)
    for sample in samples:
        level = Level(sample["level"])
        names = ("source", "idea", "operator")
        program = Program(
            sample["sample"], level, *(sample[name] for name in names), contract="append"
        )
        began = time.process_time()
        verdict = memories[level].judge(program)
        yield sample, verdict, time.process_time() - began


def cost(make: Maker) -> None:
    """Print the filter's share of each pilot run: CPU seconds, the least of five passes."""
    print("\n| run | programs | ms per program | exact filter alone | filter, s | run, s | share |")
    print("|---|---|---|---|---|---|---|")
    for directory, samples in journals():
        spent = [
            min(sum(second for *_, second in judged(directory, samples, maker)) for _ in range(5))
            for maker in (make, lambda: Memory(filter=True))
        ]
        each = [f"{1000 * total / len(samples):.2f}" for total in spent]
        run = seconds(directory)
        print(
            f"| {directory.name} | {len(samples)} | {each[0]} | {each[1]} "
            f"| {spent[0]:.2f} | {run:.0f} | {100 * spent[0] / run:.2f}% |"
        )


def saved(make: Maker) -> None:
    """Print what each threshold would have turned away, and what that had scored."""
    runs = [
        (samples, [verdict for _, verdict, _ in judged(folder, samples, make)])
        for folder, samples in journals()
    ]
    print("\n| threshold | saved per 1,000 tickets | of m2 | better than the nearest | survived |")
    print("|---|---|---|---|---|")
    tickets = sum(len(samples) for samples, _ in runs)
    for threshold in THRESHOLDS:
        away, better, compared, lived = [], 0, 0, 0
        for samples, verdicts in runs:
            by_name = {sample["sample"]: sample for sample in samples}
            for sample, verdict in zip(samples, verdicts, strict=True):
                if sample["outcome"] == "duplicate" or verdict.similarity[FUSED] < threshold:
                    continue
                away.append(sample)
                lived += sample["sample"] in samples[-1]["survivors"]
                nearest = by_name.get(verdict.nearest, {"round": None})
                if nearest["round"] == sample["round"] and nearest["score"] is not None:
                    compared += 1
                    better += sample["score"] > nearest["score"]
        m2 = sum(sample["operator"] == "m2" for sample in away)
        print(
            f"| {threshold} | {1000 * len(away) / tickets:.0f} | {m2} of {len(away)} "
            f"| {better} of {compared} | {lived} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("programs", type=int, nargs="?", default=20)
    parser.add_argument("--memory", default="structural", help="a choice of conf/memory")
    parser.add_argument("--set", nargs="*", default=[], help="options of it: base_url=…")
    given = parser.parse_args()
    conf = OmegaConf.load(CONF_DIR / "memory" / f"{given.memory}.yaml")
    conf.merge_with_dotlist(given.set)
    threshold = conf.threshold
    # Nothing that differs is turned away, so that every similarity is seen.
    conf.merge_with({"filter": True, "threshold": 1.0, "skills": 0})

    def make() -> Memory:
        return instantiate(conf)

    make().preflight()
    study(given.programs, make)
    again(given.programs, make, threshold)
    if any(journals()):
        cost(make)
        saved(make)


if __name__ == "__main__":
    main()
