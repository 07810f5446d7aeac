"""Methods made of other methods: their parts named, resolved, fitted and built, and their claims taken together."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from aacbench.contract.method import BuildContext, Claims, Heuristic, Method, Params, Part, Unsupported
from aacbench.errors import UsageError
from aacbench.util.timeouts import at_most

if TYPE_CHECKING:
    from aacbench.contract.budget import Budget, GraphInfo

MethodOf = Callable[[str], Method]
Resolve = Callable[[Method, Mapping[str, Any]], Params]

PARTS = "parts"  # the parameter under which a plan and a cell keep what a method is made of
MADE_OF_SECONDS = 10.0  # for naming a few methods
DEEPEST = 4  # methods made of methods made of methods: more is a circle, or nobody could read the row


def read_part(text: str, share: float = 1.0) -> Part:
    """A part as a user names it: `alt`, or with settings `alt-pool[K0=64]`."""
    name, bracket, rest = text.strip().partition("[")
    if bracket and not rest.endswith("]"):
        raise UsageError(f"{text!r} names no method with settings, as alt-pool[K0=64] does.")
    settings: dict[str, Any] = {}
    inside = rest[:-1].strip() if bracket else ""
    for piece in cut(inside, ",") if inside else []:
        key, equals, value = piece.strip().partition("=")
        if not equals or not value or key in settings or len(cut(value, "|")) > 1:
            raise UsageError(f"in {text!r}, {piece.strip()!r} is not one setting with one value, such as K0=64.")
        settings[key.strip()] = value.strip()
    return Part(name.strip(), settings, share)


def cut(text: str, separator: str) -> list[str]:
    """The text cut at each separator that stands in no brackets."""
    pieces, depth, begin = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign == "[") - (sign == "]")
        if sign == separator and depth == 0:
            pieces.append(text[begin:at])
            begin = at + 1
    return [*pieces, text[begin:]]


def with_parts(method: Method, params: Params, method_of: MethodOf, resolve: Resolve, depth: int = 0) -> Params:
    """The parameters, and under `parts` the methods it is made of with theirs; a part that cannot be is refused."""
    if method.made_of is None:
        return params
    if depth == DEEPEST:
        raise UsageError(f"{method.name} is made of methods made of methods, more than {DEEPEST} deep; name others.")
    parts = _named(method, params)
    if method.claims.matched and math.fsum(part.share for part in parts) > 1:
        raise UsageError(f"{method.name} gives its parts more than its budget; it must claim matched=False.")
    found = []
    for part in parts:
        inner = method_of(part.method)
        wanted = with_parts(inner, resolve(inner, part.params), method_of, resolve, depth + 1)
        found.append({"method": inner.name, "share": part.share, "params": dict(wanted)})
    return {**params, PARTS: found}


def whole(method: Method, params: Params, method_of: MethodOf) -> Method:
    """A method with its parts put in: a plain one whose claims, fit, search and build are those of all together.

    `params` are those of `with_parts`, fitted or not.
    """
    if method.made_of is None:
        return method
    parts = [whole(method_of(part["method"]), part["params"], method_of) for part in params[PARTS]]

    def fit(budget: "Budget", info: "GraphInfo", params: Params) -> Params | Unsupported:
        own = method.fit(budget, info, params)
        if isinstance(own, Unsupported):
            return own
        fitted = []
        for part, wanted in zip(parts, params[PARTS], strict=True):
            share = replace(budget, bytes_per_vertex=budget.bytes_per_vertex * wanted["share"])
            found = part.fit(share, info, dict(wanted["params"]))
            if isinstance(found, Unsupported):
                return Unsupported(f"{part.name} at {share.bytes_per_vertex:g} B/v: {found.reason}")
            fitted.append({**wanted, "params": found})
        return {**own, PARTS: fitted}

    def build(context: BuildContext) -> Heuristic:
        built = tuple(
            part.build(_inner(context, part, wanted["params"]))
            for part, wanted in zip(parts, context.params[PARTS], strict=True)
        )
        return method.build(replace(_inner(context, method, context.params), parts=built))

    def search(params: Params) -> Mapping[str, bool | str]:
        preferred: dict[str, bool | str] = {}
        for part, wanted in zip(parts, params[PARTS], strict=True):
            preferred |= part.search(wanted["params"])
        return {**preferred, **method.search(params)}

    claims = _together([method.claims, *(part.claims for part in parts)])
    return replace(method, claims=claims, fit=fit, build=build, search=search, made_of=None)


def self_contained(method: Method, params: Params, method_of: MethodOf) -> Method:
    """A method with its parts put in that brings them along: `fit` takes its own parameters alone, and adds them."""
    if method.made_of is None:
        return method
    inner = whole(method, params, method_of)

    def fit(budget: "Budget", info: "GraphInfo", own: Params) -> Params | Unsupported:
        return inner.fit(budget, info, {**own, PARTS: params[PARTS]})

    return replace(inner, fit=fit)


def names_in(params: Params) -> Iterator[str]:
    """The methods that these parameters say a method is made of, and those that they are made of."""
    for part in params.get(PARTS, ()):
        yield part["method"]
        yield from names_in(part["params"])


def nominal(params: Params, budget: float) -> float:
    """The bytes per vertex that all parts were given together."""
    if PARTS not in params:
        return budget
    return math.fsum(nominal(part["params"], budget * part["share"]) for part in params[PARTS])


def _named(method: Method, params: Params) -> tuple[Part, ...]:
    """What `made_of` says, which is an author's own code, so anything may come of it."""
    assert method.made_of is not None
    try:
        with at_most(MADE_OF_SECONDS):
            parts = tuple(method.made_of(dict(params)))
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        raise UsageError(f"made_of of {method.name} failed with {type(error).__name__}: {error}.") from error
    if not parts or not all(isinstance(part, Part) and 0 < part.share < math.inf for part in parts):
        raise UsageError(f"{method.name} must be made of Part(method, params, share), with shares above 0.")
    return parts


def _inner(context: BuildContext, method: Method, params: Params) -> BuildContext:
    """A context for one part: the test queries are for those alone that claim to need them."""
    return replace(
        context, params=dict(params), oracle_queries=context.oracle_queries if method.claims.oracle else None
    )


def _together(claims: list[Claims]) -> Claims:
    """What holds for the whole: an oracle if any part is one, and every other promise only if each part makes it."""
    names = [field.name for field in fields(Claims)]
    held = {name: all(getattr(claim, name) for claim in claims) for name in names}
    return Claims(**{**held, "oracle": any(claim.oracle for claim in claims)})
