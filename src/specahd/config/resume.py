"""Going on with a run: its own configuration, and what may be different this time."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf
from yaml import YAMLError

from specahd.config.door import CONFIG, resolved
from specahd.core.errors import ConfigError, FileError

CHANGEABLE = (
    *("executor", "tracking", "sandbox", "llm", "record", "search.samplers"),
    *("memory.base_url", "memory.api_key_env", "memory.batch", "memory.timeout"),
    *("memory.attempts", "memory.backoff", "memory.patience", "memory.cache"),
)
"""What does not enter into any result: replies that were paid for are not asked again.

Of a memory, how its server is reached: verdicts that were found stand in the journal.
"""


def with_choices(arguments: Sequence[str]) -> list[str]:
    """Return a command line that chooses the groups which the run to resume had chosen.

    Single options of those groups can then be overridden, as for a new run.
    """
    words = list(arguments)
    for word in arguments:
        if word.startswith("resume="):
            saved = saved_config(Path(word.removeprefix("resume=")))
            given = {other.partition("=")[0] for other in arguments}
            words += [
                f"{group}={choice}"
                for group, choice in saved.choices.items()
                if choice is not None and group not in given
            ]
    return words


def resumed(config: DictConfig) -> DictConfig:
    """Return the configuration of the run to resume, with what may change as asked for now.

    Parameters
    ----------
    config
        As composed from the command line; its ``resume`` names the run's directory.

    Raises
    ------
    FileError
        The directory holds no run.
    ConfigError
        An option contradicts the run.
    """
    directory = Path(config.resume)
    saved = saved_config(directory)
    chosen: Mapping[str, Any] = HydraConfig.get().runtime.choices
    for key in _asked():
        if key in saved.choices and chosen[key] == saved.choices[key]:
            # That is what `with_choices` added.
            continue
        if not _may_change(key):
            _refuse_change(key, config, saved, chosen, directory)
        elif key in saved.choices:
            saved.choices[key] = chosen[key]
            saved[key] = config[key]
        else:
            OmegaConf.update(saved, key, OmegaConf.select(config, key))
    return saved


def check_same(config: DictConfig, directory: Path) -> None:
    """Refuse to go on with a sweep's job in a directory that holds another run.

    Parameters
    ----------
    config
        As composed for the job.

    Raises
    ------
    ConfigError
        An option contradicts that run.
    FileError
        The configuration in the directory is torn.
    """
    wanted = dict(_flat(OmegaConf.to_container(OmegaConf.create(resolved(config)))))
    had = dict(_flat(OmegaConf.to_container(saved_config(directory))))
    for key in sorted(wanted.keys() | had.keys()):
        option = key.removeprefix("choices.")
        if not _may_change(option) and wanted.get(key) != had.get(key):
            raise ConfigError(
                f"{option} contradicts the run in {directory}, which has {had.get(key)}; "
                "name another hydra.sweep.dir."
            )


def saved_config(directory: Path) -> DictConfig:
    """Return the configuration that a run left in its directory.

    Raises
    ------
    FileError
        There is none, or it is torn.
    """
    path = directory / CONFIG
    if not path.is_file():
        raise FileError(f"{directory} holds no run to resume: it has no {CONFIG}.")
    try:
        saved = OmegaConf.load(path)
    except (YAMLError, UnicodeDecodeError):
        saved = None
    if not isinstance(saved, DictConfig) or "choices" not in saved:
        raise FileError(f"{path} is not the configuration of a run.")
    return saved


def _refuse_change(
    key: str,
    config: DictConfig,
    saved: DictConfig,
    chosen: Mapping[str, Any],
    directory: Path,
) -> None:
    if key in saved.choices:
        wanted, had = chosen[key], saved.choices[key]
    else:
        wanted, had = (_plain(OmegaConf.select(source, key)) for source in (config, saved))
    if wanted != had:
        raise ConfigError(
            f"{key} contradicts the run in {directory}, which has {had}; "
            f"only {', '.join(CHANGEABLE)} may change."
        )


def _asked() -> Sequence[str]:
    """Return the keys of the command line, ``resume`` left out."""
    overrides = HydraConfig.get().overrides.task
    keys = [override.lstrip("+~").partition("=")[0].partition("@")[0] for override in overrides]
    return [key for key in keys if key != "resume"]


def _may_change(key: str) -> bool:
    return any(key == part or key.startswith(f"{part}.") for part in CHANGEABLE)


def _plain(value: Any) -> Any:
    return OmegaConf.to_container(value) if OmegaConf.is_config(value) else value


def _flat(values: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if not isinstance(values, dict):
        yield prefix, values
        return
    for key, value in values.items():
        yield from _flat(value, f"{prefix}.{key}" if prefix else str(key))
