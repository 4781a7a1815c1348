"""The embedding server: OpenAI's embeddings API over sentence encoders of a local folder.

Only here are torch, sentence-transformers, FastAPI and uvicorn imported (extra ``embed``).
"""
