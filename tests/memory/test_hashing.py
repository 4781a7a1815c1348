"""The hash of features is the one that scikit-learn has."""

from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import murmurhash3_32

from specahd.memory.hashing import coordinate, murmur3


@given(st.binary(max_size=40))
def test_it_is_murmur_hash_3(data):
    assert murmur3(data) == murmurhash3_32(data, 0, positive=True)


@given(st.text(max_size=20))
def test_a_coordinate_is_the_magnitude_of_the_signed_hash(feature):
    assert coordinate(feature, 2**16) == abs(int(murmurhash3_32(feature.encode(), 0))) % 2**16
