"""``python -m specahd.embed``: serve sentence encoders of a local folder at ``/v1/embeddings``.

The server implements OpenAI's embeddings API. The command needs the extra ``embed``.
"""

import sys
from pathlib import Path

from omegaconf import DictConfig, OmegaConf
from rich.console import Console

from specahd.config.cli import run_command
from specahd.config.process import write_lines
from specahd.core.extras import require
from specahd.core.serving import ServerSettings


def embed(config: DictConfig) -> None:
    """Load the models, then answer requests until SIGTERM or Ctrl-C."""
    require("embed", "specahd embed")
    # Imported here, because these modules import packages that only the extra installs.
    from specahd.memory.serving import app, models

    settings: ServerSettings = OmegaConf.to_object(config)  # type: ignore[assignment]  # its schema
    folders = [
        models.ModelFolder(
            name,
            models.find_model_folder(Path(settings.models_dir), name, settings.models[name].path),
            prefix=settings.models[name].prefix,
            max_tokens=settings.models[name].max_tokens,
        )
        for name in (settings.models if settings.serve is None else settings.serve)
    ]
    # The port is opened before the models are loaded, because loading is slow.
    with app.listen(settings.host, settings.port) as listener:
        device = models.choose_device(settings.device)
        encoders = []
        for folder in folders:
            with Console(stderr=True).status(f"Loading {folder.name}"):
                encoder = models.load(folder, device, settings.trust_remote_code)
            write_lines(
                f"{encoder.name}: {encoder.dimension} dimensions, {encoder.max_tokens} tokens, "
                f"{encoder.dtype} on {encoder.device}, from {folder.folder}"
            )
            encoders.append(encoder)
        host, port, *_ = listener.getsockname()
        address = f"[{host}]" if ":" in host else host
        write_lines(f"Serving at http://{address}:{port}/v1; stop with Ctrl-C.")
        sys.stdout.flush()
        service = app.make_app(encoders, settings, settings, settings.timeout)
        app.serve(service, listener, settings.connections)


def main() -> int:
    """Run the command; return its exit status."""
    return run_command(embed, "embed")


if __name__ == "__main__":
    sys.exit(main())
