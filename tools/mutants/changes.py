"""What a mutant may be: one small change of one place, such as a programmer makes by mistake.

Left out is what no test should care about: annotations, docstrings, decorators, `__all__`, log lines,
names of tasks, and texts for people, which are strings with a space in them.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Any

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.Pow: ast.Mult,
}
OPPOSITES = {"min": "max", "max": "min", "any": "all", "all": "any"}


def replacements(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that may stand in for one."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            yield altered(node, ops=[COMPARISONS[type(op)]()])
        case ast.BoolOp(op=op):
            yield altered(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield altered(operand)
        case ast.BinOp(op=op) if not is_union(node):
            yield altered(node, op=ARITHMETIC[type(op)]())
        case ast.Constant(value=value):
            yield from (altered(node, value=other) for other in other_values(value))
        case ast.Call():
            yield from other_calls(node)
        case ast.ExceptHandler(type=ast.expr()):
            yield from (altered(node, type=kind) for kind in fewer_exceptions(node))
        case ast.stmt():
            yield from other_statements(node)
    yield from turned(node)


def altered(node: Any, **fields: object) -> Any:
    """A copy that shares what is below it."""
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def other_values(value: object) -> Iterator[object]:
    match value:
        case bool():
            yield not value
        case int():
            yield value + 1
        case float():
            yield value * 2 + 1
        case str() if " " not in value.strip() and "\n" not in value.strip("\n"):
            yield "XX" + value
        case bytes():
            yield b"XX" + value


def other_calls(call: ast.Call) -> Iterator[ast.AST]:
    if isinstance(call.func, ast.Name) and (other := OPPOSITES.get(call.func.id)):
        yield altered(call, func=altered(call.func, id=other))
    match call:
        case ast.Call(func=ast.Name(id="isinstance" | "cast" | "min" | "max")):
            return  # mypy sees it, or it makes no difference
        case ast.Call(args=[first, second, *others]) if not has_star(call):
            yield altered(call, args=[second, first, *others])


def has_star(call: ast.Call) -> bool:
    return any(isinstance(argument, ast.Starred) for argument in call.args)


def fewer_exceptions(handler: ast.ExceptHandler) -> Iterator[ast.expr]:
    """Each type by itself is no longer caught."""
    caught = handler.type
    if not isinstance(caught, ast.Tuple):
        yield ast.Tuple(elts=[], ctx=ast.Load())
        return
    for left_out in caught.elts:
        yield altered(caught, elts=[kind for kind in caught.elts if kind is not left_out])


def other_statements(statement: ast.stmt) -> Iterator[ast.AST]:
    """Without it, or with the other word of a pair."""
    match statement:
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield altered(statement, value=ast.Constant(None))
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.Raise() | ast.Delete():
            yield ast.Pass()
        case ast.Return(value=None):
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript(), *_]):
            yield ast.Pass()
        case ast.AugAssign(op=op):
            yield altered(statement, op=ARITHMETIC[type(op)]())
            yield ast.Pass()
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()


def turned(node: ast.AST) -> Iterator[ast.AST]:
    """With the opposite condition, where no other change makes it."""
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if can_turn(test):
            yield altered(node, test=negated(test))
        case ast.comprehension(ifs=[test]) if can_turn(test):
            yield altered(node, ifs=[negated(test)])


def can_turn(test: ast.expr) -> bool:
    return isinstance(test, ast.Name | ast.Attribute | ast.Call | ast.Await | ast.NamedExpr)


def negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(op=ast.Not(), operand=test)


def is_union(node: ast.BinOp) -> bool:
    """`Gvk | None`, which is a type and no arithmetic."""
    if not isinstance(node.op, ast.BitOr):
        return False
    return any(isinstance(side, ast.Constant) and side.value is None for side in both(node))


def both(node: ast.BinOp) -> tuple[ast.expr, ast.expr]:
    return node.left, node.right


def is_left_out(node: ast.AST, field: str) -> bool:
    """Whether nothing in this field of a node is changed."""
    match node:
        case ast.ClassDef():
            # A Protocol says what others do.
            is_protocol = any(isinstance(b, ast.Name) and b.id == "Protocol" for b in node.bases)
            return is_protocol or field in ("decorator_list", "bases", "keywords")
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return field in ("decorator_list", "returns", "type_params")
        case ast.arg() | ast.AnnAssign():
            return field == "annotation"
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Assert():
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
    return False


def is_for_people(node: ast.AST, parent: ast.AST) -> bool:
    """A docstring, the words of an f-string, a log line, or the name of a task."""
    match node, parent:
        case ast.Constant(), ast.Expr() | ast.JoinedStr() | ast.FormattedValue():
            return True
        case ast.JoinedStr(), ast.FormattedValue():  # how a value is formatted
            return True
        case ast.keyword(arg="name"), ast.Call(func=ast.Attribute(attr="create_task")):
            return True
        case ((ast.Expr(value=ast.Call(func=func)) | ast.Call(func=func)), _):
            return is_of_logger(func)
    return False


def is_of_logger(func: ast.expr) -> bool:
    return (
        isinstance(func, ast.Attribute)
        and isinstance(func.value, ast.Name)
        and func.value.id == "_logger"
    )
