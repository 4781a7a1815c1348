"""numba's pipeline for programs, with the verification and an inlining that drops no operation."""

from collections.abc import Iterator
from typing import Any

from numba.core import ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import find_callname, get_definition, guard
from numba.core.typed_passes import NopythonTypeInference
from numba.core.untyped_passes import InlineClosureLikes

from specahd.routing.compiled.compiler_pass import Verifier
from specahd.routing.compiled.rules import NotInLanguage

_HARMLESS = frozenset({"build_list", "build_tuple", "getattr", "getiter", "make_function"})
"""Expressions that cannot raise in a typed program."""


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
