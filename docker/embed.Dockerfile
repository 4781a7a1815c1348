# The embedding service: python -m specahd.embed, with PyTorch. From the root of the repository:
#
#   docker build -f docker/embed.Dockerfile -t specahd-embed .
#   docker run --gpus all -p 127.0.0.1:8765:8765 -v ./embedding_model:/models:ro specahd-embed
#
# Models are not in the image: /models holds their folders (docs/how-to/embeddings.md).
FROM python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d AS build
WORKDIR /build
COPY . .
RUN PIP_NO_CACHE_DIR=1 VENV=/opt/specahd scripts/install.sh embed

FROM python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d
COPY --from=build /opt/specahd /opt/specahd
ENV PATH=/opt/specahd/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    HOME=/tmp
WORKDIR /tmp
USER 1000:1000
EXPOSE 8765
# Loading three models takes its time.
HEALTHCHECK --interval=10s --timeout=5s --start-period=5m \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/health', timeout=4)"]
ENTRYPOINT ["python", "-m", "specahd.embed", "host=0.0.0.0", "models_dir=/models"]
