import threading
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from specahd.llm.client import WINDOW, RateLimiter


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self):
        self.now = 1e6
        self.slept = []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        assert seconds > 0
        self.slept.append(seconds)
        self.now += seconds


def limited(requests=None, tokens=None):
    clock = Clock()
    return RateLimiter(requests, tokens, clock=clock, sleep=clock.sleep), clock


def windows(events):
    """Every stretch of 60 seconds that begins with an event, as the sizes of its events."""
    for start, _ in events:
        yield [size for time, size in events if start <= time < start + WINDOW]


def test_without_limits_nobody_waits():
    limiter, clock = limited()
    for _ in range(1000):
        limiter.acquire(10**6)
    assert clock.slept == []


def test_a_request_too_many_waits_for_the_first_to_be_a_minute_old():
    limiter, clock = limited(requests=3)
    for _ in range(3):
        limiter.acquire(0)
        clock.now += 5
    limiter.acquire(0)
    assert clock.slept == [45]


def test_tokens_too_many_wait_for_earlier_ones_to_age():
    limiter, clock = limited(tokens=1000)
    limiter.acquire(600)
    clock.now += 10
    limiter.acquire(400)
    assert clock.slept == []
    limiter.acquire(1)
    assert clock.slept == [50]


def test_what_a_request_took_replaces_what_was_expected():
    limiter, clock = limited(tokens=1000)
    limiter.correct(limiter.acquire(900), 100)
    limiter.acquire(900)
    assert clock.slept == []
    limiter.correct(limiter.acquire(0), 300)
    limiter.acquire(0)
    assert clock.slept == [WINDOW]


def test_a_request_larger_than_a_minute_goes_alone():
    limiter, clock = limited(tokens=1000)
    limiter.acquire(1)
    limiter.acquire(5000)
    limiter.acquire(1)
    assert clock.slept == [WINDOW, WINDOW]


@given(
    st.integers(1, 6),
    st.integers(20, 60),
    st.lists(st.tuples(st.floats(0, 40), st.integers(0, 20)), max_size=40),
)
def test_no_minute_holds_more_than_allowed(requests, tokens, arrivals):
    limiter, clock = limited(requests, tokens)
    events = []
    for pause, size in arrivals:
        clock.now += pause
        events.append((limiter.acquire(size).time, size))
    for sizes in windows(events):
        assert len(sizes) <= requests
        assert sum(sizes) <= tokens


def test_threads_are_let_through_no_faster():
    clock, lock = Clock(), threading.Lock()

    def sleep(seconds):
        with lock:
            clock.sleep(seconds)

    limiter = RateLimiter(5, None, clock=clock, sleep=sleep)
    with ThreadPoolExecutor(7) as pool:
        slots = list(pool.map(lambda _: limiter.acquire(0), range(40)))
    events = sorted((slot.time, 1) for slot in slots)
    assert max(len(sizes) for sizes in windows(events)) == 5
    assert len(events) == 40
