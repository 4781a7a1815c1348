"""Compilation of programs by numba: what is outside the language is refused, checks are inserted.

The verification runs right after numba's type inference. Then every call is resolved to the called
object and every value has a type, so that no alias and no starred argument hides a call. Everything
that is not listed is refused. A check is a call that is inserted before or after an operation.
"""

import builtins
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numba import types
from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.inline_closurecall import length_of_iterator
from numba.core.ir_utils import find_callname, get_definition, guard
from numba.core.typed_passes import NopythonTypeInference
from numba.core.types.common import SimpleIteratorType
from numba.core.untyped_passes import InlineClosureLikes
from numba.np.unsafe.ndarray import empty_inferred

from specahd.programs import language, runtime
from specahd.programs.language import CallRule

FUNCTIONS: Mapping[Any, CallRule] = {
    **{getattr(np, name): rule for name, rule in language.COMPILED_NUMPY.items()},
    **{getattr(math, name): rule for name, rule in language.COMPILED_MATH.items()},
    **{getattr(builtins, name): rule for name, rule in language.COMPILED_BUILTINS.items()},
    # numba's own functions for arrays of comprehensions; stores into these are checked too.
    length_of_iterator: CallRule(language.ITERATED),
    empty_inferred: CallRule(language.SIZED, kinds="i", after="occupied"),
    runtime.argsort: CallRule("our own, of one dimension", array=True, ndim=1),
    runtime.clip: CallRule(language.ELEMENTWISE, 3, array=True),
    runtime.next_step: CallRule(language.SCALAR, kinds="i", ndim=0),
    runtime.counted: CallRule("our own, of an answer", 3, kinds="bif"),
}
"""Rules by the called object, not by its name, so that an alias makes no difference."""

_SCALARS = {types.int64: "i", types.float64: "f", types.boolean: "b"}
_OPAQUE = (
    *(types.NoneType, types.Module, types.Function, types.BoundFunction, types.NumberClass),
    *(types.DType, types.EllipsisType, types.SliceType, types.RangeType, types.StringLiteral),
)
_NOT_NUMBERS = (types.NumberClass, types.DType, types.RangeType, SimpleIteratorType)
_SUMS = frozenset({operator.add, operator.sub})
_DIVISIONS = frozenset({operator.truediv, operator.floordiv, operator.mod})
_ARITHMETIC = _SUMS | _DIVISIONS | {operator.mul, operator.pow}
_COMPARISONS = frozenset(
    {operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne}
)
_BITS = frozenset({operator.and_, operator.or_, operator.xor})
_IDENTITY = frozenset({operator.is_, operator.is_not})
_PLAIN = {"build_tuple", "getiter", "iternext", "pair_first", "pair_second", "exhaust_iter"}
_UNCHANGING = (types.ArrayIterator, types.RangeIteratorType)
_HARMLESS = frozenset({"build_list", "build_tuple", "getattr", "getiter", "make_function"})
"""Expressions that cannot raise in a typed program."""


class NotInLanguage(Exception):
    """Error for a program that is outside the compiled language."""


def refuse_unassigned(blocks: Any) -> None:
    """Refuse a variable that may have no value yet: there Python raises, and numba reads zeros."""
    dominators = compute_cfg_from_blocks(blocks).dominators()
    homes = {
        statement.target.name: label
        for label, block in blocks.items()
        for statement in block.find_insts(ir.Assign)
    }
    for label, block in blocks.items():
        for statement in block.body:
            value = getattr(statement, "value", None)
            if isinstance(value, ir.Expr) and value.op == "phi":
                uses = list(zip(value.incoming_values, value.incoming_blocks, strict=True))
            else:
                uses = [(variable, label) for variable in statement.list_vars()]
            for variable, place in uses:
                if variable is ir.UNDEFINED or homes[variable.name] not in dominators[place]:
                    raise NotInLanguage("a variable that may have no value")


def refuse_arguments(entry: CallRule, given: Sequence[Any]) -> None:
    """Refuse arguments that a function's entry does not list."""
    for position, argument in enumerate(given):
        for element in elements(argument):
            kinds = f"{entry.kinds}i" if position and "f" in entry.kinds else entry.kinds
            number = kind(element)
            if isinstance(element, types.NoneType):
                known = "n" in entry.kinds
            elif number is None:
                known = isinstance(element, _NOT_NUMBERS)
            else:
                known = number in kinds and ndim(element) <= entry.ndim
            if not known or (entry.array and not position and not ndim(argument)):
                raise NotInLanguage(f"an argument of {argument}")


def entry_of(function: Any) -> CallRule | None:
    """Return the entry of a function in the language; None if it has none."""
    if isinstance(function, types.NumberClass):
        of = {"i": int, "f": float, "b": bool}.get(kind(function.instance_type) or "")
        return FUNCTIONS.get(of)
    if isinstance(function, types.BoundFunction):
        key = function.typing_key
        name = str(key[1] if isinstance(key, tuple) else key).rpartition(".")[2]
        if isinstance(function.this, types.Array):
            return language.COMPILED_ARRAY_METHODS.get(name)
        known = isinstance(function.this, types.List)
        return language.COMPILED_LIST_METHODS.get(name) if known else None
    return FUNCTIONS.get(function.typing_key) if isinstance(function, types.Function) else None


def name_of(function: Any) -> str:
    """Return the name of a function, for messages."""
    return str(getattr(getattr(function, "typing_key", None), "__name__", function))


def selects(index: Any) -> bool:
    """Return whether a subscript of an array may contain an index, alone or beside others."""
    if isinstance(index, types.SliceType | types.NoneType | types.EllipsisType):
        return True
    return kind(index) == "i" and ndim(index) <= 1


def selected_ndim(array: Any, index: Any) -> int:
    """Return the number of dimensions of an array's selection by an index."""
    several = parts(index)
    added = sum(isinstance(part, types.NoneType) for part in several)
    taken = sum(kind(part) == "i" and not ndim(part) for part in several)
    # Arrays of indices share one axis.
    gathered = sum(ndim(part) > 0 for part in several)
    return ndim(array) + added - taken - max(0, gathered - 1)


def fits(new: str | None, into: str | None) -> bool:
    """Return whether elements of one kind can be stored as another kind without loss."""
    return f"{new}{into}" in ("bb", "bi", "bf", "ii", "if", "ff")


def present(value: Any) -> Any:
    """Return the type that a value, which may be None, has when it is not None."""
    return value.type if isinstance(value, types.Optional) else value


def kind(value: Any) -> str | None:
    """Return ``i``, ``f`` or ``b`` for integers, floats and truth values, alone or in an array."""
    element = value.dtype if isinstance(value, types.Array) else types.unliteral(value)
    return _SCALARS.get(element)


def ndim(value: Any) -> int:
    """Return an array's number of dimensions, 0 for anything else."""
    return int(value.ndim) if isinstance(value, types.Array) else 0


def integer(value: Any) -> bool:
    """Return whether a value is one integer."""
    return kind(value) == "i" and not ndim(value)


def constant(value: Any) -> int | None:
    """Return the number of an integer literal; None for any other value."""
    literal = getattr(value, "literal_value", None)
    return literal if integer(value) and isinstance(literal, int) else None


def allowed(value: Any) -> bool:
    """Return whether a variable of a compiled program may have a type.

    Integers and floats have 64 bits: other sizes behave at their limits as in NumPy only. numba's
    sets and dicts iterate in another order than Python's. Complex numbers and texts have no use.
    """
    if isinstance(value, types.Array):
        return kind(value) is not None and 1 <= ndim(value) <= 3
    if isinstance(value, types.List):
        return allowed(value.dtype) and not counted(value.dtype)
    if isinstance(value, types.UniTuple | types.Optional):
        return allowed(value.type if isinstance(value, types.Optional) else value.dtype)
    if isinstance(value, types.BaseTuple):
        return all(map(allowed, parts(value)))
    if isinstance(value, types.Pair):
        return allowed(value.first_type) and allowed(value.second_type)
    if isinstance(value, SimpleIteratorType):
        return allowed(value.yield_type)
    return kind(value) is not None or isinstance(value, _OPAQUE)


def counted(value: Any) -> bool:
    """Return whether numba counts references to a value: an array, a list or their container."""
    if isinstance(value, types.Optional):
        return counted(value.type)
    if isinstance(value, types.BaseTuple):
        return any(map(counted, parts(value)))
    return isinstance(value, types.Array | types.List)


def parts(value: Any) -> tuple[Any, ...]:
    """Return the types of a tuple's parts, or the type itself alone."""
    several: Any = value
    return tuple(several) if isinstance(value, types.BaseTuple) else (value,)


def elements(value: Any) -> list[Any]:
    """Return the types of the numbers and arrays that an argument holds."""
    if isinstance(value, types.List | types.UniTuple):
        return elements(value.dtype)
    if isinstance(value, types.BaseTuple):
        return [element for part in parts(value) for element in elements(part)]
    return [value]


class Verifier:
    """Compiler pass that verifies one function."""

    def __init__(self, state: Any) -> None:
        self._ir = state.func_ir
        self._types: dict[str, Any] = state.typemap
        self._calls: dict[Any, Any] = state.calltypes
        self._context = state.typingctx
        self._body: list[Any] = []

    def verify(self) -> None:
        """Verify every statement.

        Raises
        ------
        NotInLanguage
            The message names the construct that is not listed.
        """
        refuse_unassigned(self._ir.blocks)
        for block in self._ir.blocks.values():
            statements, self._body = block.body, []
            for statement in statements:
                after = self._statement(statement)
                self._body.append(statement)
                if after is not None:
                    self._check(after, statement.target)
            block.body = self._body

    def _type(self, variable: Any) -> Any:
        return self._types[variable.name]

    def _check(self, check: Any, *variables: Any) -> None:
        """Append a call of a check."""
        scope, where = variables[0].scope, variables[0].loc
        arguments = tuple(types.unliteral(self._type(variable)) for variable in variables)
        function = scope.redefine("$check", where)
        result = scope.redefine("$checked", where)
        self._types[function.name] = self._context.resolve_value_type(check)
        signature = self._types[function.name].get_call_type(self._context, arguments, {})
        self._types[result.name] = signature.return_type
        call = ir.Expr.call(function, list(variables), (), where)
        self._calls[call] = signature
        constant = ir.Global(check.__name__, check, where)
        self._body += [ir.Assign(constant, function, where), ir.Assign(call, result, where)]

    # Statements

    def _statement(self, statement: Any) -> Any:
        """Verify a statement; return the check of the assigned value, if there is one."""
        if isinstance(statement, ir.Assign):
            if not allowed(self._type(statement.target)):
                raise NotInLanguage(f"a value of {self._type(statement.target)}")
            return self._assign(statement)
        if isinstance(statement, ir.SetItem):
            self._store(statement.target, statement.index, statement.value)
        elif isinstance(statement, ir.StaticSetItem):
            self._store(statement.target, statement.index_var, statement.value)
        elif not isinstance(statement, ir.Return | ir.Jump | ir.Branch | ir.StaticRaise):
            raise NotInLanguage(type(statement).__name__)
        return None

    def _assign(self, statement: Any) -> Any:
        value, target = statement.value, self._type(statement.target)
        if isinstance(value, ir.Var):
            self._convert(value, target)
        if not isinstance(value, ir.Expr):
            return None
        match value.op:
            case "call":
                return self._call(value, target)
            case "binop":
                return self._operator(value.fn, value.lhs, value.rhs)
            case "inplace_binop":
                if isinstance(self._type(value.lhs), types.Array):
                    self._in_place(value.immutable_fn, value.lhs, value.rhs)
                return self._operator(value.immutable_fn, value.lhs, value.rhs)
            case "unary":
                self._unary(value.fn, value.value)
            case "getitem":
                self._index(value.value, self._type(value.index), value.index)
            case "static_getitem" if value.index_var is None:
                # A tuple is unpacked; its length is part of its type.
                if not isinstance(self._type(value.value), types.BaseTuple):
                    raise NotInLanguage("a subscript without an index")
            case "static_getitem":
                self._index(value.value, self._type(value.index_var), value.index_var)
            case "getattr":
                self._attribute(self._type(value.value), value.attr, target)
            case "cast":
                self._convert(value.value, target)
            case "phi":
                for incoming in value.incoming_values:
                    self._convert(incoming, target)
            case "build_list":
                for item in value.items:
                    self._convert(item, target.dtype)
            case op if op not in _PLAIN:
                raise NotInLanguage(f"the expression {op}")
        return None

    def _convert(self, value: Any, target: Any) -> None:
        """Refuse a conversion between truth value and number: Python makes none by itself."""
        if (kind(self._type(value)) == "b") != (kind(target) == "b"):
            raise NotInLanguage("truth values mixed with numbers")

    def _attribute(self, value: Any, name: str, result: Any) -> None:
        known = isinstance(value, types.Module) or isinstance(result, types.BoundFunction)
        of_array = isinstance(value, types.Array) and name in language.COMPILED_ARRAY_ATTRIBUTES
        if not (known or of_array):
            raise NotInLanguage(f"the attribute {name} of {value}")

    # Elements

    def _index(self, value: Any, index: Any, variable: Any) -> None:
        """Verify an index; numba itself checks the bounds of integers."""
        of = self._type(value)
        if isinstance(of, types.List):
            known = integer(index) or isinstance(index, types.SliceType)
        elif isinstance(of, types.BaseTuple):
            known = integer(index)
        else:
            known = isinstance(of, types.Array) and all(map(selects, parts(index)))
            if isinstance(of, types.Array) and kind(index) == "b" and ndim(index) == 1:
                self._check(runtime.same_length, value, variable)
                known = True
            elif known and any(ndim(part) for part in parts(index)):
                known = self._beside_arrays(value, index, variable)
        if not known:
            raise NotInLanguage(f"an index of {index} into {of}")

    def _beside_arrays(self, value: Any, index: Any, variable: Any) -> bool:
        """Check the indices beside an array of indices; return False if its axis is unknown."""
        # numba checks an index when it selects, so it checks none in an empty selection.
        if ndim(self._type(value)) > 1:
            self._check(runtime.occupied, value)
        for axis, part in enumerate(parts(index)):
            if isinstance(part, types.NoneType | types.EllipsisType):
                return False
            if not ndim(part):
                checks = runtime.inside if integer(part) else runtime.some
                self._check(checks[axis], value, variable)
        return True

    def _store(self, target: Any, index: Any, value: Any) -> None:
        selected = self._type(index)
        self._index(target, selected, index)
        into, new = self._type(target), self._type(value)
        if isinstance(into, types.List):
            # numba moves elements before it reads the value, which may be the same list.
            if not integer(selected):
                raise NotInLanguage(f"an index of {selected} into {into} that changes")
            self._convert(value, into.dtype)
        elif not fits(kind(new), kind(into)) or ndim(new) > selected_ndim(into, selected):
            raise NotInLanguage(f"{new} stored into {into}")
        one = (runtime.separate,)
        checks = runtime.separate_from if isinstance(selected, types.BaseTuple) else one
        for check, part in zip(checks, parts(selected), strict=False):
            if ndim(part) and kind(part) == kind(into):
                self._check(check, target, index)
        if ndim(new) and any(map(integer, parts(selected))) and not self._made(value):
            # For an integer beside other indices, numba compares less memory than is selected.
            if any(map(ndim, parts(selected))):
                self._check(runtime.separate, target, value)
            else:
                self._check(runtime.apart_from, target, index, value)

    # Operators

    def _operator(self, function: Any, left: Any, right: Any) -> Any:
        """Verify an operator; return the check of its result, if there is one."""
        one, other = self._type(left), self._type(right)
        if function in _IDENTITY and isinstance(other, types.NoneType):
            return None
        if function in _COMPARISONS:
            one, other = present(one), present(other)
        kinds = f"{kind(one)}{kind(other)}"
        arrays = bool(ndim(one) or ndim(other))
        if isinstance(one, types.List) and one == other and function is operator.add:
            return None
        if function is operator.contains and len(elements(one)) and kind(other) in ("i", "f"):
            known = all(kind(element) in ("i", "f") for element in elements(one))
            if kind(other) == "f" and not ndim(one):
                self._check(runtime.comparable, right)
        elif len(kinds) > 2:
            known = False
        elif function in _COMPARISONS:
            known = True
        elif function in _BITS:
            known = kinds in ("bb", "ii")
        elif function is operator.rshift:
            # Shifts by more than 63 or to the left differ in 64 bits from Python's.
            stated = constant(other)
            known = kinds == "ii" and not arrays and stated is not None and 0 <= stated < 64
        elif function is operator.matmul:
            known = kinds == "ff" and ndim(one) == ndim(other) == 1
        elif function in _ARITHMETIC and "b" in kinds:
            # NumPy's operators on two truth values are not arithmetic.
            known = kinds != "bb" and function in _SUMS | {operator.mul}
        elif function in _ARITHMETIC and not arrays:
            return self._of_numbers(function, kinds, left, right)
        else:
            known = function in _ARITHMETIC and self._of_arrays(function, kinds, right)
        if not known:
            raise NotInLanguage(f"{one} {function.__name__} {other}")
        return None

    def _of_arrays(self, function: Any, kinds: str, right: Any) -> bool:
        """Verify an operator with an array; division and powers of integers have stricter rules."""
        divisor = self._type(right)
        if kinds != "ii" or function in _SUMS | {operator.mul, operator.truediv}:
            return True
        stated = constant(divisor)
        if function is operator.pow:
            return stated is not None and stated >= 0
        if stated is None and not ndim(divisor):
            self._check(runtime.not_minus_one, right)
        return not ndim(divisor) and stated != -1

    def _of_numbers(self, function: Any, kinds: str, left: Any, right: Any) -> Any:
        """Insert the checks of an operator of two numbers; return the check of its result."""
        if function is operator.pow:
            if kinds != "ii":
                return runtime.finite
            self._check(runtime.small_power, left, right)
        elif function in _DIVISIONS:
            self._small(left)
            self._small(right)
            if not constant(self._type(right)):
                self._check(runtime.nonzero, right)
        elif kinds == "ii":
            if function is operator.mul:
                self._check(runtime.small_product, left, right)
            else:
                self._small(left)
                self._small(right)
        return None

    def _small(self, variable: Any) -> None:
        stated = constant(self._type(variable))
        if stated is None and integer(self._type(variable)):
            self._check(runtime.small, variable)
        elif stated is not None and abs(stated) > runtime.LARGEST:
            raise NotInLanguage("a large integer")

    def _in_place(self, function: Any, target: Any, value: Any) -> None:
        """Insert the checks of an operator that changes an array."""
        into, new = self._type(target), self._type(value)
        rounded = function is operator.floordiv  # numba floors a rounded quotient
        integers = kind(into) == "i" and (function in _DIVISIONS or function is operator.pow)
        if not fits(kind(new), kind(into)) or integers or rounded or ndim(new) > ndim(into):
            raise NotInLanguage(f"{into} changed by {new}")
        if ndim(new):
            self._check(runtime.fits, target, value)
            if not self._made(value):
                self._check(runtime.apart, target, value)

    def _made(self, value: Any) -> bool:
        """Return whether a value is the new array of an operator, without another reference."""
        source = self._ir.get_definition(value.name) if value.is_temp else None
        return isinstance(source, ir.Expr) and source.op in ("binop", "unary")

    def _unary(self, function: Any, variable: Any) -> None:
        value = self._type(variable)
        kinds = {operator.neg: "if", operator.pos: "if", operator.invert: "i", operator.not_: "bif"}
        if function is operator.invert and ndim(value):
            kinds[function] = "bi"
        known = (kind(value) or "none") in kinds.get(function, "")
        if not known or (function is operator.not_ and ndim(value)):
            raise NotInLanguage(f"{function.__name__} {value}")
        if function is operator.neg:
            self._small(variable)

    # Calls

    def _call(self, call: Any, result: Any) -> Any:
        """Verify a call; return the check of its result, if there is one."""
        function = self._type(call.func)
        entry = entry_of(function)
        keywords = dict(call.kws)
        if entry is None or call.vararg is not None or call.varkwarg is not None:
            raise NotInLanguage(f"a call of {name_of(function)}")
        if len(call.args) > entry.most or not set(keywords) <= entry.keywords:
            raise NotInLanguage(f"these arguments of {name_of(function)}")
        this = getattr(function, "this", None)
        given = [self._type(argument) for argument in call.args]
        refuse_arguments(entry, [this, *given] if isinstance(this, types.Array) else given)
        changing = not (given and isinstance(given[0], _UNCHANGING))
        if getattr(function, "typing_key", None) is length_of_iterator and changing:
            raise NotInLanguage("an array made from what may change meanwhile")
        for argument in (*call.args, *keywords.values()):
            self._small(argument)
        if isinstance(this, types.List):
            for argument, value in zip(call.args, given, strict=True):
                if not isinstance(value, types.List):
                    self._convert(argument, this.dtype)
        if entry.before and given:
            if isinstance(given[0], types.BaseTuple):
                raise NotInLanguage(f"an argument of {given[0]}")
            if kind(given[0]) == "f":
                self._check(getattr(runtime, entry.before), call.args[0])
        method = isinstance(this, types.Array)
        array = self._ir.get_definition(call.func).value if method else next(iter(call.args), None)
        if entry.views and (self._type(array).mutable or self._type(array).layout != "C"):
            raise NotInLanguage(f"{name_of(function)} of {self._type(array)}")
        if kind(result) == "i" and ndim(result) and entry.converts:
            if method and kind(this) == "f":
                self._check(runtime.integral_array, array)
            elif any(kind(element) == "f" for value in given for element in elements(value)):
                raise NotInLanguage("floats made integers")
        return getattr(runtime, entry.after) if entry.after else None


@register_pass(mutates_CFG=True, analysis_only=False)
class ClosureInlining(InlineClosureLikes):
    """Inlining of comprehensions that refuses a program if an operation would be lost.

    After inlining, numba removes expressions that no later statement uses, also those that would
    raise: an index out of bounds, or an operator in place with shapes that do not fit.
    """

    _name = "closure_inlining"

    def run_pass(self, state: Any) -> bool:
        """Inline the closures of one function."""
        function = state.func_ir
        stores = _stores(function)
        needed = [one for one in _expressions(function) if not _inlined(function, one)]
        changed = super().run_pass(state)
        if len(_stores(function) & stores) < len(stores):
            raise NotInLanguage("a store into what is not used")
        remaining = {id(one) for one in _expressions(function)}
        for expression in needed:
            if id(expression) not in remaining and expression.op not in _HARMLESS:
                raise NotInLanguage(f"the expression {expression.op}, whose value is not used")
        return bool(changed)


def _stores(function: Any) -> set[Any]:
    return {one for block in function.blocks.values() for one in block.find_insts(ir.SetItem)}


def _expressions(function: Any) -> Iterator[Any]:
    for block in function.blocks.values():
        for statement in block.find_insts(ir.Assign):
            if isinstance(statement.value, ir.Expr):
                yield statement.value


def _inlined(function: Any, expression: Any) -> bool:
    """Return whether an expression calls a closure, or makes an array of its list."""
    if expression.op != "call":
        return False
    called = guard(get_definition, function, expression.func)
    if isinstance(called, ir.Expr) and called.op == "make_function":
        return True
    if guard(find_callname, function, expression) != ("array", "numpy"):
        return False
    lists = [guard(get_definition, function, argument) for argument in expression.args]
    return any(isinstance(one, ir.Expr) and _inlined(function, one) for one in lists)


@register_pass(mutates_CFG=False, analysis_only=False)
class Verification(FunctionPass):
    """Compiler pass that refuses programs outside the language and inserts the checks."""

    _name = "verification"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Verify one function."""
        Verifier(state).verify()
        return True


class ProgramCompiler(CompilerBase):
    """numba's pipeline with the verification in it."""

    def define_pipelines(self) -> list[Any]:
        """Return the pipeline in a list of one."""
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [
            (ClosureInlining if step is InlineClosureLikes else step, reason)
            for step, reason in pipeline.passes
        ]
        pipeline.add_pass_after(Verification, NopythonTypeInference)
        pipeline.finalize()
        return [pipeline]
