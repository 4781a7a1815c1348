"""Attacks against the network and against other processes: see :mod:`attacks_files`."""

import ctypes
import errno
import os
import resource
import socket
import sys
import threading
from functools import partial

from attacks_files import MARK, REFUSED, add, add_refused, calls, raw, refused, wanted

from specahd.core.program import Outcome

# The network.


def opens(family, kind, text):
    socket.socket(family, kind)


for family in ("AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK", "AF_PACKET"):
    for kind in ("SOCK_STREAM", "SOCK_DGRAM", "SOCK_RAW"):
        name = f"open_{family[3:].lower()}_{kind[5:].lower()}"
        add_refused(**{name: partial(opens, getattr(socket, family), getattr(socket, kind))})

add_refused(
    make_socket_pair=lambda text: socket.socketpair(),
    bind_the_pipe=calls(49, 3, bytes(16), 16),
    connect_the_pipe=calls(42, 3, bytes(16), 16),
    send_elsewhere=calls(44, 3, b"x", 1, 0, b"\x01\x00/tmp/x", 16),
    send_a_descriptor=calls(46, 3, bytes(64), 0),
)
add(
    Outcome.CRASHED,
    "gaierror",
    look_up_a_name=lambda text: socket.getaddrinfo(b"example.org", 80),
)

# Other processes.


@refused
def fork_bomb(text):
    while True:
        os.fork()


@refused
def run_by_shell(text):
    if os.system(f"touch {wanted(text)}") != 0:
        raise PermissionError(errno.EPERM, REFUSED)


@refused
def leave_a_grandchild(text):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", MARK])


@refused
def read_by_process_vm(text):
    vector = (ctypes.c_uint64 * 2)(ctypes.addressof(ctypes.create_string_buffer(8)), 8)
    address = ctypes.addressof(vector)
    return raw(310, os.getppid(), address, 1, address, 1, 0)


add_refused(
    fork=lambda text: os.fork(),
    vfork=calls(58),
    clone_by_number=calls(56, 17, 0, 0, 0, 0),
    clone3=calls(435, bytes(88), 88),
    execute=lambda text: os.execv("/bin/sh", ["sh", "-c", f"touch {wanted(text)}"]),
    execute_anonymous=calls(322, 3, b"", 0, 0, 0x1000),
    spawn=lambda text: os.posix_spawn("/bin/sh", ["sh", "-c", f"sleep 600; : {MARK}"], {}),
    trace_the_parent=lambda text: raw(101, 16, os.getppid(), 0, 0),
    be_traced=calls(101, 0, 0, 0, 0),
    open_a_process=lambda text: raw(434, os.getppid(), 0),
    take_a_descriptor=calls(438, 3, 0, 0),
    kill_the_zygote=lambda text: os.kill(os.getppid(), 9),
    kill_everyone=lambda text: os.kill(-1, 9),
    kill_the_group=lambda text: os.killpg(os.getppid(), 9),
    signal_by_thread=lambda text: raw(234, os.getppid(), os.getppid(), 9),
    # F_SETOWN: the kernel itself signals whoever owns a descriptor.
    signal_by_owner=lambda text: raw(72, 3, 8, os.getppid()),
    slow_everyone=lambda text: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19),
    limit_the_parent=lambda text: resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1)),
)
add(
    Outcome.CRASHED,
    "can't start new thread",
    start_thread=lambda text: threading.Thread(target=print).start(),
)
