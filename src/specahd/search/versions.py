"""Code-completion prompts: versions of one function, each described as better than the last.

Methods that complete code send only code, without task and instruction (FunSearch and the methods
that LLM4AD compares it with). These prompts still state the rules of programs and the form of the
answer, because the guard and the parser apply them to every program.
"""

import ast
from collections.abc import Sequence

from specahd.core.contract import Contract
from specahd.programs.parsed import function_of
from specahd.search.prompts import answer_format, code_block, describe_rules


def completion_prompt(contract: Contract, sources: Sequence[str]) -> str:
    """Write a prompt for the version after the given ones.

    Parameters
    ----------
    contract
        The contract with every version's signature, and the first version's docstring.
    sources
        Canonical sources of at least one program, worst first.
    """
    names = [f"{contract.name}_v{number}" for number in range(len(sources) + 1)]
    template = function_of(contract.document)
    docstrings = [
        ast.get_docstring(template, clean=False) or "",
        *(f"Improved version of `{earlier}`." for earlier in names[:-1]),
    ]
    bodies = [*(function_of(source).body for source in sources), []]
    versions = [
        _version(template, name, docstring, body)
        for name, docstring, body in zip(names, docstrings, bodies, strict=True)
    ]
    parts = (
        describe_rules(contract),
        f"Complete {names[-1]}. IntArray and FloatArray are NumPy arrays of int64 and float64.",
        code_block("\n\n".join(versions)),
        f"Name your function {contract.name}, without a number, and call no other version.",
        answer_format(contract),
    )
    return "\n\n".join(parts) + "\n"


def _version(template: ast.FunctionDef, name: str, docstring: str, body: Sequence[ast.stmt]) -> str:
    docstring_node = ast.Expr(ast.Constant(docstring))
    version = ast.FunctionDef(
        name=name,
        args=template.args,
        body=[docstring_node, *body],
        decorator_list=[],
        returns=template.returns,
    )
    return ast.unparse(ast.fix_missing_locations(version))
