# SPDX-License-Identifier: Apache-2.0
"""Clustering: groups that a method found, against true classes, by their own shape, or both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from assay.core.errors import PlanError
from assay.core.task import Counted, Example, Request, Role
from assay.tasks.by_unit import UnitTask
from assay.tasks.clustering import measures
from assay.tasks.clustering.agreement_sums import Agreement
from assay.tasks.clustering.blocks import clustering_sections, describe_table
from assay.tasks.clustering.compare import ClusteredModels, compare_clusterings
from assay.tasks.clustering.estimates import ClusteringEstimates
from assay.tasks.clustering.tally import Contingency

if TYPE_CHECKING:
    from assay.inference.findings import Finding
    from assay.tasks.task_settings import TaskSettings

__all__ = ["TASK", "measures"]


class Clustering(UnitTask):
    """A true class and a cluster a row; names of clusters mean nothing."""

    name = "clustering"
    says = "clusters of rows against true classes, by their own shape, or both"
    roles = (
        Role(name="truth", holds="labels", says="the true class of every row", required=False, kind="label"),
        Role(name="predicted", holds="labels", says="the cluster of every row", by_model=True, kind="label"),
        Role(name="features", holds="numbers", required=False,
             says="numbers by which rows were clustered: a matrix, or columns of the data"),
    )  # fmt: skip
    tally, paired, view = Contingency, ClusteredModels, ClusteringEstimates
    sums = cast("Any", Agreement)
    unit = "row"
    headline = ("adjusted_rand_index", "ami_arithmetic", "v_measure", "fowlkes_mallows", "purity", "silhouette")
    examples = (
        Example(
            name="customers",
            says="three kinds of customers, found again by k-means from two numbers",
            data="customers.csv",
            given={"truth": "kind", "predicted": "kmeans", "features": "visits,basket"},
        ),
    )

    def read(self, request: Request) -> Counted:
        """Read the rows of any table."""
        from assay.tasks.clustering.input import read_clustering

        return read_clustering(request)

    def read_models(self, request: Request, models: Mapping[str, Mapping[str, object]]) -> Counted:
        """Read several clusterings of the same rows."""
        from assay.tasks.clustering.input import read_clusterings

        return read_clusterings(request, models)

    def describe(self, tally: Any) -> dict[str, object]:  # noqa: ANN401
        """How many classes and clusters there are."""
        return {"classes": len(tally.classes), "clusters": len(tally.clusters)}

    def unit_values(self, tally: Any) -> dict[str, dict[str, float | None]]:  # noqa: ANN401, ARG002
        """Rows have no names."""
        return {}

    def compare(self, paired: Any, settings: TaskSettings) -> Iterator[Finding]:  # noqa: ANN401
        """The leading measures of every two clusterings."""
        yield from compare_clusterings(self.compared_measures(settings), paired, settings)

    def sections(self, tally: Any, settings: TaskSettings) -> dict[str, object]:  # noqa: ANN401, ARG002
        """What the figures show."""
        return {"figures": describe_table(tally)}

    blocks = staticmethod(clustering_sections)

    def check_alike(self, new: Any, reference: Any) -> None:  # noqa: ANN401
        """Both must speak of the same classes."""
        if set(new.classes) != set(reference.classes):
            raise PlanError(
                "tally-mismatch",
                "the reference has other classes",
                found=f"{len(new.classes)} and {len(reference.classes)} classes",
                fix="compare clusterings of the same classes",
            )

    def check_mergeable(self, first: Any, other: Any) -> None:  # noqa: ANN401
        """Any two tables can be added: clusters of the same name are one."""

    def shareable(self, tally: Any, smallest: int) -> tuple[Any, list[str]]:  # noqa: ANN401
        """Counts by class and cluster, and centres only where every cluster is large enough."""
        if small := self.small_cells(tally, smallest):
            raise PlanError(
                "cell-too-small",
                f"{len(small)} cells have fewer than {smallest} rows",
                where="smallest_cell",
                found=", ".join(small[:3]),
                fix="share more rows together, or lower smallest_cell if your policy allows it",
            )
        return tally, []

    def small_cells(self, tally: Any, smallest: int) -> list[str]:  # noqa: ANN401
        """Cells with fewer rows than may leave a site."""
        return [f"class {row}, cluster {column}: {n}" for (row, column), n in tally.counts.items() if n < smallest]


TASK = Clustering()
