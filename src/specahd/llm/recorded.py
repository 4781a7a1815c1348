"""Cassettes: files of a language model's recorded replies, which are replayed.

A cassette holds one JSON line per reply with the sample that it was for and the
hash of its request. A run that is replayed makes the same requests, so it gets
the same replies and writes the same journal and checkpoint, without network and
key. The ``wal.jsonl`` of a run holds these fields among others, so every run is a
cassette already. Where prompts have changed since, replies can be found by sample.
"""

import sys
import threading
from collections.abc import Collection, Mapping
from dataclasses import asdict
from functools import reduce
from pathlib import Path
from typing import Annotated, Any

from specahd.core import journal
from specahd.core.contract import Contract, Request
from specahd.core.errors import FileError, JournalError, ServiceError
from specahd.core.journal import JournalFile
from specahd.core.options import Option, checked
from specahd.core.proposer import Proposer, Reply, ReplyRecord
from specahd.core.tariff import FREE, Tariff

HASH, SAMPLE = "hash", "sample"
"""Keys of a reply: the hash of its request, or its sample alone."""


class _Line(ReplyRecord, frozen=True, kw_only=True):
    """A line of a cassette, or of a run's ``wal.jsonl``."""

    hash: str
    sample: str | None = None
    tariff: Tariff | None = None

    @property
    def price(self) -> Tariff:
        """The price of the reply; its cost if the line has no price."""
        tokens = self.prompt_tokens + self.completion_tokens
        price = 1e6 * self.cost / max(1, tokens)
        return self.tariff or (Tariff(price, price) if tokens or price else FREE)


def reply_record(request: Request, reply: Reply, tariff: Tariff) -> dict[str, Any]:
    """Return the line of a reply in a cassette, which a run's ``wal.jsonl`` extends."""
    return {
        "sample": request.id,
        "hash": request.hash,
        **reply.record,
        **({} if tariff == FREE else {"tariff": asdict(tariff)}),
    }


class Recorder:
    """Passes requests on to a proposer and keeps every reply on a cassette.

    A cassette that exists is continued, as a resumed run needs it. It holds replies, what they
    cost, and the host and the model that gave them; never a path, a header or a key.

    Parameters
    ----------
    proposer
        The proposer that answers.
    path
        The cassette, in a folder that exists.
    """

    def __init__(self, proposer: Proposer, path: str | Path) -> None:
        self._proposer = proposer
        self._path = Path(path)
        self._lock = threading.Lock()

    def preflight(self, contracts: Collection[Contract] = ()) -> None:
        """Make sure that the proposer can answer and the cassette can be continued.

        Raises
        ------
        FileError
            The file is no cassette, or cannot be written.
        """
        self._proposer.preflight(contracts)
        # Opening cuts off a torn last line, so it must be a cassette's.
        if self._path.exists():
            _read_lines(self._path)
        try:
            JournalFile(self._path).close()
        except JournalError as error:
            raise FileError(str(error)) from error

    def propose(self, request: Request) -> Reply:
        """Pass the request on, and write the reply to disk."""
        tariff = self._proposer.tariff(request)
        reply = self._proposer.propose(request)
        with self._lock:
            cassette = JournalFile(self._path)
            try:
                cassette.append(reply_record(request, reply, tariff))
            finally:
                cassette.close()
        return reply

    def tariff(self, request: Request | None = None) -> Tariff:
        return self._proposer.tariff(request)

    def close(self) -> None:
        self._proposer.close()


class Recorded:
    """Answers from a cassette; tokens and cost are those of the recording.

    Parameters
    ----------
    match
        ``hash``: a reply answers the request that it was recorded for and no other.
        ``sample``: it answers any request for the sample of the same level, round and index.
        The replies of a model then remain usable when a prompt has changed, but the run is
        no longer one that the model has made.

    Raises
    ------
    ConfigError
        ``match`` is neither.
    FileError
        The file is missing, cannot be read or is neither; or replies are found by
        sample, and it has none, or is of several runs.
    """

    @checked("llm.")
    def __init__(
        self,
        path: Annotated[str | Path, Option("the cassette, or a run's wal.jsonl, that is replayed")],
        match: Annotated[
            str,
            Option("hash or sample: what a recorded reply is found by", choices=(HASH, SAMPLE)),
        ] = HASH,
    ) -> None:
        self._path = Path(path)
        self._match = match
        lines = _read_lines(self._path, match)
        self._replies = {key: line.answer for key, line in lines.items()}
        self._tariffs = {key: line.price for key, line in lines.items()}
        self._dearest = reduce(Tariff.dearer, self._tariffs.values()) if self._tariffs else FREE

    def preflight(self, contracts: Collection[Contract] = ()) -> None:
        """Warn that a replay by sample is not faithful."""
        if self._match == SAMPLE:
            sys.stderr.write(
                f"llm.match=sample: {self._path} answers by sample, whatever the prompts say.\n"
            )

    def tariff(self, request: Request | None = None) -> Tariff:
        """Return the recording's tariff, so that a bound ends a replay where it ended the run.

        A request that was not recorded has the price of the most expensive one.
        """
        if request is None:
            return self._dearest
        return self._tariffs.get(self._key(request), self._dearest)

    def close(self) -> None:
        """Do nothing."""

    def propose(self, request: Request) -> Reply:
        """Return the reply that was recorded for the request, or for its sample."""
        reply = self._replies.get(self._key(request))
        if reply is not None:
            return reply
        if self._match == SAMPLE:
            raise ServiceError(f"{self._path} has no reply for {request.id}.")
        raise ServiceError(
            f"{self._path} has no reply to the request for {request.id}; replay it with the "
            "options and the version of the run that was recorded, record it anew, or let "
            "llm.match=sample take replies whatever the prompts say."
        )

    def _key(self, request: Request) -> str:
        return request.hash if self._match == HASH else request.id


def _read_lines(path: Path, match: str = HASH) -> Mapping[str, _Line]:
    """Return the lines of a cassette by the hash of their request, or by their sample.

    A request that was made twice, by a run that was killed and resumed, has the
    reply that the run went on with: the last. A torn last line is skipped.
    """
    if not path.is_file():
        raise FileError(f"{path} is not a file; expected a cassette or the wal.jsonl of a run.")
    lines: dict[str, _Line] = {}
    for number, line in enumerate(journal.read_records(path, _Line), start=1):
        key = line.hash if match == HASH else line.sample
        if key is None:
            raise journal.damaged_line_error(path, number, "missing required field sample")
        if key in lines and lines[key].hash != line.hash:
            raise FileError(
                f"{path}: line {number} answers another request for {key} than a line above; "
                "llm.match=sample needs the replies of one run."
            )
        lines[key] = line
    if not lines and path.stat().st_size:
        raise FileError(f"{path}: line 1 is not complete.")
    return lines
