"""The environment variables that child processes inherit.

The list holds no key of a model service. The tracker, git and Ray do not receive an unlisted
variable, because other processes of the same user can read their ``/proc/PID/environ``.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

# Paths and locale; resources of numerical libraries; git's repository and configuration; proxies
# and certificates; credentials of MLflow's stores (object stores, databases, Databricks).
_NAMES = frozenset(
    name
    for names in (
        "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TEMP TMP LD_LIBRARY_PATH",
        "VIRTUAL_ENV MPLCONFIGDIR MPLBACKEND OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS NUMBA_CACHE_DIR SPECAHD_CACHE CUDA_VISIBLE_DEVICES",
        "GIT_DIR GIT_WORK_TREE GIT_CEILING_DIRECTORIES GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM",
        "http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY",
        "SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE",
        "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_PROFILE AWS_REGION",
        "AWS_DEFAULT_REGION AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_CA_BUNDLE",
        "AWS_ENDPOINT_URL AWS_ENDPOINT_URL_S3 AWS_ROLE_ARN AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AZURE_STORAGE_CONNECTION_STRING AZURE_STORAGE_ACCESS_KEY AZURE_CLIENT_ID",
        "AZURE_CLIENT_SECRET AZURE_TENANT_ID GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_PROJECT",
        "PGHOST PGPORT PGUSER PGPASSWORD PGPASSFILE PGDATABASE PGSERVICE PGSSLMODE PGSSLROOTCERT",
        "DATABRICKS_HOST DATABRICKS_TOKEN DATABRICKS_CONFIG_FILE DATABRICKS_CONFIG_PROFILE",
        "DATABRICKS_CLIENT_ID DATABRICKS_CLIENT_SECRET",
    )
    for name in names.split()
)
# Prefixes of further names; MLFLOW_TRACKING_USERNAME and _PASSWORD belong to the tracker itself.
_FAMILIES = ("LC_", "XDG_", "PYTHON", "MLFLOW_", "RAY_")


def public_variables() -> dict[str, str]:
    """Return the environment variables that child processes may inherit."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _NAMES or name.startswith(_FAMILIES)
    }


@contextmanager
def only_public_variables() -> Iterator[None]:
    """Remove all other variables in the block, for libraries that pass on the whole environment."""
    hidden = {name: os.environ[name] for name in os.environ.keys() - public_variables().keys()}
    for name in hidden:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(hidden)
