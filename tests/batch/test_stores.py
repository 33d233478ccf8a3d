"""Every store gives the requests that the assembler alone gives, whatever it converts, distributes or caches."""

from __future__ import annotations

import functools
import pickle
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Any

import cloudpickle
import pytest

from assembler.batch import BatchAssembler, Skip, assemble_batch
from tests.assembler.batch.made import base, for_a_model, priced_by_a_tokenizer
from tests.batch.rows import columns, expected, outcomes, texts

assemble = BatchAssembler(base())


# ── pickles


@pytest.mark.parametrize("make", [base, for_a_model])
def test_cloudpickle_takes_it_small_and_the_same_every_time(make: Callable[[], Any]) -> None:
    held = BatchAssembler(make())
    before = cloudpickle.dumps(held)
    held({"messages": [[("user", "why?")]]})
    assert cloudpickle.dumps(held) == before == cloudpickle.dumps(pickle.loads(before))
    assert len(before) < 10_000


# ── datasets


@pytest.fixture
def dataset(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    return datasets.Dataset.from_dict(columns())


@pytest.mark.parametrize("processes", [None, 2])
def test_datasets_maps_it(dataset: Any, processes: int | None) -> None:
    out = dataset.map(assemble, batched=True, batch_size=7, num_proc=processes)
    assert outcomes(list(out)) == expected()


def test_datasets_may_pass_the_assembler_along(dataset: Any) -> None:
    out = dataset.map(assemble_batch, batched=True, fn_kwargs={"assembler": base()})
    assert outcomes(list(out)) == expected()


def test_datasets_loses_the_bad_rows_where_they_are_skipped(dataset: Any) -> None:
    skipping = BatchAssembler(base(), on_error=Skip())
    out = dataset.map(skipping, batched=True, remove_columns=dataset.column_names)
    assert outcomes(list(out)) == [row for row in expected() if not row[2]]


def test_the_fingerprint_of_datasets_is_the_same_before_and_after_a_use() -> None:
    from datasets.fingerprint import Hasher

    for fresh in (BatchAssembler(for_a_model()), BatchAssembler.made_by(priced_by_a_tokenizer)):
        before = Hasher.hash(fresh)
        fresh({"messages": [[("user", "why?")]]})
        assert Hasher.hash(fresh) == before


def test_a_stream_is_mapped_too(dataset: Any) -> None:
    out = dataset.to_iterable_dataset().map(assemble, batched=True, batch_size=3)
    assert outcomes(list(out)) == expected()


# ── Dask


def frame() -> Any:
    import pandas

    return pandas.DataFrame(texts())


def on_frame(part: Any, assemble: BatchAssembler) -> Any:
    import pandas

    return pandas.DataFrame(assemble(part.to_dict("list")))


def test_dask_maps_partitions() -> None:
    import dask.dataframe

    parts = dask.dataframe.from_pandas(frame(), npartitions=3)
    meta = on_frame(frame().head(1), assemble).head(0)
    out = parts.map_partitions(on_frame, assemble, meta=meta).compute(scheduler="processes", num_workers=2)
    assert outcomes(out.to_dict("records")) == expected()


# ── Ray


def rows() -> list[dict[str, Any]]:
    return [dict(zip(texts(), row, strict=True)) for row in zip(*texts().values(), strict=True)]


@pytest.fixture(scope="module")
def ray_data() -> Iterator[Any]:
    import ray

    ray.shutdown()  # a recipe of the docs may have started it in its own way
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray.data
    ray.shutdown()


def test_ray_maps_batches_as_tasks(ray_data: Any) -> None:
    out = ray_data.from_items(rows()).map_batches(assemble, batch_size=8)
    assert outcomes(out.take_all()) == expected()


class Assembling:
    """An actor: what it needs is made once, and stays."""

    def __init__(self) -> None:
        self.assemble = BatchAssembler.made_by(base)

    def __call__(self, batch: Any) -> Any:
        return self.assemble(batch)


def test_ray_maps_batches_by_an_actor_that_leaves_a_processor_free(ray_data: Any) -> None:
    import ray

    # One actor for two processors: where actors take them all, reading starves and the run hangs (ray#44687).
    out = ray_data.from_items(rows()).map_batches(Assembling, batch_size=8, compute=ray.data.ActorPoolStrategy(size=1))
    assert outcomes(out.take_all()) == expected()


# ── Spark


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
def test_spark_maps_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = pytest.importorskip("pyspark.sql")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    session = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        schema = "id long, request string, tokens long, upper long, grade string, dropped long, error string"
        out = session.createDataFrame(rows()).mapInPandas(functools.partial(on_frames, assemble=assemble), schema)
        assert outcomes([row.asDict() for row in out.collect()]) == expected()
    finally:
        session.stop()


def on_frames(frames: Iterator[Any], assemble: BatchAssembler) -> Iterator[Any]:
    for part in frames:
        yield on_frame(part, assemble)
