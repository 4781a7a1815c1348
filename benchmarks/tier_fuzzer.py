"""Random programs, compiled and interpreted: do they act alike.

    python benchmarks/tier_fuzzer.py [--programs 2000] [--seed 0] [--start 0] [--warm 300]
                                     [--reduce 2] [--out FILE]

Draws programs of the allowed language, runs each in both tiers on small inputs, in the children
of a sandbox, on two heaps where it is compiled, and counts: not compiled, same answers,
failures, differ. FILE gets every program that differs
as it is found; the first of each kind are made smaller and printed. Once --warm programs are
compiled (1 to 2 minutes), takes about 0.3 s of CPU time a program, 10 to make one smaller. What
was broken off goes on with --start: program i of a seed is always the same.
"""

import argparse
import collections
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "tests" / "fuzzing"))

from both_tiers import DIFFERENT, Scene, Verdict, scene
from reduction import reduced


def minimal(bench: Scene, source: str, verdict: Verdict) -> str:
    return reduced(
        source, lambda smaller: bench.admits(smaller) and bench.judge(smaller) == verdict
    )


def by_kind(counts: collections.Counter[Verdict]) -> collections.Counter[str]:
    kinds = collections.Counter[str]()
    for verdict, count in counts.items():
        kinds[verdict.kind] += count
    return kinds


def fuzz(
    programs: range, seed: int, warm: int, most: int, out: Path | None
) -> collections.Counter[Verdict]:
    """Judge some programs; of each kind that differs make so many smaller."""
    counts: collections.Counter[Verdict] = collections.Counter()
    with scene(warm=warm) as bench:
        for index in programs:
            source = bench.draw(seed, index)
            verdict = bench.judge(source)
            counts[Verdict(verdict.kind) if verdict.kind == "not compiled" else verdict] += 1
            if index % 50 == 49:
                print(
                    f"{seed} {index}: {dict(by_kind(counts))}",
                    file=sys.stderr,
                    flush=True,
                )
            if verdict.kind != DIFFERENT:
                continue
            if shown := counts[verdict] <= most:
                source = minimal(bench, source, verdict)
            report = f"# {seed} {index}: {verdict.kind}: {verdict.detail}\n{source}\n"
            if shown:
                print(report, flush=True)
            if out is not None:
                with out.open("a") as file:
                    file.write(report)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--programs", type=int, default=2000, help="in all (default: 2000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="the first program")
    parser.add_argument("--warm", type=int, default=300, help="compiled first (default: 300)")
    parser.add_argument("--reduce", type=int, default=2, help="of each kind (default: 2)")
    parser.add_argument("--out", type=Path, help="a file to which programs that differ are added")
    given = parser.parse_args()
    chosen = range(given.start, given.start + given.programs)
    total = fuzz(chosen, given.seed, given.warm, given.reduce, given.out)
    for kind, count in by_kind(total).most_common():
        print(f"{count:6,} {kind}")
        for verdict, part in total.most_common():
            if verdict.kind == kind and verdict.detail:
                print(f"    {part:6,} {verdict.detail}")


if __name__ == "__main__":
    main()
