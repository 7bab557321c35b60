"""Private streams of random numbers."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from censorium.randomness import RandomStream

CPU = torch.device("cpu")


def draw(stream, n=4):
    with stream:
        return torch.randn(n)


def test_a_stream_leaves_the_global_generator_alone():
    """To make a stream and draw from it does not move torch's global generator."""
    before = torch.get_rng_state()
    draw(RandomStream(3, CPU))
    assert torch.equal(before, torch.get_rng_state())


def test_the_global_generator_leaves_a_stream_alone():
    """What is drawn outside a stream does not change what is drawn inside it."""
    quiet, disturbed = RandomStream(3, CPU), RandomStream(3, CPU)
    expected = [draw(quiet), draw(quiet)]
    first = draw(disturbed)
    with torch.random.fork_rng():
        torch.manual_seed(8)
        torch.randn(7)
        second = draw(disturbed)
    assert torch.equal(first, expected[0])
    assert torch.equal(second, expected[1])


def test_a_stream_continues_where_it_left_off():
    """Two visits draw what one long visit draws."""
    # Four normal numbers from one call and from two differ in how torch pairs them; uniform ones
    # are drawn one by one.
    stream, whole = RandomStream(3, CPU), RandomStream(3, CPU)
    parts = []
    for _ in range(2):
        with stream:
            parts.append(torch.rand(5))
    with whole:
        assert torch.equal(torch.cat(parts), torch.rand(10))


def test_a_stream_is_what_its_seed_gives_torch():
    """A stream draws what torch draws after `manual_seed` of the same number."""
    with torch.random.fork_rng():
        torch.manual_seed(3)
        expected = torch.randn(4), torch.randperm(9)
    with RandomStream(3, CPU):
        assert torch.equal(torch.randn(4), expected[0])
        assert torch.equal(torch.randperm(9), expected[1])


def test_state_replays():
    """With its state set back, a stream draws the same again, in another stream too."""
    stream = RandomStream(3, CPU)
    draw(stream, 3)
    state = [t.clone() for t in stream.state]
    expected = draw(stream)
    stream.state = state
    other = RandomStream(99, CPU)
    other.state = state
    assert torch.equal(draw(stream), expected)
    assert torch.equal(draw(other), expected)


def test_seeds_differ():
    """Streams of different seeds draw different numbers."""
    assert not torch.equal(draw(RandomStream(3, CPU)), draw(RandomStream(4, CPU)))


def test_streams_do_not_disturb_one_another():
    """Two streams visited in turn draw what each draws alone."""
    a, b = RandomStream(3, CPU), RandomStream(4, CPU)
    turns = [draw(a), draw(b), draw(a), draw(b)]
    a, b = RandomStream(3, CPU), RandomStream(4, CPU)
    alone = [draw(a), draw(a), draw(b), draw(b)]
    for i, j in zip((0, 2, 1, 3), range(4), strict=True):
        assert torch.equal(turns[i], alone[j])


def test_an_error_inside_gives_the_generator_back():
    """An exception inside a stream leaves torch's global generator as it was."""
    stream = RandomStream(3, CPU)
    before = torch.get_rng_state()
    with pytest.raises(KeyError), stream:
        torch.randn(2)
        raise KeyError
    assert torch.equal(before, torch.get_rng_state())
    with RandomStream(3, CPU) as expected:
        torch.randn(2)
    assert torch.equal(draw(stream), draw(expected))


def test_streams_in_threads_do_not_disturb_one_another():
    """Streams visited by several threads at a time draw what each draws alone."""

    def visit(seed):
        stream, drawn = RandomStream(seed, CPU), []
        for _ in range(5):
            with stream:
                drawn.append(torch.rand(3))
                time.sleep(0.002)
                drawn.append(torch.rand(3))
        return torch.cat(drawn)

    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(visit, range(4)))
    assert all(torch.equal(a, visit(seed)) for seed, a in enumerate(together))
