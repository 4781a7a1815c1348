"""Which numbers of a program are tuned, and in which range."""

import pytest

from specahd.programs.constants import constants, with_constants

SOURCE = """def select_customer_groups(demands, noise, max_groups):
    answer = np.zeros(max_groups * 20, np.int64)
    wanted = 3 + int(noise[7] * 40.0)
    best = 1000000000.0
    share = max(1e-09, demands.mean(axis=2)) ** 2
    for step in range(5):
        wanted += step % 6 + 6 + 1 + 0
        if share > -0.25:
            answer[step] = min(wanted, 12) + noise[step + 32 * wanted - 9 * 1]
    return answer
"""


def test_numbers_that_are_a_matter_of_degree_are_tuned():
    found = constants(SOURCE)
    assert [(one.value, one.low, one.high, one.whole) for one in found] == [
        (3, 1, 6, True),
        (40.0, 20.0, 80.0, False),
        (0.25, 0.125, 0.5, False),
        (12, 6, 24, True),
    ]


def test_a_text_gets_other_numbers_and_stays_as_it_is():
    assert with_constants(SOURCE, [3, 40.0, 0.25, 12]) == SOURCE
    changed = with_constants(SOURCE, [4, 33.5, 0.5, 9])
    expected = SOURCE.replace("3 +", "4 +").replace("40.0", "33.5").replace("0.25", "0.5")
    assert changed == expected.replace("12", "9")
    with pytest.raises(ValueError, match="argument 2"):
        with_constants(SOURCE, [4])
