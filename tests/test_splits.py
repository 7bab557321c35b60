"""Splits of subjects that cannot leak."""

from dataclasses import replace

import numpy as np
import pytest

from censorium.errors import SplitError
from censorium.splits import SubjectSplit, leave_one_subject_out, paper_folds, subject_kfold


def parts(split):
    return set(split.train), set(split.valid), set(split.test)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train": [1, 2], "test": [2, 3]}, "Subject 2 is in both train and test."),
        ({"train": [1, 2], "valid": [2]}, "Subject 2 is in both train and valid."),
        ({"train": [1], "valid": ["a"], "test": ["a"]}, "Subject 'a' is in both valid and test."),
        ({"train": [1, 1]}, "Subject 1 is twice in train."),
        ({"train": [1], "test": [4, 5, 4]}, "Subject 4 is twice in test."),
        ({"train": []}, "A split needs at least one training subject."),
        ({"train": [], "test": [1]}, "A split needs at least one training subject."),
    ],
)
def test_a_leaking_split_cannot_be_made(options, message):
    """A subject in two parts, or twice in one, or no training subject, is an error that says so."""
    with pytest.raises(SplitError) as caught:
        SubjectSplit(**options)
    assert str(caught.value) == message


def test_numpy_ids_overlap_with_plain_ones():
    """A subject is the same one as a NumPy number and as a Python number."""
    with pytest.raises(SplitError, match="Subject 2 is in both"):
        SubjectSplit(np.array([1, 2]), test=[2])
    assert SubjectSplit(np.array([1, 2]), test=np.array([3])) == SubjectSplit([1, 2], test=(3,))


def test_apply_gives_each_part_its_trials(small_trials):
    """Every trial of a named subject goes to that subject's part, and no other trial does."""
    trials = small_trials(n_subjects=5)
    train, valid, test = SubjectSplit([4, 1], [2], [5]).apply(trials)
    assert (train.subjects, valid.subjects, test.subjects) == ([1, 4], [2], [5])
    assert len(train) + len(valid) + len(test) == np.sum(trials.subject != 3)


def test_apply_gives_an_empty_part_no_trials(small_trials):
    """A part without subjects has no trials, for string subjects too."""
    trials = small_trials()
    named = replace(trials, subject=trials.subject.astype(str))
    assert [len(part) for part in SubjectSplit([1]).apply(trials)] == [24, 0, 0]
    assert [len(part) for part in SubjectSplit(["1"]).apply(named)] == [24, 0, 0]


def test_apply_refuses_an_unknown_subject(small_trials):
    """A split that names a subject who is not in the trials is an error that names them."""
    with pytest.raises(SplitError, match=r"does not fit these trials: No trials of subject 99\."):
        SubjectSplit([1, 2], test=[99]).apply(small_trials())


@pytest.mark.parametrize("k", range(10))
def test_a_paper_fold_is_its_blocks(k):
    """Fold k validates on block k, tests on the next, trains on the six after, wrapping around."""
    subjects = np.arange(1, 65)
    blocks = subjects.reshape(16, 4)
    split = paper_folds(subjects)[k]
    assert split.valid == tuple(blocks[k])
    assert split.test == tuple(blocks[k + 1])
    assert split.train == tuple(np.concatenate([blocks[(k + 2 + i) % 16] for i in range(6)]))
    assert [len(p) for p in parts(split)] == [24, 4, 4]


@pytest.mark.parametrize("k", range(10))
def test_a_paper_fold_without_validation_trains_on_it_too(k):
    """Without validation, the fold tests on the same subjects and trains on the 28 others."""
    with_validation = paper_folds(range(64))[k]
    split = paper_folds(range(64), validation=False)[k]
    assert split.test == with_validation.test
    assert not split.valid
    assert sorted(split.train) == sorted(with_validation.train + with_validation.valid)
    assert len(split.train) == 28


def test_the_paper_has_ten_folds():
    """There are ten folds, and no two test on the same subject."""
    for validation in (True, False):
        folds = paper_folds(range(64), validation=validation)
        assert len(folds) == 10
        assert len({s for split in folds for s in split.test}) == 40


def test_the_papers_folds_sort_the_subjects():
    """The order in which subjects are given does not matter."""
    shuffled = np.random.default_rng(0).permutation(64)
    assert paper_folds(shuffled) == paper_folds(range(64))


@pytest.mark.parametrize("name", ["S{}", "S{:02}", "{}", "{}-x", "a1b{}"])
def test_the_papers_blocks_count_digits_by_value(name):
    """Strings that end in numbers make the blocks that the numbers make."""
    named = [name.format(i) for i in range(1, 65)]
    for split, plain in zip(paper_folds(named[::-1]), paper_folds(range(1, 65)), strict=True):
        for part in ("train", "valid", "test"):
            assert getattr(split, part) == tuple(name.format(i) for i in getattr(plain, part))


def test_the_papers_blocks_are_distinct():
    """Ids of one value, S1 and S01, are two subjects still, in an order of their own."""
    named = [f"{s}{i}" for i in range(32) for s in ("S", "S0")]
    assert paper_folds(named) == paper_folds(named[::-1])
    assert len({s for split in paper_folds(named) for s in split.test}) == 40


@pytest.mark.parametrize("n", [0, 1, 63, 65])
def test_the_papers_folds_need_64_subjects(n):
    """Another number of subjects is an error that says what to use instead."""
    with pytest.raises(SplitError, match=f"64 subjects, got {n}.*use subject_kfold"):
        paper_folds(range(n))


@pytest.mark.parametrize("n", [2, 3, 9])
def test_leave_one_out_tests_each_once(n):
    """Each subject is the only test subject of one split, whose training part is all others."""
    splits = leave_one_subject_out(range(n))
    assert [split.test for split in splits] == [(i,) for i in range(n)]
    assert all(set(s.train) | set(s.test) == set(range(n)) and not s.valid for s in splits)


@pytest.mark.parametrize("n", [0, 1])
def test_leave_one_out_needs_two(n):
    """One subject alone cannot be left out."""
    with pytest.raises(SplitError, match=f"2 subjects are needed, got {n}"):
        leave_one_subject_out(range(n))


@pytest.mark.parametrize("n_valid", [0, 1, 2])
@pytest.mark.parametrize("n_folds", [2, 3, 5])
@pytest.mark.parametrize("n", [6, 7, 11, 20])
def test_each_subject_tests_once_in_a_kfold(n, n_folds, n_valid):
    """Each subject tests once; each split holds all, n_valid of them set aside."""
    splits = subject_kfold(range(n), n_folds, n_valid=n_valid, seed=1)
    assert len(splits) == n_folds
    assert sorted(s for split in splits for s in split.test) == list(range(n))
    sizes = [len(split.test) for split in splits]
    assert max(sizes) - min(sizes) <= 1
    for split in splits:
        assert len(split.valid) == n_valid
        assert set.union(*parts(split)) == set(range(n))


def test_a_kfold_is_drawn_from_its_seed():
    """One seed gives the same splits, in whatever order subjects come; another gives others."""
    shuffled = np.random.default_rng(0).permutation(20)
    assert subject_kfold(range(20), seed=3) == subject_kfold(shuffled, seed=3)
    assert subject_kfold(range(20), seed=3) != subject_kfold(range(20), seed=4)


@pytest.mark.parametrize(
    ("n", "options", "message"),
    [
        (4, {"n_folds": 5}, "5 subjects are needed, got 4"),
        (4, {"n_folds": 1}, "n_folds must be 2 or more, got 1"),
        (4, {"n_folds": 0}, "n_folds must be 2 or more, got 0"),
        (4, {"n_folds": 2, "n_valid": 2}, "n_valid=2 leaves none of 2 subjects"),
        (4, {"n_folds": 2, "n_valid": -1}, "n_valid must not be negative, got -1"),
    ],
)
def test_an_impossible_kfold_is_a_split_error(n, options, message):
    """Numbers that cannot be met are an error that says which."""
    with pytest.raises(SplitError, match=message):
        subject_kfold(range(n), **options)


def test_trials_stand_for_their_subjects(small_trials):
    """Where subjects are wanted, trials will do."""
    trials = small_trials(n_subjects=6)
    subjects = [1, 2, 3, 4, 5, 6]
    assert leave_one_subject_out(trials) == leave_one_subject_out(subjects)
    assert subject_kfold(trials, 3) == subject_kfold(subjects, 3)
    sixty_four = small_trials(n_subjects=64, n_sessions=1, n_per_session=4)
    assert paper_folds(sixty_four) == paper_folds(range(1, 65))


def test_repeated_ids_are_one_subject():
    """Subjects given once per trial count once each, as strings too."""
    assert leave_one_subject_out(["b", "a", "b"]) == leave_one_subject_out(["a", "b"])


def test_one_id_is_one_subject():
    """A lone id is one subject, not the letters of a name, wherever subjects are wanted."""
    assert SubjectSplit("anna", test="bob") == SubjectSplit(["anna"], (), ["bob"])
    assert SubjectSplit(1, 2, np.int64(3)) == SubjectSplit([1], [2], [3])
    for one in ("anna", 7):
        with pytest.raises(SplitError, match="2 subjects are needed, got 1"):
            leave_one_subject_out(one)


@pytest.mark.parametrize("subjects", [[1, "1"], [1, None], [1.5, 2]])
def test_subjects_who_cannot_be_told_apart(subjects):
    """Ids that are mixed, missing or fractions are an error."""
    with pytest.raises(SplitError, match="cannot be told apart: subject ids must be"):
        leave_one_subject_out(subjects)
