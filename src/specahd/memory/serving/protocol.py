"""OpenAI's embeddings API: requests, responses and errors."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from specahd.core.serving import RequestLimits
from specahd.memory.serving.models import SentenceEncoder, Vectors


class ApiError(Exception):
    """The refusal of a request; ``param`` names the invalid field."""

    def __init__(
        self,
        status: int,
        message: str,
        param: str | None = None,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.param = param
        self.code = code
        self.headers = headers


class EmbeddingRequest(BaseModel):
    """The body of ``POST /v1/embeddings``."""

    model_config = ConfigDict(extra="forbid", strict=True)

    input: str | list[str]
    model: str
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
    user: str | None = None


def parse_request(
    body: bytes | bytearray, limits: RequestLimits
) -> tuple[EmbeddingRequest, list[str]]:
    """Return the request and its texts.

    Raises
    ------
    ApiError
        The request is invalid, or exceeds a limit.
    """
    try:
        request = EmbeddingRequest.model_validate_json(body)
    except ValidationError as invalid:
        first = invalid.errors(include_url=False)[0]
        field = str(first["loc"][0])[:40] if first["loc"] else None
        raise ApiError(400, f"{field or 'The body'}: {first['msg']}.", field) from None
    texts = [request.input] if isinstance(request.input, str) else request.input
    if not texts:
        raise ApiError(400, "Expected input to hold at least one text.", "input")
    if len(texts) > limits.max_texts:
        message = f"Expected input of at most {limits.max_texts} texts, got {len(texts)}."
        raise ApiError(413, message, "input")
    for i, text in enumerate(texts):
        if not text:
            message = f"Expected every text of input to say something: {i} is empty."
            raise ApiError(400, message, "input")
        if len(text) > limits.max_characters:
            message = f"Expected texts of at most {limits.max_characters} characters: {i} has "
            raise ApiError(413, f"{message}{len(text)}.", "input")
    return request, texts


def response_body(request: EmbeddingRequest, vectors: Vectors, tokens: int) -> dict[str, Any]:
    """Return the response body; ``dimensions`` truncates the vectors, which are renormalised."""
    if request.dimensions is not None:
        vectors = vectors[:, : request.dimensions]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors = np.divide(vectors, np.where(lengths > 0, lengths, 1), dtype=np.float32)
    rows: Sequence[Any] = vectors.tolist()
    if request.encoding_format == "base64":
        rows = [base64.b64encode(row.astype("<f4").tobytes()).decode() for row in vectors]
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)
        ],
        "model": request.model,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def error_body(error: ApiError) -> dict[str, Any]:
    """Return the body of an error response."""
    kinds = {429: "rate_limit_error", 500: "server_error"}
    kind = kinds.get(error.status, "invalid_request_error")
    fields = {"message": str(error), "type": kind, "param": error.param, "code": error.code}
    return {"error": fields}


def model_entry(encoder: SentenceEncoder) -> dict[str, Any]:
    """Return a model's entry in ``GET /v1/models``."""
    return {
        "id": encoder.name,
        "object": "model",
        "created": encoder.created,
        "owned_by": "specahd",
        "dimension": encoder.dimension,
        "max_tokens": encoder.max_tokens,
    }
