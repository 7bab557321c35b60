"""The audit: from features and subjects to a result, and what it refuses."""

import sys

import numpy as np
import pytest
import torch

import censorium
from censorium import CensoredClassifier, datasets
from censorium.auditing import Audit, groups, views
from censorium.auditing.folds import GAP, blocked, halves
from censorium.auditing.views import signal_summary
from censorium.errors import DataError, FileError
from planted import planted

WHO = np.repeat(np.arange(4) + 1, 60)
WHEN = np.tile(np.repeat([1, 2], 30), 4)
LABEL = np.tile(["a", "b", "b"], 80)


def noise(n_features=5, seed=0):
    return np.random.default_rng(seed).standard_normal((len(WHO), n_features))


def told(subject=0.0, session=0.0):
    """Features that know the subject in one direction and the sitting in another."""
    features = noise()
    features[:, 0] += subject * WHO
    features[:, 1] += session * WHEN
    return features


@pytest.fixture(scope="module")
def found():
    return censorium.audit(told(3, 1), WHO, sessions=WHEN, labels=LABEL, view="hidden")


@pytest.fixture
def quick(monkeypatch):
    """Audits without W1, whose critics take most of the time."""
    run = sys.modules["censorium.auditing.run"]
    monkeypatch.setattr(run, "distance_terms", lambda s, **_: (np.zeros(len(s.cell)), s.cell))


def information(audit, about="subject", given=None):
    """Both estimators' intervals."""
    return [i.nats for i in audit.information if (i.about, i.given) == (about, given)]


@pytest.mark.usefixtures("quick")
def test_the_knob_is_found_in_the_right_order():
    """People who show more of themselves are recognised more; of those who are alike, nothing is.

    Epochs of a rapid stream overlap: probes that had seen a trial's neighbours would know it.
    """
    audits = []
    for strength in (0, 0.5, 1, 2):
        trials = datasets.load(
            "simulated", n_subjects=4, n_sessions=1, n_trials=150, subject_strength=strength, seed=1
        )
        power = np.log(trials.x[:, ::8].var(axis=2))
        audits.append(censorium.audit(power, trials.subject))
    for by in (0, 1):
        lows, estimates, highs = (
            [getattr(information(audit)[by], end) for audit in audits]
            for end in ("low", "estimate", "high")
        )
        assert lows[0] == 0
        assert estimates == sorted(estimates)
        assert highs[0] < lows[2]
    named = [audit.naming.balanced for audit in audits]
    assert named[0].low <= audits[0].naming.chance <= named[0].high
    assert audits[0].naming.p_value > 0.01 > audits[1].naming.p_value
    assert [n.estimate for n in named] == sorted(n.estimate for n in named)


@pytest.mark.usefixtures("quick")
def test_what_a_sitting_shows_is_not_the_subject():
    """Features that differ between sittings alone tell subject x session, not the subject."""
    audit = censorium.audit(told(session=8), WHO, sessions=WHEN)
    for by in information(audit, "subject x session"):
        assert by.low < np.log(2) <= by.high + 1e-9
        assert by.low > 0.25  # with 30 trials in a sitting an interval is wide
    for by in information(audit):
        assert by.low == 0


@pytest.mark.usefixtures("quick")
def test_everything_that_there_is_to_tell_is_found():
    """Clusters ten deviations apart tell all of H(S), and nobody is mistaken for another."""
    audit = censorium.audit(told(subject=10), WHO)
    for by in information(audit):
        assert by.low > 0.9 * np.log(4)
        assert by.high == pytest.approx(np.log(4))
    assert audit.confusion == tuple(map(tuple, np.eye(4).tolist()))
    assert all((person.recall, person.auc) == (1, 1) for person in audit.each)
    assert audit.naming.balanced.low < 1  # 240 trials cannot exclude a rare mistake
    assert audit.naming.p_value < 1e-6


def test_limits_lie_within_what_can_be(found):
    """0 <= low <= estimate <= high <= H, and percents are of H."""
    assert len(found.information) == 8
    for i in found.information:
        nats = i.nats
        assert 0 <= nats.low <= nats.estimate <= nats.high <= i.entropy + 1e-12
        assert i.percent.estimate == pytest.approx(100 * nats.estimate / i.entropy)
        most = np.log(8 if i.about == "subject x session" else 4)
        assert i.entropy == pytest.approx(most)


@pytest.mark.usefixtures("quick")
def test_those_who_are_known_best_come_first():
    """One subject far from three who are alike leads, and one of the three is taken for another."""
    features = noise()
    features[WHO == 3] += 6
    audit = censorium.audit(features, WHO)
    assert audit.each[0].subject == 3
    assert audit.each[0].recall > 0.95 > audit.each[1].recall
    assert all(person.taken_for != 3 for person in audit.each[1:])
    assert [sum(row) for row in audit.confusion] == pytest.approx([1] * 4)


def test_the_same_seed_gives_the_same_audit(found):
    """Nothing is drawn from anybody else's generator, and torch's is left as it was."""
    before = torch.get_rng_state()
    again = censorium.audit(told(3, 1), WHO, sessions=WHEN, labels=LABEL, view="hidden")
    assert again == found
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.usefixtures("quick")
def test_scales_and_names_mean_nothing():
    """Features in other units, people under other names: the same figures, to round-off."""
    a = censorium.audit(told(1), WHO)
    b = censorium.audit(told(1) * np.array([1e-9, 1e9, 1, 5, 1e-3]) + 7, [f"s{s}" for s in WHO])
    for one, other in zip(a.information[:1], b.information[:1], strict=True):
        assert one.nats.estimate == pytest.approx(other.nats.estimate, abs=1e-3)
        assert one.nats.low == pytest.approx(other.nats.low, abs=1e-3)
    assert b.subjects == ("s1", "s2", "s3", "s4")


def test_json_gives_back_the_audit(found, tmp_path):
    """What is saved is what is loaded, ids of integers and of strings alike."""
    assert Audit.from_json(found.to_json()) == found
    found.save(tmp_path / "audit.json")
    assert Audit.load(tmp_path / "audit.json") == found
    named = censorium.audit(noise(), np.array([f"s{s}" for s in WHO]))
    assert Audit.from_json(named.to_json()) == named


def test_a_file_that_holds_no_audit_is_a_file_error(tmp_path):
    """Missing, not JSON, JSON of something else: each is said."""
    with pytest.raises(FileError, match="There is no file"):
        Audit.load(tmp_path / "nothing.json")
    for text in ("{", "[]", '{"people": 1}'):
        (tmp_path / "other.json").write_text(text)
        with pytest.raises(FileError, match="holds no audit"):
            Audit.load(tmp_path / "other.json")


def test_it_prints_as_a_table(found):
    """A line for each figure: what, by which estimator, with its interval."""
    lines = repr(found).splitlines()
    assert (
        lines[0] == "<Audit of hidden, all subjects: 240 trials of 4 subjects, 8 subject x session"
    )
    assert len(lines) == 1 + 8 + 2
    assert lines[1].split("  ")[1] == "I(features; subject x session)"
    assert f"{found.naming.balanced.estimate:.3f} [" in lines[-2]


def test_steps_are_told():
    """`on_step` hears of every step, the last of which is the end."""
    heard = []
    censorium.audit(noise(2), WHO, labels=LABEL, on_step=lambda done, of: heard.append((done, of)))
    n = len(heard)
    assert heard == [(i + 1, n) for i in range(n)]


ODD = {
    "constant columns": lambda x: np.hstack([x, np.ones((len(x), 3))]),
    "more features than trials": lambda x: x @ noise(300, seed=1)[:5] + 0.1 * noise(300, seed=2),
    "features of several dimensions": lambda x: x.reshape(len(x), 5, 1),
    "numbers of half precision": lambda x: x.astype(np.float16),
    "one feature": lambda x: x[:, :1],
    "huge numbers": lambda x: 1e200 * x,
    "a column twice": lambda x: np.hstack([x, x]),
}


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("change", ODD.values(), ids=ODD)
def test_odd_features_are_audited(change):
    """Features of any shape and kind: the subject that they show is found."""
    features = change(told(6))
    audit = censorium.audit(features, WHO)
    assert audit.naming.balanced.low > 2 * audit.naming.chance
    assert audit.n_features == np.prod(features.shape[1:])
    assert audit.n_read <= min(128, audit.n_features)


@pytest.mark.usefixtures("quick")
def test_an_array_of_one_dimension_is_one_feature():
    """(n,) is (n, 1)."""
    assert censorium.audit(told(6)[:, 0], WHO).n_features == 1


@pytest.mark.usefixtures("quick")
def test_two_subjects_and_one_label_are_enough():
    """The least that can be audited; with one label there is nothing to be given."""
    audit = censorium.audit(told(6)[:120], WHO[:120], labels=["a"] * 120)
    assert {i.given for i in audit.information} == {None}
    assert len(audit.plane.points[0]) == 2


WRONG = {
    "holes": ({"features": np.where(WHO[:, None] == 2, np.nan, noise())}, "Trial 60 has a NaN"),
    "words": ({"features": [["a", "b"]] * 240}, "Features must be numbers"),
    "nothing": ({"features": np.zeros((240, 0))}, "needs trials and features"),
    "constants": ({"features": np.ones((240, 3))}, "All features are constant"),
    "one subject": ({"subjects": np.ones(240, int)}, "two subjects or more"),
    "too few": (
        {"subjects": np.where(np.arange(240) < 4, 9, WHO)},
        "Subject 9 has 4 trials in session 0; an audit needs 10 or more",
    ),
    "short sitting": (
        {"sessions": np.where(np.arange(240) < 6, 3, WHEN)},
        "Subject 1 has 6 trials in session 3",
    ),
    "lengths": ({"subjects": WHO[:-1]}, "there are 240 trials"),
    "labels": ({"labels": LABEL[:-1]}, "there are 240 trials"),
    "no ids": ({"subjects": np.full(240, 0.5)}, "must be integers"),
}


@pytest.mark.parametrize(("changes", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_audited_is_a_data_error(changes, message):
    """What is wrong is said before any work starts."""
    given = {"features": noise(), "subjects": WHO, **changes}
    with pytest.raises(DataError, match=message):
        censorium.audit(given.pop("features"), given.pop("subjects"), **given)


def test_held_out_blocks_lie_apart_from_what_trains():
    """Each trial is held out once, in a block; its neighbours of the session do not train."""
    cell = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [100, 60, 20]))
    held_out = []
    for train, held in blocked(cell, np.arange(len(cell)), 5):
        held_out.extend(held)
        for c in (0, 1, 2):
            place = {row: i for i, row in enumerate(np.flatnonzero(cell == c))}
            block = [place[row] for row in held if cell[row] == c]
            seen = [place[row] for row in train if cell[row] == c]
            assert block == list(range(block[0], block[0] + len(block)))
            gap = min(GAP, len(block) // 4)
            near = [s for s in seen if block[0] - gap <= s <= block[-1] + gap]
            assert near == []
            assert len(seen) >= (cell == c).sum() - len(block) - 2 * gap
    assert sorted(held_out) == list(range(len(cell)))
    earlier, later = halves(cell, np.arange(len(cell)))
    assert sorted([*earlier, *later]) == list(range(len(cell)))
    assert all(earlier[cell[earlier] == c].max() < later[cell[later] == c].min() for c in (0, 1, 2))


@pytest.fixture(scope="module")
def fitted(some_trials):
    trials = some_trials
    options = {"epochs": 1, "batch_size": 32, "latent_size": 6, "random_state": 0}
    model = CensoredClassifier("density-ratio", projection="projected", **options)
    model.set_params(validation_subjects=[3])
    return model.fit(trials.of([1, 2, 3])), trials


@pytest.fixture(scope="module")
def some_trials():
    return planted(n_subjects=5)


def test_a_model_has_views_before_and_after_its_projector(fitted):
    """Hidden features are what `transform` gives, projected ones what the censor was shown."""
    model, trials = fitted
    found = views(model, trials)
    assert list(found) == ["hidden features", "projected features", "raw signal"]
    np.testing.assert_array_equal(found["hidden features"], model.transform(trials))
    with torch.no_grad():
        x = torch.from_numpy(trials.x)
        np.testing.assert_allclose(found["projected features"], model.model_(x).z, atol=1e-5)
    assert len(found["raw signal"]) == len(trials)


def test_subjects_are_grouped_by_what_the_model_knows_of_them(fitted):
    """Who trained, who validated, who is new; a model that was told nothing has one group."""
    model, trials = fitted
    found = {name: part.subjects for name, part in groups(model, trials).items()}
    assert found == {
        "training subjects": [1, 2],
        "validation subjects": [3],
        "unseen subjects": [4, 5],
    }
    assert list(groups(model, trials.of([1]))) == ["training subjects"]
    model.split_, split = None, model.split_
    assert list(groups(model, trials)) == ["all subjects"]
    model.split_ = split


def test_the_signals_summary_is_what_it_says():
    """Log power, log power of changes, means over windows: of each channel, as written down."""
    x = np.random.default_rng(0).standard_normal((3, 2, 12)).astype(np.float32)
    found = signal_summary(x)
    assert found.shape == (3, 2 * 8)
    np.testing.assert_allclose(found[:, :2], np.log(x.var(axis=2)), rtol=1e-5)
    np.testing.assert_allclose(found[:, 2:4], np.log(np.diff(x, axis=2).var(axis=2)), rtol=1e-5)
    np.testing.assert_allclose(found[:, 4:6], x[:, :, :2].mean(axis=2), rtol=1e-5, atol=1e-7)
    assert np.isfinite(signal_summary(np.zeros((2, 3, 1), np.float32))).all()
