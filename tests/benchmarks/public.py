"""Every public function and class, and what an attacker may grow of what it is given. A new name needs a row here.

A row is a list of cases; a case makes its input of size n first, and gives back the work that is to be measured.
"""

# ruff: noqa: B008 - a default is evaluated when the input is made, before the work that is measured

from __future__ import annotations

import base64
import enum
import importlib
import inspect
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, TypeAlias

from adversaries import CONVERSATIONS, DOCUMENTS, FILES, TEXTS, TOOLS, Grown, parallel, user

import assembler.rag as rag
import budgets.counters as counters
from assembler import (
    BM25,
    Assembler,
    CacheMarks,
    CitedSources,
    Cosine,
    Defer,
    Offload,
    QuestionChunks,
    Summarize,
    ToolSearch,
    TrimOldest,
    Truncate,
    bill,
    calibrate,
    count_request,
    fit_request,
    fits,
    overflow_of,
    repair,
    verify,
    without_invisible,
)
from assembler.batch import BatchAssembler, assemble_batch
from assembler.conversation.messages import edited, read_message, still_says, unchanged, user_message
from assembler.conversation.messages.message import Media
from assembler.dialects import DIALECTS, anthropic, openai_chat, plain
from assembler.dialects.caching.marks import marked
from assembler.greedy import Config, PromptBuilder
from assembler.greedy.config import Generator
from assembler.policies import together, with_parts
from assembler.pricing.media import read_media
from assembler.prompts import (
    Prompt,
    PromptFormatter,
    PromptLibrary,
    ValidatedPromptTemplate,
    read_prompt,
    with_tags,
    without_comments,
)
from assembler.regions.knowledge import Document
from assembler.regions.tools import read_tool, read_tools
from assembler.report.cache import rule_for
from assembler.report.manifest import manifest_of
from assembler.report.page import Line, Texts, Ticks, chart_svg, notebook_html, page_html
from assembler.report.report import report_of
from assembler.session import calls_of, session_html, session_svg, smoothed
from assembler.telemetry import attributes, fields
from assembler.testing import assert_fits, assert_valid
from assembler.verify import rules
from budgets import (
    Budget,
    Limit,
    approximate_counter,
    memoised,
    models,
    open_model_counter,
    provider_counter,
    total_counter,
)

Work: TypeAlias = Callable[[], object]
Case: TypeAlias = Callable[[int], Work]

PACKAGES = (
    "assembler",
    "assembler.batch",
    "assembler.report.cache",
    "assembler.dialects",
    "assembler.greedy",
    "assembler.report",
    "assembler.report.manifest",
    "assembler.pricing.media",
    "assembler.conversation.messages",
    "assembler.report.page",
    "assembler.policies",
    "assembler.prompts",
    "assembler.rag",
    "assembler.session",
    "assembler.strategies",
    "assembler.telemetry",
    "assembler.testing",
    "assembler.regions.tools",
    "assembler.verify",
    "budgets",
    "budgets.models",
)


def public_names() -> Iterator[str]:
    """`package.name` of every public function and class, each where it is first met.

    Left out: errors, enumerations and protocols, which do no work of their own.
    """
    seen: set[int] = set()
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            found = getattr(module, name)
            if id(found) in seen or not (inspect.isclass(found) or inspect.isroutine(found)):
                continue
            seen.add(id(found))
            idle = inspect.isclass(found) and (
                issubclass(found, BaseException | enum.Enum | int) or getattr(found, "_is_protocol", False)
            )
            if not idle:
                yield f"{package}.{name}"


def over(grown: dict[str, Grown], work: Callable[[Any], object], *, after: Callable[[Any], Any] | None = None) -> Any:
    """A case for each thing that grows: `after` prepares it, unmeasured, and `work` is measured."""

    def case(make: Grown) -> Case:
        def sized(n: int) -> Work:
            made = make(n) if after is None else after(make(n))
            return lambda: work(made)

        return sized

    return {name: case(make) for name, make in grown.items()}


def chat(messages: Any, **given: Any) -> Assembler:
    made = Assembler(given.pop("budget", Budget(10**9, counter=len)), **{"dialect": openai_chat, **given})
    return made.add_capability([{"name": "f"}]).add_messages(messages)


def built(messages: Any) -> Any:
    return chat(messages).build()


def deferred(tools: Any) -> object:
    limits = {"capability": Limit(select=Defer(1, ToolSearch(tools)))}
    budget = Budget(10**9, counter=len, limits=limits)
    return Assembler(budget, dialect=openai_chat).add_capability(tools).add_messages([user("q")]).build()


def small(policy: Any) -> Any:
    return over(CONVERSATIONS, lambda m: chat(m, budget=Budget(300, counter=len), on_overflow=policy).build())


def in_every_dialect(work: Callable[[Any, Any], object]) -> Any:
    return {
        f"{dialect.name}: {name}": case
        for dialect in DIALECTS.values()
        for name, case in over(CONVERSATIONS, lambda m, d=dialect: work(m, d)).items()
    }


def with_documents(texts: list[str], **given: Any) -> Any:
    dialect = given.pop("dialect", openai_chat)
    made = Assembler(given.pop("budget", Budget(10**9, counter=len)), dialect=dialect, **given)
    for text in texts:
        made.add_knowledge(text, type="rag", score=0.5)
    return made.add_messages([user("q?")]).build().report


def results(texts: list[str], **more: Any) -> list[rag.RetrievalResult]:
    return [rag.RetrievalResult(text, score=1 / (place + 1), **more) for place, text in enumerate(texts)]


MANAGER = rag.TokenBudgetManager(10**9, 10, counter=len)
OPTIMIZER = rag.ContextOptimizer(counter=len)
AS_BLOCKS = CitedSources(layout=rag.NativeSources(), placement=rag.Placement.QUESTION)
KEPT = Path(tempfile.mkdtemp())


def filed(text: str) -> Path:
    path = KEPT / "prompt.txt"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def chosen(**given: Any) -> Any:
    return over(DOCUMENTS, lambda texts: with_documents(texts, strategy=CitedSources(**given)))


def _cited(text: str) -> dict[str, Any]:
    """An answer of Anthropic's that cites a source at each of its words."""
    citation = {"type": "search_result_location", "search_result_index": 0}
    blocks = [{"type": "text", "text": f"{word} ", "citations": [citation]} for word in text.split(" ")]
    return {"role": "assistant", "content": blocks}


def candidates(n: int) -> list[rag.Candidate]:
    return [rag.Candidate(1 + k % 7, float(k % 11)) for k in range(n)]


def picked(selection: Any) -> Any:
    return {"candidates": lambda n: lambda found=candidates(n): selection.pick(found, 3 * n, lambda _: 0)}


class Tokenizer:
    """A tokenizer without a template, whose only token is of no text."""

    special_tokens_map: ClassVar[dict[str, str]] = {"bos_token": "<s>"}
    chat_template = None
    all_special_tokens: ClassVar[list[str]] = ["<s>"]


FORMATTER = PromptFormatter(Tokenizer(), strip_html=True)
SESSION = [built([user("q")])] * 2


def pages(messages: Any) -> Any:
    return built(messages).report


def repaired(n: int) -> list[Any]:
    whole = parallel(n, backwards=True)
    return [*whole[:2], *whole[2 : 2 + n // 2], *whole[2 : 2 + n // 2], user("q"), *whole[2 + n // 2 :]]


def of_tables() -> dict[str, dict[str, Case]]:
    """What the library brings: the first example of each policy and strategy, and counters that need no argument."""
    sys.path.insert(0, str(Path(__file__).parents[2]))
    try:
        of_policies = importlib.import_module("tests.assembler.policies.examples")
        of_strategies = importlib.import_module("tests.assembler.strategies")
    finally:
        del sys.path[0]
    makers = {name: getattr(counters, name) for name in dir(counters)}
    return {
        **{f"assembler.{each.__name__}": small(of_policies.examples_of(each)[0]) for each in of_policies.BUILT_IN},
        **{f"assembler.{each.__name__}": laid_out(of_strategies, each) for each in of_strategies.BUILT_IN},
        **{
            f"budgets.{name}": over(TEXTS, make())
            for name, make in makers.items()
            if inspect.isfunction(make)
            if all(each.default is not each.empty for each in inspect.signature(make).parameters.values())
        },
    }


def laid_out(of_strategies: ModuleType, kind: type) -> Any:
    example = next(iter(of_strategies.examples_of(kind).values()))
    return over(DOCUMENTS, lambda texts: with_documents(texts, strategy=example))


ROWS: dict[str, dict[str, Case]] = {
    **of_tables(),
    "assembler.Assembler": {
        **in_every_dialect(
            lambda m, d: Assembler(dialect=d).add_capability([{"name": "f"}]).add_messages(m).build().request()
        ),
        **over(
            TOOLS, lambda tools: Assembler(dialect=openai_chat).add_capability(tools).add_messages([user("q")]).build()
        ),
        **over(
            TEXTS,
            lambda text: (
                Assembler().add_instruction(text).add_knowledge(text, type="a").add_messages([user(text)]).build()
            ),
        ),
        **over(DOCUMENTS, with_documents),
    },
    "assembler.CacheMarks": over(
        CONVERSATIONS, lambda c: c.request(cache_marks=CacheMarks()), after=lambda m: chat(m, dialect=anthropic).build()
    ),
    "assembler.CalibratedCounter": over(CONVERSATIONS, lambda c: calibrate(c, 10**6).count(c), after=built),
    "assembler.BM25": over(TEXTS, lambda t: (BM25()(t, [t]), BM25()(t, t.split(" ")[:1_000]), BM25()("q", [t] * 3))),
    "assembler.CitedSources": chosen(),
    "assembler.Context": over(
        CONVERSATIONS, lambda c: (c.first_changed(c), c.prefix_hash, c.cacheable, c.manifest()), after=built
    ),
    "assembler.Cosine": over(TEXTS, lambda t: Cosine(lambda texts: [[float(len(t)), 1.0] for t in texts])(t, [t])),
    "assembler.Defer": over(TOOLS, deferred),
    "assembler.Offload": small(Offload({}, min_tokens=10)),
    "assembler.policies.Fetch": over(
        TEXTS, lambda t: (Offload({"a": t}).tool("a"), Offload({"a": t}).tool("a", search=t[:9]))
    ),
    "assembler.rag.PrefixTree": over(
        DOCUMENTS,
        lambda t: rag.PrefixTree.of([[Document(one, "doc") for one in t]] * 3)([Document(one, "doc") for one in t]),
    ),
    "assembler.Plan": over(
        CONVERSATIONS, lambda m: chat(m, on_overflow=TrimOldest()).plan().what_if(context_window=500)
    ),
    "assembler.QuestionChunks": over(
        DOCUMENTS, lambda t: with_documents(t, strategy=QuestionChunks(), budget=Budget(500, counter=len))
    ),
    "assembler.Report": over(CONVERSATIONS, lambda r: (str(r), r.to_dict(), r.steps()), after=pages),
    "assembler.Summarize": small(Summarize(lambda _messages, _before, _tokens: "short")),
    "assembler.ToolSearch": over(TOOLS, lambda tools: ToolSearch(tools)("find the weather")),
    "assembler.Truncate": {
        **small(Truncate(max_tokens=100)),
        **over(
            TEXTS,
            lambda t: chat([user(t)], budget=Budget(300, counter=len), on_overflow=Truncate(max_tokens=100)).build(),
        ),
    },
    "assembler.calibrate": over(CONVERSATIONS, lambda c: calibrate(c, 10**6), after=built),
    "assembler.count_request": {
        **over(
            CONVERSATIONS,
            lambda r: count_request(r, dialect=openai_chat, model="gpt-4o"),
            after=lambda m: built(m).request(),
        ),
        **over(
            TOOLS,
            lambda r: count_request(r, dialect=openai_chat, model="gpt-4o"),
            after=lambda t: {"messages": [user("q")], "tools": [{"type": "function", "function": one} for one in t]},
        ),
    },
    "assembler.bill": over(
        CONVERSATIONS,
        bill,
        after=lambda m: Assembler(Budget(10**9, model="gpt-4o", counter=len)).add_messages(m).build(),
    ),
    "assembler.fits": over(
        CONVERSATIONS, lambda a: fits(a, ["gpt-4o", "gpt-4.1"]), after=lambda m: Assembler().add_messages(m)
    ),
    "assembler.fit_request": {
        **over(
            CONVERSATIONS,
            lambda r: fit_request(r, dialect=openai_chat, assembler=Assembler(Budget(500), on_overflow=TrimOldest())),
            after=lambda m: built(m).request(),
        ),
        **over(
            TOOLS,
            lambda r: fit_request(r, dialect=openai_chat, assembler=Assembler(Budget(10**9))),
            after=lambda t: {"messages": [user("q")], "tools": [{"type": "function", "function": one} for one in t]},
        ),
    },
    "assembler.overflow_of": {
        "a long refusal": lambda n: lambda t="prompt contains 1 tokens" * n: overflow_of(t),
    },
    "assembler.repair": {
        **over(CONVERSATIONS, repair),
        "misplaced": lambda n: lambda m=repaired(n): repair(m),
    },
    "assembler.verify": {
        **in_every_dialect(lambda m, d: verify({"messages": m, "input": m, "contents": m}, dialect=d.name)),
        **{
            f"a template of {name}": case
            for name, case in over(
                TEXTS, lambda t: verify({"messages": [user("q")], "chat_template": t}, dialect="chat_template")
            ).items()
        },
        "exceptions": lambda n: (
            lambda t="raise_exception(system not " * n: verify(
                {"messages": [user("q")], "chat_template": t}, dialect="chat_template"
            )
        ),
    },
    "assembler.without_invisible": over(TEXTS, without_invisible),
    "assembler.batch.BatchAssembler": over(CONVERSATIONS, lambda m: BatchAssembler(Assembler())({"messages": [m]})),
    "assembler.batch.assemble_batch": {
        "rows": lambda n: lambda: assemble_batch({"messages": [[user("q")]] * n}, Assembler()),
        "columns": lambda n: (
            lambda: assemble_batch({"messages": [[user("q")]], **{f"c{k}": [1] for k in range(n)}}, Assembler())
        ),
    },
    "assembler.report.cache.rule_for": over(TEXTS, lambda t: rule_for("anthropic", t)),
    "assembler.greedy.PromptBuilder": {
        **over(DOCUMENTS, lambda texts: PromptBuilder(Config(Generator(10**6)), len).build("q", texts)),
        **over(TEXTS, lambda t: PromptBuilder(Config(Generator(10**9)), len).build(t, [t])),
    },
    "assembler.report.manifest.manifest_of": over(CONVERSATIONS, lambda c: manifest_of(c.inside), after=built),
    "assembler.report.cache.marked": over(
        CONVERSATIONS,
        lambda r: marked(r, anthropic, CacheMarks()),
        after=lambda m: chat(m, dialect=anthropic).build().request(),
    ),
    "assembler.pricing.media.read_media": {
        **over(FILES, lambda content: read_media(Media("document", {"data": content}))),
        **over(
            FILES,
            lambda text: read_media(Media("document", {"data": text})),
            after=lambda c: base64.encodebytes(c).decode(),
        ),
    },
    "assembler.policies.together": over(TEXTS, lambda t: [*together((0, place) for place in range(len(t)))]),
    "assembler.policies.with_parts": over(
        CONVERSATIONS,
        lambda ms: [with_parts(m, dict(enumerate(m.parts))) for m in ms],
        after=lambda ms: [read_message(m, k) for k, m in enumerate(ms)],
    ),
    "assembler.conversation.messages.edited": over(
        CONVERSATIONS,
        lambda ms: [edited(m, m.parts) for m in ms],
        after=lambda ms: [read_message(m, k) for k, m in enumerate(ms)],
    ),
    "assembler.conversation.messages.read_message": over(
        CONVERSATIONS, lambda ms: [read_message(m, k) for k, m in enumerate(ms)]
    ),
    "assembler.conversation.messages.user_message": over(TEXTS, user_message),
    "assembler.conversation.messages.still_says": over(
        CONVERSATIONS,
        lambda ms: [still_says(m, m.raw) for m in ms],
        after=lambda ms: [read_message(m, k) for k, m in enumerate(ms)],
    ),
    "assembler.conversation.messages.unchanged": over(
        CONVERSATIONS,
        lambda ms: [unchanged(m) for m in ms],
        after=lambda ms: [read_message(m, k) for k, m in enumerate(ms)],
    ),
    "assembler.report.page.Line": {"values": lambda n: lambda: Line("n", [0.5] * n)},
    "assembler.report.page.Texts": over(CONVERSATIONS, lambda r: r.to_html(texts=Texts()), after=pages),
    "assembler.report.page.Ticks": {"places": lambda n: lambda: Ticks("n", range(n), n)},
    "assembler.report.page.chart_svg": {
        "values": lambda n: lambda: chart_svg("t", [Line("n", [0.5] * n)]),
        "panels": lambda n: lambda: chart_svg("t", [Line("n", [0.5])] * n),
        **over(TEXTS, lambda t: chart_svg(t, [])),
    },
    "assembler.report.page.notebook_html": over(CONVERSATIONS, lambda r: notebook_html(r, r._steps.plan), after=pages),
    "assembler.report.page.page_html": over(
        CONVERSATIONS, lambda r: page_html(r, r._steps.plan, texts=None), after=pages
    ),
    "assembler.prompts.Prompt": over(TEXTS, Prompt),
    "assembler.prompts.PromptFormatter": over(TEXTS, FORMATTER.format_prompt),
    "assembler.prompts.PromptLibrary": over(TEXTS, lambda _: PromptLibrary(KEPT).read("prompt.txt"), after=filed),
    "assembler.prompts.ValidatedPromptTemplate": {
        **over(
            TEXTS,
            lambda t: ValidatedPromptTemplate(
                name="n", prompt_template="{question}", template_format="f-string"
            ).format(question=t),
        ),
        **{
            f"{name} in a template": case
            for name, case in over(
                TEXTS, lambda t: ValidatedPromptTemplate(name="n", prompt_template=t, template_format="f-string")
            ).items()
        },
        **{
            f"{name} in Jinja": case
            for name, case in over(
                TEXTS,
                lambda t: ValidatedPromptTemplate(
                    name="n", prompt_template="{{ question | trim }}", template_format="jinja2"
                ).format(question=t),
            ).items()
        },
    },
    "assembler.prompts.with_tags": over(TEXTS, lambda t: with_tags(t + " {question}")),
    "assembler.prompts.without_comments": over(TEXTS, without_comments),
    "assembler.prompts.read_prompt": over(TEXTS, read_prompt, after=filed),
    "assembler.rag.AlikeTexts": chosen(duplicates=[rag.AlikeTexts()]),
    "assembler.rag.Best": picked(rag.Best()),
    "assembler.rag.ContextOptimizer": over(DOCUMENTS, lambda found: OPTIMIZER.optimize(found, 10**9), after=results),
    "assembler.rag.Diverse": picked(rag.Diverse()),
    "assembler.rag.Everything": picked(rag.Everything()),
    "assembler.rag.Greedy": picked(rag.Greedy()),
    "assembler.rag.MergeNeighbours": chosen(merging=rag.MergeNeighbours()),
    "assembler.rag.NativeSources": over(
        DOCUMENTS, lambda texts: with_documents(texts, dialect=anthropic, strategy=AS_BLOCKS)
    ),
    "assembler.rag.PlainSources": chosen(layout=rag.PlainSources()),
    "assembler.rag.PromptBuilder": over(
        DOCUMENTS, lambda found: rag.PromptBuilder(MANAGER).build_prompt("q?", found), after=results
    ),
    "assembler.rag.SameText": chosen(duplicates=[rag.SameText()]),
    "assembler.rag.SimilarVectors": {
        "each its own": lambda n: (
            lambda found=[rag.RetrievalResult(f"t{k}", embedding=[1.0, k]) for k in range(n)]: OPTIMIZER.optimize(
                found, 10**9
            )
        )
    },
    "assembler.rag.SourceFormatter": over(DOCUMENTS, rag.SourceFormatter.format_sources),
    "assembler.rag.TaggedSources": chosen(layout=rag.TaggedSources()),
    "assembler.rag.TokenBudgetManager": over(DOCUMENTS, lambda t: MANAGER.truncate_to_budget(t, [1.0] * len(t), 10**6)),
    "assembler.rag.answer_text": over(TEXTS, lambda text: rag.answer_text(_cited(text))),
    "assembler.rag.citation_report": {
        **{f"{n}, of a message": c for n, c in over(TEXTS, lambda t: rag.citation_report(_cited(t), {1: "a"})).items()},
        **over(TEXTS, lambda answer: rag.citation_report(answer, {1: "a", 2: "b"})),
        **{
            f"{name}, as a source": case
            for name, case in over(
                TEXTS, lambda t: rag.citation_report('x "quoted words here" [Source 1]. ' * 3, {1: t})
            ).items()
        },
        "quotes of a long source": lambda n: (
            lambda s="words " * n: rag.citation_report('"words words words" [Source 1]. ' * n, {1: s})
        ),
    },
    "assembler.rag.parse_citations": over(TEXTS, rag.parse_citations),
    "assembler.rag.read_results": over(DOCUMENTS, rag.read_results, after=lambda t: [{"content": one} for one in t]),
    "assembler.report.report_of": over(CONVERSATIONS, lambda c: report_of(c.inside), after=built),
    "assembler.session.calls_of": {"contexts": lambda n: lambda: list(calls_of(SESSION * n))},
    "assembler.session.session_html": {"contexts": lambda n: lambda: session_html(SESSION * n)},
    "assembler.session.session_svg": {"calls": lambda n: lambda found=list(calls_of(SESSION)) * n: session_svg(found)},
    "assembler.session.smoothed": {"values": lambda n: lambda: smoothed([0.5] * n, n)},
    "assembler.telemetry.attributes": over(CONVERSATIONS, attributes, after=built),
    "assembler.telemetry.fields": over(CONVERSATIONS, fields, after=built),
    "assembler.testing.assert_fits": over(
        CONVERSATIONS,
        lambda r: assert_fits(r, budget=Budget(10**9, counter=len), dialect=plain),
        after=lambda m: chat(m, dialect=plain).build().request(),
    ),
    "assembler.testing.assert_valid": over(
        CONVERSATIONS,
        lambda r: assert_valid(r, dialect=plain),
        after=lambda m: chat(m, dialect=plain).build().request(),
    ),
    "assembler.regions.tools.read_tool": over(TOOLS, lambda tools: read_tool(tools[0])),
    "assembler.regions.tools.read_tools": over(TOOLS, read_tools),
    "assembler.verify.rules": {"none": lambda n: lambda: rules("plain")},
    "budgets.Budget": over(TEXTS, Budget.for_model),
    "budgets.memoised": over(TEXTS, lambda t: memoised(approximate_counter())(t)),
    "budgets.open_model_counter": over(TEXTS, lambda t: open_model_counter("qwen")(t)),
    "budgets.provider_counter": {
        "a dead endpoint": lambda n: lambda c=provider_counter(lambda _: 0, fallback=len): [c("x") for _ in range(n)]
    },
    "budgets.total_counter": over(TEXTS, lambda t: total_counter(lambda _: 1)(t)),
    "budgets.models.dialect_of": over(TEXTS, models.dialect_of),
    "budgets.models.encoding_of": over(TEXTS, models.encoding_of),
    "budgets.models.facts": over(TEXTS, models.facts),
    "budgets.models.facts_or_none": over(TEXTS, models.facts_or_none),
    "budgets.models.family_of": over(TEXTS, models.family_of),
    "budgets.models.nearly": over(TEXTS, models.nearly),
}

_VALUES = """
assembler: Bill Change Cut Difference Dropped Invisible Offer Overflow Repair Row Violation Wanted
assembler.batch: Columns Raise Record Skip
assembler.dialects: Anthropic Api Bedrock Emission
assembler.report.cache: Marked PrefixCache Volatile
assembler.greedy: Config
assembler.pricing.media: MediaFacts
assembler.conversation.messages: Call Media Message Opaque Result Thinking
assembler.policies: KeepsAll KeepsChosen KeepsNewest Traits
assembler.rag: Candidate Citation CitationReport FixedReserve OptimizationStats PromptComponents QuestionTemplate Quote
assembler.rag: ReserveByQuestion RetrievalResult Sentence Settings BudgetInfo
assembler.session: Call
assembler.report: CacheRow
assembler.strategies: Around Continued Document Omitted Piece Regions Rendered SourceBlock Space
assembler.testing: Broken Fact Invariant Planted Share Survival Trial Verdict
assembler.regions.tools: Tool
assembler.verify: Checker Rule Named
budgets: Count Limit RegionCosts
budgets.models: ModelFacts Row Table
"""

HOLDS = frozenset(
    f"{package}.{name}"
    for package, _, names in (line.partition(": ") for line in _VALUES.strip().splitlines())
    for name in names.split()
)
"""Values: they hold what they are given, and what grows with it stands in the row of the function that reads it."""

_DRAWN = "assemblers broken_conversations budgets conversations documents messages requests texts tools"

ELSEWHERE = {
    "assembler.conversation.messages.reading": "keeps a function",
    "assembler.dialects.chat_template": "a few small renders, whatever is built later: test_chat_template_work",
    "assembler.register_reader": "keeps a function",
    "assembler.report.manifest.gathered_of": "a part of manifest_of",
    "assembler.telemetry.note": "set_attributes, where a span records",
    "assembler.telemetry.set_attributes": "attributes, handed to a span",
    "assembler.testing.check_counter": "runs the counter that it is given",
    "assembler.testing.check_dialect": "runs the dialect that it is given",
    "assembler.testing.check_fitter": "runs the fitter that it is given",
    "assembler.testing.check_policy": "runs the policy that it is given",
    "assembler.testing.check_reader": "runs the reader that it is given",
    "assembler.testing.check_strategy": "runs the strategy that it is given",
    "assembler.testing.planted": "draws a conversation of the size that is asked for",
    "assembler.testing.survival": "builds every request of the sessions that it is given",
    "assembler.testing.survival_table": "a line for each outcome",
    "budgets.gemini_counter": "the tokenizer of the file that it is given does the work",
    "budgets.transformers_counter": "the tokenizer that it is given does the work",
    "budgets.models.known": "takes nothing",
    **{
        f"assembler.testing.{name}": "draws examples"
        for name in [
            "assemblers",
            "broken_conversations",
            "budgets",
            "conversations",
            "documents",
            "messages",
            "requests",
            "texts",
            "tools",
        ]
    },
}
"""Names whose work is another's, and whose."""

SQUARES = {
    "SimilarVectors": "one product of the matrix of vectors with itself, in blocks",
    "AlikeTexts": "each text is held against those that were kept, as its docstring says",
}
"""Parts of the names of cases that are known to grow as a square, and why."""
