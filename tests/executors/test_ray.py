"""A real Ray cluster of one head and two nodes on this machine gives the rows of one process."""

import pytest

from censorium import Trials
from censorium.executors import executor_of
from censorium.store import Store
from censorium.study import execute
from censorium.study.drive import drive
from works import small, tiny_runs

ray = pytest.importorskip("ray")
STORE = 78 * 2**20  # bytes of each node's memory for objects, the least there can be


@pytest.fixture
def cluster(monkeypatch):
    """A head that carries nothing out, to which nodes are added."""
    for name, value in (("USAGE_STATS_ENABLED", "0"), ("AUTH_MODE", "disabled")):
        monkeypatch.setenv(f"RAY_{name}", value)
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize("where", ["memory", "folder"])
def test_a_node_that_dies_costs_nothing(cluster, tmp_path, where):
    """Two nodes, one of which is killed among the runs: every row is there, the same bit for bit.

    So it is whether trials in memory are sent to the nodes or a folder is opened there.
    """
    nodes = [cluster.add_node(num_cpus=1, object_store_memory=STORE) for _ in range(2)]
    cluster.wait_for_nodes()
    trials, runs = small(), tiny_runs(seeds=range(8))
    if where == "folder":
        trials.save(tmp_path / "trials")
        trials = Trials.load(tmp_path / "trials")

    def on_outcome(result, n):
        if n == 4:
            cluster.remove_node(nodes[0], allow_graceful=False)

    with Store.open(tmp_path / "study.sqlite", write=True) as store:
        executor = executor_of(f"ray:{cluster.address}")
        summary = drive(runs, trials, store, executor, on_outcome=on_outcome)
        assert [f.traceback for f in store.failures()] == []
        assert summary.n_finished == len(runs)
        for run in runs:
            assert store.outcome(run.key) == execute(run, trials)
    assert not ray.is_initialized()


@pytest.mark.slow
def test_a_folder_that_a_node_does_not_see_is_sent(cluster, tmp_path):
    """Where the folder is not there, or holds other trials, a node is sent what the driver has."""
    cluster.add_node(num_cpus=1, object_store_memory=STORE)
    cluster.wait_for_nodes()
    place, runs = tmp_path / "trials", tiny_runs(seeds=[0])
    small().save(place)
    trials = Trials.load(place)
    expected = {run.key: execute(run, trials) for run in runs}

    def asked():
        place.rename(tmp_path / "elsewhere")
        yield from runs

    results = executor_of(f"ray:{cluster.address}")(execute, trials, asked())
    assert {result.run.key: result for result in results} == expected
