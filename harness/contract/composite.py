"""Methods made of other methods: reading, resolving, fitting and building their parts."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from aacbench.contract.method import BuildContext, Claims, Heuristic, Method, Params, Part, Unsupported
from aacbench.errors import UsageError
from aacbench.util.text import describe
from aacbench.util.timeouts import at_most

if TYPE_CHECKING:
    from aacbench.contract.budget import Budget, GraphInfo

MethodOf = Callable[[str], Method]
Resolve = Callable[[Method, Mapping[str, Any]], Params]

PARTS = "parts"  # the parameter that holds the resolved parts of a method, in plans and cells
ALTERNATIVE, LEFT_OUT = "alternative", "left_out"  # marks of a part that may be chosen, and of one that does not fit
MADE_OF_SECONDS = 10.0  # time limit of an author's `made_of`
MAX_DEPTH = 4  # parts within parts: deeper nesting is a cycle, or unreadable in a report


def read_part(text: str, share: float = 1.0) -> Part:
    """Parse a part as a user writes it: `alt`, or with settings `alt-pool[K0=64]`."""
    name, bracket, rest = text.strip().partition("[")
    if bracket and not rest.endswith("]"):
        raise UsageError(f"{text!r} has no closing bracket; write a method with settings as alt-pool[K0=64].")
    settings: dict[str, Any] = {}
    inside = rest[:-1].strip() if bracket else ""
    for piece in split_outside_brackets(inside, ",") if inside else []:
        key, equals, value = piece.strip().partition("=")
        if not equals or not value or key in settings or len(split_outside_brackets(value, "|")) > 1:
            raise UsageError(f"{piece.strip()!r} in {text!r} is not one setting with one value, such as K0=64.")
        settings[key.strip()] = value.strip()
    return Part(name.strip(), settings, share)


def split_outside_brackets(text: str, separator: str) -> list[str]:
    """Split the text at each separator that is not inside square brackets."""
    pieces, depth, begin = [], 0, 0
    for position, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if character == separator and depth == 0:
            pieces.append(text[begin:position])
            begin = position + 1
    return [*pieces, text[begin:]]


def resolve_parts(method: Method, params: Params, method_of: MethodOf, resolve: Resolve, depth: int = 0) -> Params:
    """Return the params with `parts` added: the name, share and resolved params of each part, at every depth.

    Raises UsageError for an unknown part, a bad setting, or shares that exceed the budget.
    """
    if method.made_of is None:
        return params
    if depth == MAX_DEPTH:
        raise UsageError(f"{method.name} nests methods more than {MAX_DEPTH} deep; use fewer levels.")
    parts = _parts_named_by(method, params)
    if method.claims.matched and not method.chooses and math.fsum(part.share for part in parts) > 1:
        raise UsageError(f"{method.name} gives its parts more than its budget; it must claim matched=False.")
    resolved = []
    for part in parts:
        inner = method_of(part.method)
        inner_params = resolve_parts(inner, resolve(inner, part.params), method_of, resolve, depth + 1)
        resolved.append(
            {
                "method": inner.name,
                "share": part.share,
                "params": dict(inner_params),
                **({ALTERNATIVE: True} if method.chooses else {}),
            }
        )
    return {**params, PARTS: resolved}


def assemble(method: Method, params: Params, method_of: MethodOf) -> Method:
    """Return a method without `made_of` whose claims, fit, search and build include those of its parts.

    `params` come from `resolve_parts`, fitted or not. Claims that the method waives with these params are left out.
    """
    method = _with_claims_kept(method, params)
    if method.made_of is None:
        return method
    parts = [assemble(method_of(part["method"]), part["params"], method_of) for part in params[PARTS]]

    def fit(budget: "Budget", info: "GraphInfo", params: Params) -> Params | Unsupported:
        own = method.fit(budget, info, params)
        if isinstance(own, Unsupported):
            return own
        fitted = []
        for part, entry in zip(parts, params[PARTS], strict=True):
            share = replace(budget, bytes_per_vertex=budget.bytes_per_vertex * entry["share"])
            part_params = part.fit(share, info, dict(entry["params"]))
            if isinstance(part_params, Unsupported):
                refusal = f"{part.name} at {share.bytes_per_vertex:g} B/v: {part_params.reason}"
                if not method.chooses:
                    return Unsupported(refusal)
                fitted.append({**entry, LEFT_OUT: refusal})
            else:
                fitted.append({**entry, "params": part_params})
        if all(LEFT_OUT in entry for entry in fitted):
            return Unsupported(f"none of its parts fits; {fitted[0][LEFT_OUT]}")
        return {**own, PARTS: fitted}

    def build(context: BuildContext) -> Heuristic | Unsupported:
        own = _context_for(method, context, context.params)
        if method.chooses:
            return method.build(replace(own, alternatives=_Alternatives(parts, context)))
        built: list[Heuristic] = []
        for part, entry in zip(parts, context.params[PARTS], strict=True):
            made = part.build(_context_for(part, context, entry["params"]))
            if isinstance(made, Unsupported):
                return Unsupported(f"{part.name}: {_with_need(made, context)}")
            built.append(made)
        return method.build(replace(own, parts=tuple(built)))

    def search(params: Params) -> Mapping[str, bool | str]:
        switches: dict[str, bool | str] = {}
        for part, entry in () if method.chooses else zip(parts, params[PARTS], strict=True):
            switches |= part.search(entry["params"])
        return {**switches, **method.search(params)}

    claims = _joint_claims([method.claims, *(part.claims for part in parts)])
    if method.chooses:  # a part for undirected graphs is left out on others
        claims = replace(claims, directed=any(part.claims.directed for part in parts))
    return replace(method, claims=claims, fit=fit, build=build, search=search, made_of=None)


def standalone(method: Method, params: Params, method_of: MethodOf) -> Method:
    """Return the assembled method with these parts fixed: its `fit` takes the method's own params only."""
    if method.made_of is None:
        return _with_claims_kept(method, params)
    assembled = assemble(method, params, method_of)

    def fit(budget: "Budget", info: "GraphInfo", own: Params) -> Params | Unsupported:
        return assembled.fit(budget, info, {**own, PARTS: params[PARTS]})

    return replace(assembled, fit=fit)


def part_names(params: Params) -> Iterator[str]:
    """Yield the names of all parts in resolved params, at every depth."""
    for part in params.get(PARTS, ()):
        yield part["method"]
        yield from part_names(part["params"])


def nominal_bytes(params: Params, budget: float) -> float:
    """Return the bytes per vertex that all parts are given together; without parts, or of alternatives, the budget."""
    if PARTS not in params or any(ALTERNATIVE in part for part in params[PARTS]):
        return budget
    return math.fsum(nominal_bytes(part["params"], budget * part["share"]) for part in params[PARTS])


def _parts_named_by(method: Method, params: Params) -> tuple[Part, ...]:
    """Call the author's `made_of` with a time limit, and check its result."""
    assert method.made_of is not None
    try:
        with at_most(MADE_OF_SECONDS):
            parts = tuple(method.made_of(dict(params)))
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        raise UsageError(f"made_of of {method.name} failed with {describe(error)}.") from error
    if not parts or not all(isinstance(part, Part) and 0 < part.share < math.inf for part in parts):
        raise UsageError(f"made_of of {method.name} must return Part(method, params, share) records, shares above 0.")
    return parts


def _context_for(method: Method, context: BuildContext, params: Params) -> BuildContext:
    """Return the context for one method; only an oracle sees the test queries."""
    queries = context.oracle_queries if method.claims.oracle else None
    return replace(context, params=dict(params), oracle_queries=queries, method=method.name)


@dataclass(frozen=True, slots=True)
class _Alternatives(Sequence[Heuristic | Unsupported]):
    """The parts of a method that chooses, each built when it is asked for, so that not all are in memory at once."""

    methods: list[Method]
    context: BuildContext

    def __len__(self) -> int:
        return len(self.methods)

    def __getitem__(self, at: Any) -> Any:
        method, entry = self.methods[at], self.context.params[PARTS][at]
        if LEFT_OUT in entry:
            return Unsupported(entry[LEFT_OUT])
        return method.build(_context_for(method, self.context, entry["params"]))


def _with_need(refusal: Unsupported, context: BuildContext) -> str:
    """Return a part's reason; the bytes that it needs are not those of the whole, so they are in the sentence only."""
    if refusal.bytes_needed is None:
        return refusal.reason
    return f"{refusal.reason.rstrip('.')}; this part would need {refusal.need(context.graph.vertices)}"


def _with_claims_kept(method: Method, params: Params) -> Method:
    """Return the method without the claims that it waives with these params."""
    waived = sorted(method.waives(params))
    unknown = set(waived) - {field.name for field in fields(Claims)}
    if unknown:
        raise UsageError(f"{method.name} waives {min(unknown)!r}, which is not a claim.")
    return replace(method, claims=replace(method.claims, **dict.fromkeys(waived, False))) if waived else method


def _joint_claims(claims: list[Claims]) -> Claims:
    """Return the claims of the assembled method: an oracle if any is; every other claim only if all make it."""
    names = [field.name for field in fields(Claims)]
    shared = {name: all(getattr(claim, name) for claim in claims) for name in names}
    return Claims(**{**shared, "oracle": any(claim.oracle for claim in claims)})
