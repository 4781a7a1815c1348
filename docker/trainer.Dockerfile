# specahd with what it needs to train and to evaluate, and nothing else. From the root of the repository:
#
#   docker build -f docker/trainer.Dockerfile -t specahd .
#
# EXTRAS=train,ray adds Ray; EXTRAS=server is the MLflow server of compose.yaml.
FROM python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d AS build
ARG EXTRAS=train
WORKDIR /build
COPY . .
RUN PIP_NO_CACHE_DIR=1 VENV=/opt/specahd scripts/install.sh "$EXTRAS"
# For processors like this one; the server of MLflow runs no loops.
RUN [ "$EXTRAS" = server ] || SPECAHD_CACHE=/opt/specahd/loops /opt/specahd/bin/specahd compile

FROM python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d
COPY --from=build /opt/specahd /opt/specahd
# Caches go where any user may write, since compose runs this as the user who owns runs/. Compiled
# loops are read from SPECAHD_CACHE, and kept below HOME if another processor needs others.
ENV PATH=/opt/specahd/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    HOME=/tmp \
    SPECAHD_CACHE=/opt/specahd/loops \
    GIT_PYTHON_REFRESH=quiet \
    MLFLOW_DISABLE_TELEMETRY=true
RUN install --directory --mode=1777 /work
WORKDIR /work
USER 1000:1000
# On which a run ends its commit, keeps a checkpoint and says how to go on.
STOPSIGNAL SIGINT
# It is one job, not a service: healthy is an image whose package and configuration load.
HEALTHCHECK --interval=5m --timeout=30s --start-period=30s \
    CMD ["python", "-m", "specahd.train", "--cfg", "job"]
ENTRYPOINT ["python", "-m"]
CMD ["specahd.train", "problem=cvrp", "llm=offline", "budget=smoke"]
