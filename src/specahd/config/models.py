"""Fill in the only model of a user's own server, if the configuration names none."""

from typing import Any

from omegaconf import DictConfig, OmegaConf


def name_models(options: DictConfig) -> None:
    """Fill in the model of a conf group, and of the groups below it, where ``model`` is null.

    The saved configuration then names the model, so a resumed run uses the same one.
    """
    if options.get("base_url") and "model" in options and options.model is None:
        # Imported on demand, since its library takes long to import.
        from specahd.llm.client import ChatProposer

        plain: dict[str, Any] = OmegaConf.to_container(options, resolve=True)  # type: ignore[assignment]  # a mapping
        given = {name: value for name, value in plain.items() if not name.startswith("_")}
        options.model = ChatProposer(**{**given, "model": "unknown"}).only_model()
    for part in options.values():
        if isinstance(part, DictConfig):
            name_models(part)
