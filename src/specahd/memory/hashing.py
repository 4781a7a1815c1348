"""MurmurHash3, as scikit-learn's ``FeatureHasher`` uses it, whose import takes longer than a run.

The public-domain function of Austin Appleby (MurmurHash3_x86_32), seed 0.
"""

from functools import lru_cache

_MASK = 0xFFFFFFFF


@lru_cache(maxsize=1 << 16)
def coordinate(feature: str, size: int) -> int:
    """Return the coordinate in [0, size) to which a feature is hashed."""
    # The hash is a signed integer there, whose magnitude counts.
    value = murmur3(feature.encode())
    return (value if value < 0x80000000 else 0x100000000 - value) % size


def murmur3(data: bytes) -> int:
    """Return the hash as an unsigned 32-bit integer."""
    value, whole = 0, len(data) & ~3
    for start in range(0, whole, 4):
        value ^= _mixed(int.from_bytes(data[start : start + 4], "little"))
        value = (value << 13 | value >> 19) & _MASK
        value = (value * 5 + 0xE6546B64) & _MASK
    if whole < len(data):
        value ^= _mixed(int.from_bytes(data[whole:], "little"))
    value ^= len(data)
    value = (value ^ value >> 16) * 0x85EBCA6B & _MASK
    value = (value ^ value >> 13) * 0xC2B2AE35 & _MASK
    return value ^ value >> 16


def _mixed(block: int) -> int:
    block = block * 0xCC9E2D51 & _MASK
    block = (block << 15 | block >> 17) & _MASK
    return block * 0x1B873593 & _MASK
