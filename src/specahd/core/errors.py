"""The exceptions of specahd, drawn as a tree.

An expected failure of a generated program is no exception: it is an
:class:`~specahd.core.program.Outcome` value. An exception means an error that the user
can correct, a service that is not available, or a bug in specahd.

::

    SpecAHDError
    ├── UserError            one sentence for the user; commands exit with status 2
    │   ├── ConfigError      an option has an invalid value
    │   ├── FileError        a file or folder cannot be used as it is
    │   │   ├── CheckpointError  a checkpoint is missing, torn or altered
    │   │   └── WriteError       a file or folder cannot be written: full, read-only
    │   ├── NotEnoughMemory  a request does not fit into memory
    │   └── ServiceError     the model service refuses: key, credit, model
    ├── TransportError       a request that never got a reply; its ticket is refunded
    │   └── ServiceUnavailable  it was made as often and as long as the options allow
    ├── RunFailed            one sentence for the user; commands exit with status 1
    │   ├── JournalError     the journal cannot be written; the run must stop
    │   └── ProcessLost      the system ended the process of a program; nobody's answer
    ├── InvalidAnswer        inside the sandbox child only: a program's answer is invalid;
    │                        the parent receives Outcome.INVALID_OUTPUT
    └── NotCompiled          inside the sandbox child only: a program cannot be compiled; the
                             parent receives Outcome.NOT_COMPILED if no other tier replaces it
"""

from specahd.core.display import visible


class SpecAHDError(Exception):
    """Root of the tree above; control characters in a message become escapes."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(_plain(each) for each in arguments))


class UserError(SpecAHDError):
    """An error that the user can correct; the message is one sentence that names the input."""


class ConfigError(UserError):
    """An option has an invalid value."""


class FileError(UserError):
    """A file or folder cannot be used as it is."""


class CheckpointError(FileError):
    """A checkpoint is missing, torn or altered."""


class WriteError(FileError):
    """A file or folder cannot be written: the disk is full or read-only."""


class NotEnoughMemory(UserError):
    """A request does not fit into the memory of this machine."""


class ServiceError(UserError):
    """The model service refuses every request until the user corrects the cause."""


class TransportError(SpecAHDError):
    """A request got no reply from its service."""


class ServiceUnavailable(TransportError):
    """A request got no reply, as often and as long as the options allow it to be made."""


class RunFailed(SpecAHDError):
    """A run cannot go on, or has no result; the message is one sentence with the reason."""


class JournalError(RunFailed):
    """The journal cannot be written, so later results would not be reliable."""


class ProcessLost(RunFailed):
    """The system ended the process of a program, which says nothing about the program."""

    def __init__(self, *_: object) -> None:
        super().__init__(
            "The system ended the process of a program (SIGKILL) or refused to start it, again and "
            "again, as it does where memory is short: use fewer workers, or free memory."
        )


class FileWarning(UserWarning):
    """A warning: a file is usable but suspicious; the message is one sentence."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(_plain(each) for each in arguments))


class InvalidAnswer(SpecAHDError):
    """Raised by a runner in the sandbox child: the program returned no valid answer."""


class NotCompiled(SpecAHDError):
    """Raised by a runner in the sandbox child: the program cannot be compiled."""


def _plain(argument: object) -> object:
    return visible(argument, keep="\n") if isinstance(argument, str) else argument
