"""Makes this host a poorer one, for real: ``python reduced_host.py LAYER,… COMMAND …``.

A seccomp filter takes from the command, and from all that it starts, the system call
that each layer is built with.
"""

import errno
import os
import sys

from specahd.sandbox import kernel, seccomp

CALLS = {
    "landlock": 444,
    "seccomp": None,
    "user_namespace": 272,
    "unprivileged_user": 117,
    "no_capabilities": 126,
}
# Without it no process has limits, so that no program can be started.
START = {"process": 302}
PRCTL, SET_SECCOMP = 157, 22
LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.ENOSYS


def without(layers):
    """Return the filter: everything is allowed but what the layers need."""
    program = [(LOAD, 0, 0, 0)]
    for layer in layers:
        if layer != "seccomp":
            program += [(IF_EQUAL, 0, 1, (CALLS | START)[layer]), (RETURN, 0, 0, REFUSE)]
    if "seccomp" in layers:
        program += [
            (IF_EQUAL, 0, 3, PRCTL),
            (LOAD, 0, 0, 16),
            (IF_EQUAL, 0, 1, SET_SECCOMP),
            (RETURN, 0, 0, REFUSE),
        ]
    return seccomp.assemble([*program, (RETURN, 0, 0, ALLOW)])


if __name__ == "__main__":
    kernel.set_no_new_privileges()
    seccomp.install(without(sys.argv[1].split(",")))
    os.execv(sys.argv[2], sys.argv[2:])
