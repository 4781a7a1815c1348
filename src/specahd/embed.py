"""``python -m specahd.embed``: serve sentence encoders of a local folder at ``/v1/embeddings``.

It speaks OpenAI's embeddings API and needs the extra ``embed``.
"""

import sys
from pathlib import Path

from omegaconf import DictConfig
from rich.console import Console

from specahd.config.cli import run_command
from specahd.memory import serving


def embed(config: DictConfig) -> None:
    """Load the models, then answer requests until SIGTERM or Ctrl-C."""
    serving.require()
    # Here, for they import what only the extra installs.
    from specahd.memory.serving import app, models
    from specahd.memory.serving.batching import Batching
    from specahd.memory.serving.protocol import RequestLimits

    folders = [
        models.ModelFolder(
            name,
            models.locate(Path(config.models_dir), name, config.models[name].path),
            config.models[name].prefix,
            config.models[name].max_tokens,
        )
        for name in (config.models if config.serve is None else config.serve)
    ]
    limits = RequestLimits(config.max_texts, config.max_characters)
    batching = Batching(config.batch_size, config.wait_ms / 1000, config.queue)
    # Before the models are loaded, which takes its time.
    with app.claim(config.host, config.port) as listener:
        device = models.choose_device(config.device)
        encoders = []
        for folder in folders:
            with Console(stderr=True).status(f"Loading {folder.name}"):
                encoder = models.load(folder, device, config.trust_remote_code)
            sys.stdout.write(
                f"{encoder.name}: {encoder.dimension} dimensions, {encoder.max_tokens} tokens, "
                f"{encoder.dtype} on {encoder.device}, from {folder.folder}\n"
            )
            encoders.append(encoder)
        host, port, *_ = listener.getsockname()
        shown = f"[{host}]" if ":" in host else host
        sys.stdout.write(f"Serving at http://{shown}:{port}/v1; stop with Ctrl-C.\n")
        sys.stdout.flush()
        service = app.make_app(encoders, limits, batching)
        app.serve(service, listener, config.timeout, config.connections)


def main() -> int:
    """Run the command; return its exit status."""
    return run_command(embed, "embed")


if __name__ == "__main__":
    sys.exit(main())
