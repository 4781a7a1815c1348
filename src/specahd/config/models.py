"""Fill in the only model of a user's own server, if the configuration names none."""

from typing import Any

from omegaconf import DictConfig, OmegaConf


def name_models(options: DictConfig) -> None:
    """Fill in the models that a conf group, or a group below it, leaves to their servers.

    So the saved configuration names the model, and a resumed run uses the same one.

    Raises
    ------
    ServiceError
        A server cannot be reached, or has not exactly one model.
    ConfigError
        Another option of the service is out of range.
    """
    if "base_url" in options and "model" in options and options.model is None:
        # Its library takes a while to import.
        from specahd.llm.client import ChatProposer

        plain: dict[str, Any] = OmegaConf.to_container(options, resolve=True)  # type: ignore[assignment]  # a mapping
        given = {name: value for name, value in plain.items() if not name.startswith("_")}
        options.model = ChatProposer(**{**given, "model": "unknown"}).only_model()
    for part in options.values():
        if isinstance(part, DictConfig):
            name_models(part)
