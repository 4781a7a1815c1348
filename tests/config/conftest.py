"""Compositions of ``conf/`` as the commands make them."""

import pytest
from hydra import initialize_config_dir
from hydra.core.hydra_config import HydraConfig

from specahd.config import CONF_DIR
from specahd.config.schemas import register_schemas


@pytest.fixture
def conf():
    """Let tests compose, and forget what they composed."""
    register_schemas()
    with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
        yield
    HydraConfig.instance().cfg = None
