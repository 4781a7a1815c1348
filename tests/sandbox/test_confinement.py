"""What holds programs on this host is found out, told once, recorded, and required if asked."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from program_pair import HERE
from reduced_host import CALLS

from specahd.core.events import Observer
from specahd.repair.execution import Execution
from specahd.sandbox.client import inspect_host
from specahd.sandbox.confinement import ENFORCED

pytestmark = pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="uses its system calls"
)

LAYERS = {
    "landlock",
    "limits",
    "network_namespace",
    "no_capabilities",
    "no_new_privileges",
    "seccomp",
    "unprivileged_user",
    "user_namespace",
}
TRAIN = ["budget=smoke", "budget.programs=0", "budget.rounds=1", "tracking=none"]
SMALL = [*TRAIN, *(f"budget.{p}=1" for p in ("lower_train", "upper_train"))]
SMALL += [*(f"budget.{p}=1" for p in ("selection", "validation")), "executor.workers=1"]


def on_a_poorer_host(layers, *command, cwd=None):
    poorer = [sys.executable, str(Path(HERE) / "reduced_host.py"), ",".join(layers)]
    line = [*(poorer if layers else []), sys.executable, *command]
    return subprocess.run(line, cwd=cwd, capture_output=True, text=True, check=False)


def status(layers):
    script = (
        "import json; from specahd.sandbox.client import inspect_host as i; print(json.dumps(i()))"
    )
    done = on_a_poorer_host(layers, "-c", script.replace("i())", "dict(i()))"))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_layer_is_examined():
    found = inspect_host()
    assert set(found) == LAYERS
    assert all(found.values())
    assert found["limits"] == found["no_new_privileges"] == ENFORCED
    # Which does not change, and takes a process.
    assert inspect_host() is found


@pytest.mark.parametrize("layer", CALLS)
def test_a_layer_that_lacks_is_named_with_the_kernels_own_reason(layer):
    if layer == "unprivileged_user" and os.geteuid() != 0:
        pytest.skip("a plain user has no other to become")
    here, there = inspect_host(), status([layer])
    assert there[layer].endswith("Function not implemented")
    # Without a user namespace, who is nobody makes no other.
    follows = {"network_namespace"} if layer == "user_namespace" else set()
    others = LAYERS - {layer} - follows
    assert {name: there[name] for name in others} == {name: here[name] for name in others}


def test_programs_run_on_a_host_that_lacks_everything():
    script = (
        "import numpy as np\n"
        "from program_pair import HERE, HONEST, PROGRAMS\n"
        "from specahd.sandbox.shared_arrays import SharedArrays\n"
        "from specahd.sandbox.calls import Call, SessionLimits\n"
        "from specahd.sandbox.session import Sandbox\n"
        "shared = SharedArrays.allocate([{'matrix': (np.float64, (2, 2))}])\n"
        "with Sandbox(shared, [HONEST], [HERE]) as sandbox:\n"
        "    with sandbox.session(PROGRAMS[:1], SessionLimits(5.0)) as session:\n"
        "        print(session.call(Call(0, 0, (np.array([1]),))).output[0].tolist())\n"
    )
    done = on_a_poorer_host(CALLS, "-c", f"import sys; sys.path.insert(0, {HERE!r})\n{script}")
    assert done.stdout == "[1]\n", done.stderr


def train(layers, cwd, *more):
    command = ["-m", "specahd.train", *SMALL, "hydra.run.dir=run", *more]
    return on_a_poorer_host(layers, *command, cwd=cwd)


def test_strict_refuses_a_host_that_lacks_a_layer_and_writes_nothing(tmp_path):
    done = train(["landlock", "user_namespace"], tmp_path, "sandbox.require=strict")
    assert done.returncode == 2
    [sentence] = done.stderr.splitlines()
    assert sentence.startswith("sandbox.require=strict, and this host lacks landlock (")
    assert "user_namespace (" in sentence
    assert list(tmp_path.iterdir()) == []


def test_a_value_that_require_has_not_is_refused(tmp_path):
    done = train([], tmp_path, "sandbox.require=maybe")
    assert done.returncode == 2
    assert "sandbox.require to be one of available, strict" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_said_where_nothing_lacks():
    class Heard(Observer):
        warnings = 0

        def on_warning(self, text):
            self.warnings += 1

    heard = Heard()
    found = Execution().inspect(heard)
    assert heard.warnings == (set(found.values()) != {ENFORCED})


def test_what_lacks_is_told_in_one_line_and_recorded(tmp_path):
    done = train(["landlock"], tmp_path)
    assert done.returncode == 0, done.stderr
    recorded = (tmp_path / "run" / "sandbox.json").read_text()
    found = json.loads(recorded)
    assert list(found) == sorted(LAYERS)
    lacking = [layer for layer in found if found[layer] != ENFORCED]
    assert "landlock" in lacking
    told = [line for line in done.stderr.splitlines() if line.startswith("Programs run without")]
    assert len(told) == 1
    assert all(layer in told[0] for layer in lacking)
