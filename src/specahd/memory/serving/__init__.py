"""The embedding server: OpenAI's embeddings API over sentence encoders of a local folder.

Only this package imports torch, sentence-transformers, FastAPI and uvicorn (extra ``embed``).
"""
