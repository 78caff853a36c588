# SPDX-License-Identifier: Apache-2.0
"""Retrieval and recommendation: ranked lists of documents for queries, against judged grades."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from assay.core.errors import PlanError
from assay.core.task import Counted, Example, Option, Request, Role
from assay.measures.declare import parse
from assay.tally.base import ModelTallies
from assay.tasks.by_unit import UnitTask, name_values
from assay.tasks.retrieval import measures
from assay.tasks.retrieval.blocks import comparison_sections, run_sections
from assay.tasks.retrieval.compare import compare_runs
from assay.tasks.retrieval.estimates import RankingEstimates, listed_measures, query_values
from assay.tasks.retrieval.figures import describe_figures
from assay.tasks.retrieval.measures.recommendation import RECOMMENDATION
from assay.tasks.retrieval.tally import Rankings

if TYPE_CHECKING:
    from assay.core.blocks import Section
    from assay.inference.findings import Finding
    from assay.tasks.task_settings import TaskSettings

__all__ = ["TASK", "measures"]


class Retrieval(UnitTask):
    """Judged grades and ranked lists; a query is the unit."""

    name = "retrieval"
    says = "ranked lists of documents against judged grades, query by query"
    roles = (
        Role(name="truth", holds="judgements", says="judgements: a TREC file, a table with query, document and grade, "
             "or {query: {document: grade}}"),
        Role(name="predicted", holds="a run", says="the run: a TREC file, a table with query, document and score, "
             "or {query: {document: score}}", by_model=True),
        Role(name="popularity", holds="shares", required=False, says="{document: share of users who know it}"),
    )  # fmt: skip
    options = (
        Option(name="k", says="cut-offs that are listed", default=(1, 5, 10, 20, 100, 1000), kind=int, several=True),
        Option(name="relevant", says="lowest grade of a relevant document", default=1.0, kind=float),
        Option(name="negative", says="what a negative grade means", default="refuse",
               choices=("refuse", "unjudged", "zero")),
        Option(name="average", says="queries that count: all judged ones, or those that are also in the run",
               default="judged", choices=("judged", "both")),
        Option(name="catalogue", says="documents that could be shown, for coverage and exposure", kind=int),
        Option(name="query_column", says="column of tables that names the query"),
        Option(name="document_column", says="column of tables that names the document"),
        Option(name="grade_column", says="column of judgements that holds the grade"),
        Option(name="score_column", says="column of runs that holds the score"),
    )  # fmt: skip
    tally, paired, view = Rankings, ModelTallies, RankingEstimates
    sums = cast("Any", Rankings)
    unit = "query"
    headline = ("ndcg@10", "map", "mrr", "precision@10", "recall@100")
    examples = (
        Example(
            name="search",
            says="two search engines on 30 queries about bicycles",
            given={"truth": "qrels.txt", "predicted": "run_bm25.txt"},
        ),
    )

    def read(self, request: Request) -> Counted:
        """Read judgements and a run."""
        from assay.tasks.retrieval.input import read_run

        return read_run(request)

    def read_models(self, request: Request, models: Mapping[str, Mapping[str, object]]) -> Counted:
        """Read judgements and several runs."""
        from assay.tasks.retrieval.input import read_runs

        return read_runs(request, models)

    def describe(self, tally: Any) -> dict[str, object]:  # noqa: ANN401
        """Queries by what became of them."""
        return {
            "units": tally.units,
            "queries": {
                "judged": tally.units,
                "without_result": int((tally.retrieved == 0).sum()),
                "without_relevant": int((tally.relevant_count == 0).sum()),
                "not_judged": tally.outside.queries,
            },
        }

    def unit_values(self, tally: Any) -> dict[str, dict[str, float | None]]:  # noqa: ANN401
        """The measures of every query alone."""
        chosen = [m for m in listed_measures(tally, self.registry) if m.family != RECOMMENDATION]
        columns = {measure.title: query_values(measure, tally).tolist() for measure in chosen}
        return name_values(tally.ids, columns)

    def compare(self, paired: Any, settings: TaskSettings) -> Iterator[Finding]:  # noqa: ANN401
        """The leading measures of every two runs, by swaps of queries."""
        return compare_runs(self.compared_measures(settings), paired, settings)

    def sections(self, tally: Any, settings: TaskSettings) -> dict[str, object]:  # noqa: ANN401
        """What the figures show."""
        return {"figures": describe_figures(tally, self.estimates(tally, cast("Any", settings)))}

    blocks = staticmethod(run_sections)

    def comparison_blocks(self, record: Mapping[str, Any]) -> Iterator[Section]:
        """Differences query by query."""
        yield from comparison_sections(record, parse(self.headline[0], self.registry))

    def check_alike(self, new: Any, reference: Any) -> None:  # noqa: ANN401
        """Both must count the same grades as relevant."""
        if new.relevant != reference.relevant:
            raise PlanError(
                "tally-mismatch",
                "the reference counts other grades as relevant",
                found=f"{new.relevant:g} and {reference.relevant:g}",
                fix="count both with the same relevant=",
            )

    check_mergeable = check_alike


TASK = Retrieval()
