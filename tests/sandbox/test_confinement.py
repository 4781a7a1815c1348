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

from specahd import api
from specahd.core.errors import ConfigError
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


def on_a_poorer_host(layers, *command, cwd=None):
    poorer = [sys.executable, str(Path(HERE) / "reduced_host.py"), ",".join(layers)]
    line = [*poorer, sys.executable, *command]
    return subprocess.run(line, cwd=cwd, capture_output=True, text=True, check=False)


def status(layers):
    script = "import json; from specahd.sandbox.client import inspect_host as inspect"
    done = on_a_poorer_host(layers, "-c", f"{script}; print(json.dumps(dict(inspect())))")
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


class Heard(Observer):
    def __init__(self):
        self.warnings = []

    def on_warning(self, text):
        self.warnings.append(text)


def test_nothing_is_said_where_nothing_lacks():
    heard = Heard()
    found = Execution().inspect(heard)
    assert bool(heard.warnings) == (set(found.values()) != {ENFORCED})


def test_what_lacks_is_told_in_one_line_and_refused_if_it_is_required():
    status = dict.fromkeys(LAYERS, ENFORCED) | {"landlock": "no such call", "seccomp": "old"}
    heard = Heard()
    Execution().admit(status, heard)
    [told] = heard.warnings
    assert "without landlock (no such call), seccomp (old);" in told
    with pytest.raises(ConfigError, match=r"require=strict.* landlock \(.*, seccomp \("):
        Execution(require="strict").admit(status, heard)


def test_what_holds_is_recorded_with_a_run(tmp_path):
    class Begun(Exception):
        """Ends it there."""

    class Watcher(Observer):
        def on_start(self, programs, directory):
            raise Begun

    budget = api.Budget(0, lower_train=1, upper_train=1, selection=1, validation=1)
    places = {"out": tmp_path / "run", "pools": tmp_path / "pools"}
    with pytest.raises(Begun):
        api.train("tsp", budget=budget, observer=Watcher(), **places)
    assert json.loads((tmp_path / "run" / "sandbox.json").read_text()) == inspect_host()


def test_strict_refuses_a_host_that_lacks_a_layer_and_writes_nothing(tmp_path):
    words = ["-m", "specahd.train", "sandbox.require=strict", "budget=smoke", "hydra.run.dir=run"]
    done = on_a_poorer_host(["landlock", "user_namespace"], *words, "tracking=none", cwd=tmp_path)
    assert done.returncode == 2
    [sentence] = done.stderr.splitlines()
    assert "lacks landlock (" in sentence
    assert "user_namespace (" in sentence
    assert list(tmp_path.iterdir()) == []
