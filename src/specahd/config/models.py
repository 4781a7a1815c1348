"""The model that a server of one's own has, for a configuration that names none."""

from typing import Any

from omegaconf import DictConfig, OmegaConf


def name_models(options: DictConfig) -> None:
    """Write into a conf group, and the groups below it, the models that it leaves to their servers.

    So the run's configuration tells which one it was, and a resumed run asks the same.

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
