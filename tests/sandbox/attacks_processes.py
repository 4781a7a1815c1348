"""Attacks against the network and against other processes: see :mod:`attacks_files`."""

import ctypes
import errno
import os
import socket
import sys
import threading

from attacks_files import MARK, REFUSED, attack, raw, refused, wanted

from specahd.core.program import Outcome

# The network.


def opens(family, kind):
    def function(text):
        socket.socket(family, kind)

    return function


for family in ("AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK", "AF_PACKET"):
    for kind in ("SOCK_STREAM", "SOCK_DGRAM", "SOCK_RAW"):
        function = opens(getattr(socket, family), getattr(socket, kind))
        function.__name__ = f"open_{family[3:].lower()}_{kind[5:].lower()}"
        refused(function)


@refused
def make_socket_pair(text):
    socket.socketpair()


@refused
def bind_the_pipe(text):
    return raw(49, 3, ctypes.addressof(ctypes.create_string_buffer(16)), 16)


@refused
def connect_the_pipe(text):
    return raw(42, 3, ctypes.addressof(ctypes.create_string_buffer(16)), 16)


@refused
def send_elsewhere(text):
    address = ctypes.create_string_buffer(b"\x01\x00/tmp/x", 16)
    return raw(44, 3, b"x", 1, 0, ctypes.addressof(address), 16)


@refused
def send_a_descriptor(text):
    return raw(46, 3, ctypes.addressof(ctypes.create_string_buffer(64)), 0)


@attack(Outcome.CRASHED, "gaierror")
def look_up_a_name(text):
    socket.getaddrinfo(b"example.org", 80)


# Other processes.


@refused
def fork(text):
    os.fork()


@refused
def fork_bomb(text):
    while True:
        os.fork()


@refused
def vfork(text):
    raw(58)


@refused
def clone_by_number(text):
    raw(56, 17, 0, 0, 0, 0)


@refused
def clone3(text):
    return raw(435, ctypes.addressof(ctypes.create_string_buffer(88)), 88)


@attack(Outcome.CRASHED, "can't start new thread")
def start_thread(text):
    threading.Thread(target=print).start()


@refused
def execute(text):
    os.execv("/bin/sh", ["sh", "-c", f"touch {wanted(text)}"])


@refused
def execute_anonymous(text):
    return raw(322, 3, b"", 0, 0, 0x1000)


@refused
def spawn(text):
    os.posix_spawn("/bin/sh", ["sh", "-c", f"sleep 600; : {MARK}"], {})


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
def trace_the_parent(text):
    return raw(101, 16, os.getppid(), 0, 0)


@refused
def be_traced(text):
    return raw(101, 0, 0, 0, 0)


@refused
def read_by_process_vm(text):
    vector = (ctypes.c_uint64 * 2)(ctypes.addressof(ctypes.create_string_buffer(8)), 8)
    address = ctypes.addressof(vector)
    return raw(310, os.getppid(), address, 1, address, 1, 0)


@refused
def open_a_process(text):
    return raw(434, os.getppid(), 0)


@refused
def take_a_descriptor(text):
    return raw(438, 3, 0, 0)


@refused
def kill_the_zygote(text):
    os.kill(os.getppid(), 9)


@refused
def kill_everyone(text):
    os.kill(-1, 9)


@refused
def kill_the_group(text):
    os.killpg(os.getppid(), 9)


@refused
def signal_by_thread(text):
    return raw(234, os.getppid(), os.getppid(), 9)


@refused
def signal_by_owner(text):
    # F_SETOWN: the kernel itself signals whoever owns a descriptor.
    return raw(72, 3, 8, os.getppid())


@refused
def slow_everyone(text):
    os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)
