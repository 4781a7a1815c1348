"""What a stranger may do to honest files, and a watch over what comes of it."""

import copy
import hashlib
import json
from contextlib import contextmanager

from frozen import freeze_seeds
from specahd.core.errors import RunFailed, UserError

SECRET = "canary-7c1f"
CALLS = {
    "_target_": "specahd.tracking.provenance._git",
    "_args_": ["-c", "alias.x=!touch PWNED; echo nearest", "x"],
}


def stand(place, monkeypatch):
    """Stand in a folder where nothing may appear, with a secret that nobody may tell."""
    monkeypatch.setenv("SPECAHD_CANARY", SECRET)
    monkeypatch.chdir(place)
    (place / "outside.py").write_text("def stolen(): pass\n")
    return place


def seal(checkpoint):
    """Give a checkpoint sums that fit what is in it."""
    sums = checkpoint / "SHA256SUMS"
    paths = sorted(path for path in checkpoint.rglob("*") if path.is_file() and path != sums)
    names = [path.relative_to(checkpoint).as_posix() for path in paths]
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]
    sums.write_text("".join(f"{each}  {name}\n" for each, name in zip(hashes, names, strict=True)))


def rewrite(checkpoint, change):
    path = checkpoint / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))
    seal(checkpoint)


def deep(levels):
    value: list = []
    for _ in range(levels):
        value = [value]
    return value


STRANGE = [
    CALLS,
    {"baseline": CALLS},
    [CALLS],
    "${oc.env:SPECAHD_CANARY}",
    "x${hydra:runtime.cwd}",
    "/etc/passwd",
    "../outside",
    "../../outside",
    "a/b",
    "",
    "é",
    "\u202e\x1b[31m",
    "x" * 100_000,
    None,
    True,
    -1,
    0,
    10**30,
    -(10**400),
    1.5,
    1e308,
    [],
    {},
    [[]],
    {"": 0},
    {"_target_": "os.system"},
    {"_args_": ["touch PWNED"]},
    "???",
    deep(200),
]


def parts(value, path=()):
    """Yield the way to every part of plain data."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from parts(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from parts(value[index], (*path, index))


def mutated(honest, rng):
    """Return plain data in which one part is another, is gone, or has a companion."""
    made = copy.deepcopy(honest)
    *above, last = rng.choice([path for path in parts(made) if path])
    holder = made
    for step in above:
        holder = holder[step]
    deed = rng.random()
    if deed < 0.7:
        holder[last] = copy.deepcopy(rng.choice(STRANGE))
    elif deed < 0.85:
        del holder[last]
    elif isinstance(holder, dict):
        name = rng.choice(["_target_", "_args_", "_partial_", "x", "../x", "${x}", "a b"])
        holder[name] = copy.deepcopy(rng.choice(STRANGE))
    else:
        holder.append(copy.deepcopy(rng.choice(STRANGE)))
    return made


def look(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@contextmanager
def harmless(place, capfd, case):
    """Let a refusal pass that is one sentence; refuse any other, any attack and any told secret."""
    before, said = look(place), ""
    try:
        yield
    except (UserError, RunFailed) as error:
        said = str(error)
        assert len(said.splitlines()) == 1, case
        assert len(said) < 700, case
        assert said.isprintable(), case
    out, err = capfd.readouterr()
    assert SECRET not in said + out + err, case
    assert look(place) == before, case


TEXTS = [
    *(b"", b"[]", b"null", b"3", b"{", b"\xff\xfe", b'{"schema": 1, "schema": 1}', b"NaN"),
    *(b"[" * 100_000, b'{"schema": ' + b"9" * 5000 + b"}", b'{"schema": 2}', b" " * (5 << 20)),
]


def attacked(place):
    checkpoint = freeze_seeds("cvrp", place / "checkpoint")
    rewrite(checkpoint, lambda manifest: manifest.update(settings={"baseline": CALLS}))
    return checkpoint
