"""Verification of a program: syntax outside the language is refused, and checks are inserted.

It runs right after numba's type inference. Then every call is resolved to the called object and
every value has a type, so that no alias and no starred argument hides a call. Everything that is
not listed is refused. A check is a call that is inserted before or after an operation.
"""

import operator
from typing import Any

from numba import types
from numba.core import ir
from numba.core.inline_closurecall import length_of_iterator

from specahd.routing.compiled import runtime_checks
from specahd.routing.compiled.language import ARRAY_ATTRIBUTES
from specahd.routing.compiled.rules import (
    NotInLanguage,
    entry_of,
    fits,
    name_of,
    present,
    refuse_arguments,
    refuse_unassigned,
    selected_ndim,
    selects,
)
from specahd.routing.compiled.values import allowed, constant, elements, integer, kind, ndim, parts

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
        if not known and not (isinstance(value, types.Array) and name in ARRAY_ATTRIBUTES):
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
                self._check(runtime_checks.same_length, value, variable)
                known = True
            elif known and any(ndim(part) for part in parts(index)):
                known = self._beside_arrays(value, index, variable)
        if not known:
            raise NotInLanguage(f"an index of {index} into {of}")

    def _beside_arrays(self, value: Any, index: Any, variable: Any) -> bool:
        """Check the indices beside an array of indices; return False if its axis is unknown."""
        # numba checks an index when it selects, so it checks none in an empty selection.
        if ndim(self._type(value)) > 1:
            self._check(runtime_checks.occupied, value)
        for axis, part in enumerate(parts(index)):
            if isinstance(part, types.NoneType | types.EllipsisType):
                return False
            if not ndim(part):
                checks = runtime_checks.inside if integer(part) else runtime_checks.some
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
        one = (runtime_checks.separate,)
        checks = runtime_checks.separate_from if isinstance(selected, types.BaseTuple) else one
        for check, part in zip(checks, parts(selected), strict=False):
            if ndim(part) and kind(part) == kind(into):
                self._check(check, target, index)
        if ndim(new) and any(map(integer, parts(selected))) and not self._made(value):
            # For an integer beside other indices, numba compares less memory than is selected.
            if any(map(ndim, parts(selected))):
                self._check(runtime_checks.separate, target, value)
            else:
                self._check(runtime_checks.apart_from, target, index, value)

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
                self._check(runtime_checks.comparable, right)
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
            self._check(runtime_checks.not_minus_one, right)
        return not ndim(divisor) and stated != -1

    def _of_numbers(self, function: Any, kinds: str, left: Any, right: Any) -> Any:
        """Insert the checks of an operator of two numbers; return the check of its result."""
        if function is operator.pow:
            if kinds != "ii":
                return runtime_checks.finite
            self._check(runtime_checks.small_power, left, right)
        elif function in _DIVISIONS:
            self._small(left)
            self._small(right)
            if not constant(self._type(right)):
                self._check(runtime_checks.nonzero, right)
        elif kinds == "ii":
            if function is operator.mul:
                self._check(runtime_checks.small_product, left, right)
            else:
                self._small(left)
                self._small(right)
        return None

    def _small(self, variable: Any) -> None:
        stated = constant(self._type(variable))
        if stated is None and integer(self._type(variable)):
            self._check(runtime_checks.small, variable)
        elif stated is not None and abs(stated) > runtime_checks.LARGEST:
            raise NotInLanguage("a large integer")

    def _in_place(self, function: Any, target: Any, value: Any) -> None:
        """Insert the checks of an operator that changes an array."""
        into, new = self._type(target), self._type(value)
        rounded = function is operator.floordiv  # numba floors a rounded quotient
        integers = kind(into) == "i" and (function in _DIVISIONS or function is operator.pow)
        if not fits(kind(new), kind(into)) or integers or rounded or ndim(new) > ndim(into):
            raise NotInLanguage(f"{into} changed by {new}")
        if ndim(new):
            self._check(runtime_checks.fits, target, value)
            if not self._made(value):
                self._check(runtime_checks.apart, target, value)

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
        if entry.before is not None and given:
            if isinstance(given[0], types.BaseTuple):
                raise NotInLanguage(f"an argument of {given[0]}")
            if kind(given[0]) == "f":
                self._check(entry.before, call.args[0])
        method = isinstance(this, types.Array)
        array = self._ir.get_definition(call.func).value if method else next(iter(call.args), None)
        if entry.views and (self._type(array).mutable or self._type(array).layout != "C"):
            raise NotInLanguage(f"{name_of(function)} of {self._type(array)}")
        if kind(result) == "i" and ndim(result) and entry.converts:
            if method and kind(this) == "f":
                self._check(runtime_checks.integral_array, array)
            elif any(kind(element) == "f" for value in given for element in elements(value)):
                raise NotInLanguage("floats made integers")
        return entry.after
