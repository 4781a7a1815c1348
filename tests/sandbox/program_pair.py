"""Two programs that say the same, under an honest and under a hostile runner."""

from pathlib import Path

from specahd.sandbox.session import Launch

HERE = str(Path(__file__).parent)
HONEST, HOSTILE = "runners:honest", "runners:hostile"
SOURCE = "def total(matrix, numbers):\n    return [int(matrix[0, 0]) + int(numbers[0])]\n"
PROGRAMS = (Launch(SOURCE, "total", HONEST), Launch(SOURCE, "total", HOSTILE))
