"""One model of one service: its name, and the classification of its errors."""

from collections.abc import Sequence
from dataclasses import dataclass

from specahd.core.errors import ServiceError
from specahd.core.proposer import REFUSED
from specahd.llm.faults import Blocked, Complaint, RetryableError, is_passing, quote_foreign
from specahd.llm.keys import Key

# Number of bytes of a foreign answer that are read for a message.
_READ = 2000


class Refusal(ServiceError):
    """The service refuses all such requests; the HTTP status is the reason."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Service:
    """A model, the host that serves it, and its key, if it needs one.

    ``option`` is the option that names the model in a configuration, for messages.
    """

    model: str
    host: str
    key: Key | None
    option: str = "llm.model"

    def __str__(self) -> str:
        return f"{self.model} at {self.host}"

    @property
    def _group(self) -> str:
        return self.option.partition(".")[0]

    def quote(self, text: str) -> str:
        """Return the service's message for use in a sentence, without the key."""
        return quote_foreign(text, self.key)

    def reply(self, text: str) -> str:
        """Return the model's text without the key, safe to store."""
        return self.key.mask_reply(text) if self.key else text

    def classify(self, status: int, complaint: Complaint, wait: float = 0.0) -> Exception:
        """Classify a complaint: RetryableError, Blocked, or a Refusal.

        Parameters
        ----------
        status
            The HTTP status; 200 if the complaint stands where a reply should.
        wait
            Seconds that the service requires before the next request.
        """
        words = self.quote(complaint.message)
        detail = f" ({words})" if words else ""
        if complaint.no_credit or status == 402:
            return Refusal(402, f"{self.host} has no credit left for {self.model}; top it up.")
        if complaint.blocked:
            return Blocked(f"{REFUSED}{detail}.")
        if complaint.is_too_long(status):
            return Blocked(f"{REFUSED} as too long for the model{detail}.")
        if status == 200:
            return RetryableError(f"the service reports an error{detail}", wait)
        if is_passing(status):
            return RetryableError(f"status {status}{detail}", wait)
        return Refusal(status, self._remedy(status, detail))

    def unlisted_model(self, listed: Sequence[str]) -> Refusal:
        """Return the refusal of a service that lists its models, this one not among them."""
        return Refusal(
            404,
            f"{self.host} has no model {self.model}; set {self.option} to one of its own: "
            f"{self.quote(', '.join(listed))}.",
        )

    def unnamed_model(self, listed: Sequence[str]) -> ServiceError:
        """Return the refusal of a service that has not one model, where none is named."""
        if not listed:
            return ServiceError(f"{self.host} lists no model; set {self.option} to one of its own.")
        return ServiceError(
            f"{self.host} has {len(listed)} models; set {self.option} to one of them: "
            f"{self.quote(', '.join(listed))}."
        )

    def misunderstood(self, body: bytes) -> ServiceError:
        """Return the error for a service whose answer is of another protocol."""
        text = body[:_READ].decode(errors="replace")
        return ServiceError(
            f'{self.host} answers with no chat completion: "{self.quote(text)}"; set '
            f"{self._group}.base_url to its address for OpenAI's protocol, which often ends in /v1."
        )

    def _remedy(self, status: int, detail: str) -> str:
        # Messages about a key quote part of it.
        if status == 401 and self.key is None:
            return (
                f"{self.host} wants a key; "
                f"set {self._group}.api_key_env to the variable that holds it."
            )
        if status == 401 and self.key is not None:
            return f"{self.host} rejects the key in {self.key.source}; put a valid one there."
        if status == 403:
            given = f"the key in {self.key.source}" if self.key else "requests without a key"
            return f"{self.host} denies {self.model} to {given}; use another key or model."
        if status in (404, 405):
            return (
                f"{self.host} has no model {self.model}, or {self._group}.base_url is not its "
                f"address (status {status}); correct one of them."
            )
        streamed = f"{self._group}.stream (true or false), " if "stream" in detail.lower() else ""
        return (
            f"{self.host} rejects the request for {self.model} with status {status}{detail}; "
            f"correct {streamed}{self._group}.options or {self.option}."
        )
