"""Each pure function on sources agrees with a slow and simple one."""

from __future__ import annotations

import itertools
import math
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assembler import PromptError
from assembler.regions.knowledge import Document
from assembler.strategies.sources.duplicates import AlikeTexts, SameText, SimilarVectors
from assembler.strategies.sources.merging import MergeNeighbours, overlap
from assembler.strategies.sources.ordering import Order, edges_first, order_sources
from assembler.strategies.sources.selection import (
    Best,
    Candidate,
    Diverse,
    Everything,
    Greedy,
    best_subset,
    cap_per_document,
)
from assembler.strategies.sources.source import ranked_sources
from assembler.strategies.sources.vectors import BLOCK, MarginalRelevance, repeated_vectors
from budgets import MissingExtraError

scores = st.floats(-1, 1, allow_nan=False)
candidates = st.lists(st.builds(Candidate, cost=st.integers(0, 40), score=scores), max_size=9).map(
    lambda found: sorted(found, key=lambda one: -one.score)
)


def one_each(number: int) -> int:
    return 1 if number < 4 else 2


def cost(given_candidates: list[Candidate], chosen: Any) -> int:
    return sum(given_candidates[at].cost for at in chosen) + sum(one_each(k + 1) for k in range(len(chosen)))


def worth(given_candidates: list[Candidate], chosen: Any) -> float:
    return math.fsum(given_candidates[at].score for at in chosen)


# ── selection


@given(candidates, st.integers(-2, 150))
def test_greedy_takes_each_that_fits_beside_all_it_took_before(given_candidates: list[Candidate], room: int) -> None:
    expected: list[int] = []
    for at in range(len(given_candidates)):
        if cost(given_candidates, [*expected, at]) <= room:
            expected.append(at)
    assert Greedy().pick(given_candidates, room, one_each) == expected


@given(candidates, st.integers(0, 150), st.integers(0, 40), scores)
def test_another_candidate_never_displaces_a_better_one(
    given_candidates: list[Candidate], room: int, size: int, score: float
) -> None:
    added = Candidate(size, score)
    place = sum(1 for one in given_candidates if one.score >= score)
    more = [*given_candidates[:place], added, *given_candidates[place:]]
    before = [at for at in Greedy().pick(given_candidates, room, one_each) if at < place]
    assert [at for at in Greedy().pick(more, room, one_each) if at < place] == before


@given(candidates, st.integers(-2, 150), st.sampled_from([Greedy(), Best(), Diverse(), Best(cells=3)]))
def test_no_rule_spends_more_than_the_tokens_left_or_takes_a_chunk_twice(
    given_candidates: list[Candidate], room: int, rule: Any
) -> None:
    chosen = rule.pick(given_candidates, room, one_each)
    assert len(set(chosen)) == len(chosen)
    assert not chosen or cost(given_candidates, chosen) <= room


@given(candidates, st.integers(0, 150))
def test_best_is_never_below_greedy(given_candidates: list[Candidate], room: int) -> None:
    best, greedy = (rule.pick(given_candidates, room, one_each) for rule in (Best(), Greedy()))
    assert worth(given_candidates, best) >= worth(given_candidates, greedy)


@given(candidates, st.integers(0, 150), st.integers(0, 3))
def test_best_equals_the_best_of_all_subsets_where_every_heading_costs_the_same(
    given_candidates: list[Candidate], room: int, heading: int
) -> None:
    positive = [one for one in given_candidates if one.score > 0]
    subsets = itertools.chain.from_iterable(
        itertools.combinations(range(len(positive)), size) for size in range(len(positive) + 1)
    )
    reach = max(
        worth(positive, subset) for subset in subsets if sum(positive[at].cost + heading for at in subset) <= room
    )
    chosen = Best().pick(positive, room, lambda _: heading)
    assert worth(positive, chosen) == pytest.approx(reach, abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 30), st.floats(0.01, 9)), max_size=9), st.integers(0, 90))
def test_the_knapsack_is_exhaustive_search(items: list[tuple[int, float]], capacity: int) -> None:
    items = [item for item in items if item[0] <= capacity]
    weights, values = [w for w, _ in items], [v for _, v in items]
    chosen = best_subset(weights, values, capacity)
    assert sum(weights[at] for at in chosen) <= capacity
    masks = itertools.product([0, 1], repeat=len(items))
    reach = max(
        math.fsum(itertools.compress(values, mask))
        for mask in masks
        if sum(itertools.compress(weights, mask)) <= capacity
    )
    assert math.fsum(values[at] for at in chosen) == pytest.approx(reach)


def test_best_beats_greedy_if_one_large_source_blocks_the_way() -> None:
    three = [Candidate(10, 1.0), Candidate(6, 0.9), Candidate(4, 0.8)]
    assert Greedy().pick(three, 10, lambda _: 0) == [0]
    assert Best().pick(three, 10, lambda _: 0) == [1, 2]
    assert Best(cells=30).pick(three, 10, lambda _: 0) == [1, 2]
    assert Best(cells=29).pick(three, 10, lambda _: 0) == [0]  # too large a table: 3 · 10 cells


@given(candidates, st.integers(1, 150))
def test_the_best_sum_is_found_of_scores_whose_sum_no_number_holds(
    given_candidates: list[Candidate], room: int
) -> None:
    """Adding them up raised an OverflowError out of the build."""
    exact = [Candidate(one.cost, round(one.score, 3)) for one in given_candidates]
    huge = [Candidate(one.cost, one.score * 2.0**1023) for one in exact]
    assert Best().pick(huge, room, one_each) == Best().pick(exact, room, one_each)


@given(candidates, st.integers(1, 3))
def test_a_cap_keeps_the_best_of_each_document(given_candidates: list[Candidate], cap: int) -> None:
    owned = [Candidate(one.cost, one.score, at % 3) for at, one in enumerate(given_candidates)]
    kept = cap_per_document(owned, cap)
    for origin in range(3):
        mine = [at for at, one in enumerate(owned) if one.origin == origin]
        assert [at for at in kept if owned[at].origin == origin] == mine[:cap]


def test_the_strategy_of_everything_takes_everything() -> None:
    assert Everything().pick([Candidate(9, 1.0)] * 3, 0, one_each) == [0, 1, 2]


def mmr_by_hand(given_candidates: list[Candidate], relevance: float, room: int) -> list[int]:
    taken: list[int] = []
    open_ = list(range(len(given_candidates)))
    while open_:

        def merit(at: int) -> float:
            vector = given_candidates[at].vector
            near = [0.0]
            for other in taken:
                against = given_candidates[other].vector
                if vector is not None and against is not None and any(vector) and any(against):
                    near.append(float(np.dot(vector, against) / np.linalg.norm(vector) / np.linalg.norm(against)))
            return relevance * given_candidates[at].score - (1 - relevance) * max(near)

        at = max(open_, key=lambda at: (round(merit(at), 5), -at))
        open_.remove(at)
        if cost(given_candidates, [*taken, at]) <= room:
            taken.append(at)
    return taken


@given(
    st.lists(
        st.tuples(st.integers(0, 20), st.integers(0, 1000), st.sampled_from([(1, 0), (0, 1), (3, 4), (0, 0), None])),
        max_size=7,
        unique_by=lambda item: item[1],
    ),
    st.integers(0, 60),
)
def test_diversity_is_maximal_marginal_relevance(items: list[Any], room: int) -> None:
    items.sort(key=lambda item: -item[1])
    given_candidates = [Candidate(size, score / 997, vector=vector) for size, score, vector in items]
    assert Diverse(0.6).pick(given_candidates, room, one_each) == mmr_by_hand(given_candidates, 0.6, room)


def test_candidates_are_ranked_once_until_one_with_a_vector_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """They were ranked for each that was passed over: 32,000 candidates took half a minute."""
    ranked: list[int] = []
    rank: Any = MarginalRelevance._walk_by_worth

    def counted(search: MarginalRelevance) -> Any:
        ranked.append(1)
        return rank(search)

    monkeypatch.setattr(MarginalRelevance, "_walk_by_worth", counted)
    too_large = [Candidate(1_000, 0.5, vector=(1.0, float(n))) for n in range(50)]
    assert Diverse().pick([*too_large, *(Candidate(1, 0.4) for _ in range(50))], 100, one_each) != []
    assert len(ranked) == 1


# ── duplicates


def quadratic(vectors: list[Any], threshold: float) -> set[int]:
    """The definition: best first, dropped if too like one that was kept."""
    kept: list[int] = []
    for at, vector in enumerate(vectors):
        a = np.array(vector, dtype=np.float64)
        for other in kept:
            b = np.array(vectors[other], dtype=np.float64)
            if a @ b / math.sqrt(a @ a) / math.sqrt(b @ b) > threshold + 1e-14:  # at the threshold is not above it
                break
        else:
            kept.append(at)
    return set(range(len(vectors))) - set(kept)


small = st.lists(st.integers(-3, 3).map(float), min_size=3, max_size=3).filter(any)


@given(st.lists(small, max_size=30), st.sampled_from([0.3, 0.5, 0.8, 0.95]))
def test_similar_vectors_are_those_of_the_quadratic_definition(vectors: list[Any], threshold: float) -> None:
    assert set(repeated_vectors(vectors, threshold)) == quadratic(vectors, threshold)


@pytest.mark.parametrize("seed", range(3))
def test_the_block_size_does_not_change_the_result(seed: int) -> None:
    draw = np.random.default_rng(seed)
    centres = draw.normal(size=(60, 24))
    vectors = list(centres[draw.integers(0, 60, 2 * BLOCK + 37)] + draw.normal(scale=0.2, size=(2 * BLOCK + 37, 24)))
    assert set(repeated_vectors(vectors, 0.95)) == quadratic(vectors, 0.95)


def test_a_pair_at_the_threshold_is_decided_in_double_precision() -> None:
    threshold = 0.95
    for nudge in (-1e-9, 1e-9):
        angle = math.acos(threshold + nudge)
        pair = [[1.0, 0.0], [math.cos(angle), math.sin(angle)]]
        assert (1 in repeated_vectors(pair, threshold)) is (nudge > 0)


@pytest.mark.parametrize("times", [1.0, 3.0, 0.5, 2.0**80])
def test_a_pair_whose_cosine_is_the_threshold_is_not_above_it(times: float) -> None:
    pair = [[1.0 * times, -2.0 * times, -3.0 * times], [3.0, 1.0, -2.0]]
    assert repeated_vectors(pair, 0.5) == {}
    assert repeated_vectors([[3.0, 1.0, 0.0], [0.0, 3.0 * times, times]], 0.3) == {}


@pytest.mark.parametrize("odd", [[0.0, 0.0], [1.0], [math.inf, 1.0], [math.nan, 1.0], []])
def test_a_vector_without_a_direction_is_like_nothing(odd: list[float]) -> None:
    assert repeated_vectors([[1.0, 0.0], odd, odd, [1.0, 0.0]], 0.9) == {3: 0}


def test_tiny_and_huge_vectors_are_compared_too() -> None:
    assert repeated_vectors([[1e30, 0.0], [1e-30, 0.0], [0.0, 1e-200]], 0.9) == {1: 0}
    assert repeated_vectors([], 0.9) == {}


def sources(*texts: str, **fields: Any) -> list[Any]:
    return ranked_sources([Document(text, "x", **fields) for text in texts], {})


def test_equal_texts_are_found_whatever_their_blanks() -> None:
    assert SameText().repeated(sources("a b", "c", " a\n b ", "a b c")) == {2: 0}


def test_vectors_are_compared_only_if_there_are_some() -> None:
    found = [Document("a", "x", embedding=(1.0, 0.0)), Document("b", "x"), Document("c", "x", embedding=(2.0, 0.1))]
    assert SimilarVectors().repeated(ranked_sources(found, {})) == {2: 0}
    assert SimilarVectors().repeated(sources("a", "a")) == {}


def test_alike_texts_are_found_without_embeddings() -> None:
    found = sources("The order ships on Monday to Kyoto.", "Unlike anything", "The order ships on Monday to Kyoto!")
    assert AlikeTexts().repeated(found) == {2: 0}
    assert AlikeTexts(threshold=1.0).repeated(found) == {}
    for cut, gone in ((81, {}), (82, {1: 0})):  # 164 of 182 characters are more than 0.9, 162 of 181 fewer
        assert AlikeTexts().repeated(sources("x" * 100, "x" * cut)) == gone


def test_without_the_library_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    with pytest.raises(MissingExtraError, match=r"context-assembler\[dedup\]"):
        AlikeTexts().repeated(sources("a", "b"))


# ── order


def test_six_by_score_come_out_first_third_fifth_sixth_fourth_second() -> None:
    assert edges_first([1, 2, 3, 4, 5, 6]) == [1, 3, 5, 6, 4, 2]


@given(st.lists(st.integers(), max_size=12))
def test_ranks_only_fall_towards_the_middle(ranked: list[int]) -> None:
    ranks = edges_first(list(range(len(ranked))))
    middle = len(ranks) // 2 + len(ranks) % 2
    assert ranks[:middle] == sorted(ranks[:middle])
    assert ranks[middle:] == sorted(ranks[middle:], reverse=True)
    assert sorted(ranks) == list(range(len(ranked)))


def test_document_order_keeps_each_document_together_and_in_its_own_order() -> None:
    def at(name: str, index: int | None, score: float, **more: Any) -> Document:
        return Document(f"{name}{index}", "x", source=name, score=score, metadata={"chunk_index": index, **more})

    found = ranked_sources([at("b", 5, 0.2), at("a", 9, 0.5), at("b", 1, 0.9), at("a", 2, 0.1), at("b", None, 0.3)], {})
    assert [one.document.text for one in order_sources(found, Order.DOCUMENT)] == ["b1", "b5", "bNone", "a2", "a9"]
    assert [one.document.text for one in order_sources(found, Order.GIVEN)] == ["b5", "a9", "b1", "a2", "bNone"]
    assert [one.place for one in order_sources(found, Order.SCORE)] == [2, 1, 4, 0, 3]


# ── scores


def test_reliability_multiplies_and_missing_scores_are_equal() -> None:
    found = [Document("a", "x", source="wiki", score=0.9), Document("b", "x", source="law", score=0.6)]
    assert [one.document.text for one in ranked_sources(found, {"wiki": 0.5})] == ["b", "a"]
    assert [one.document.text for one in ranked_sources(found, lambda document: len(document.source or ""))] == [
        "a",
        "b",
    ]
    assert [one.score for one in ranked_sources([Document("a", "x"), Document("b", "x")], {})] == [1.0, 1.0]
    assert [one.score for one in ranked_sources([Document("a", "x", score=0.5), Document("b", "x")], {})] == [0.5, 0.0]


@pytest.mark.parametrize("score", [math.nan, math.inf, "0.9", True, object()])
def test_a_score_that_cannot_be_ranked_is_refused(score: Any) -> None:
    with pytest.raises(PromptError, match="score of document 1"):
        ranked_sources([Document("a", "x", score=1.0), Document("b", "x", score=score)], {})


@pytest.mark.parametrize("weight", [-0.1, math.nan])
def test_an_illegal_weight_is_refused(weight: float) -> None:
    with pytest.raises(PromptError, match="reliability of document 0"):
        ranked_sources([Document("a", "x", source="s")], {"s": weight})


# ── merging


@given(st.text("ab", max_size=12), st.text("ab", max_size=12))
@example("aab", "aabaab")
@example("aaaa", "aa")
def test_the_overlap_is_the_longest_ending_that_the_next_begins_with(one: str, other: str) -> None:
    reach = max(n for n in range(min(len(one), len(other)) + 1) if one.endswith(other[:n]))
    assert overlap(one, other) == reach


@given(st.text("abc \n", min_size=30, max_size=120), st.integers(0, 25), st.randoms())
def test_chunks_cut_with_an_overlap_merge_back_to_their_text(text: str, step_back: int, random: Any) -> None:
    size = 30
    starts = range(0, max(1, len(text) - step_back), size - min(step_back, size - 1))
    cuts = [text[start : start + size] for start in starts]
    found = [
        Document(cut, "x", source="d", score=float(at), metadata={"chunk_index": at, "chunk_id": at})
        for at, cut in enumerate(cuts)
    ]
    random.shuffle(found)
    merged = MergeNeighbours(overlap=1).merge(ranked_sources(found, {}))
    assert len(merged) == 1
    if len(cuts) > 1:
        assert merged[0].document.metadata is not None
        assert merged[0].document.metadata["chunk_ids"] == list(range(len(cuts)))
    assert merged[0].score == len(cuts) - 1


def test_neighbours_are_merged_and_strangers_are_not() -> None:
    def chunk(text: str, source: str, index: Any, **more: Any) -> Document:
        return Document(text, "x", source=source, metadata={"chunk_index": index}, **more)

    shared = "the same twenty characters and more"
    found = ranked_sources(
        [
            chunk("begin " + shared, "d", 1, trusted=True),
            chunk(shared + " end", "d", 2),
            chunk("far", "d", 4),
            chunk("other", "e", 3),
            chunk("loose", "d", None),
            Document("no metadata", "x"),
        ],
        {},
    )
    merged = {one.document.text: one.document for one in MergeNeighbours().merge(found)}
    assert set(merged) == {f"begin {shared} end", "far", "other", "loose", "no metadata"}
    assert merged[f"begin {shared} end"].trusted is False
    joined = MergeNeighbours().merge(ranked_sources([chunk("one", "d", 1), chunk("two", "d", 2)], {}))
    assert [one.document.text for one in joined] == ["one\ntwo"]


@pytest.mark.parametrize("odd", [["secret", 0], 5, [[1.0, 0.0], [0.0, 1.0]]])
def test_a_wrong_vector_is_refused_without_being_quoted(odd: Any) -> None:
    found = [Document(str(at), "x", embedding=vector) for at, vector in enumerate([odd, [1.0, 0.0]])]
    with pytest.raises(PromptError, match="not a list of numbers") as refused:
        SimilarVectors().repeated(ranked_sources(found, {}))
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("odd", [float("nan"), "0.9", True, None])
def test_a_threshold_is_a_number(odd: Any) -> None:
    for rule in (SimilarVectors, AlikeTexts):
        with pytest.raises(PromptError, match="threshold"):
            rule(odd)


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1.0, 1e200])
def test_likeness_near_the_threshold_does_not_depend_on_length(scale: float) -> None:
    angle = math.acos(0.95)
    vectors = [[scale, 0.0], [math.cos(angle - 1e-6) * scale, math.sin(angle - 1e-6) * scale]]
    found = [Document(str(at), "x", embedding=vector) for at, vector in enumerate(vectors)]
    assert SimilarVectors(0.95).repeated(ranked_sources(found, {})) == {1: 0}
