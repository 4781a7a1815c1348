"""How the guard says no."""

import ast


class GuardRefusal(Exception):
    """Carries the rule that a program broke and the node that broke it."""

    def __init__(self, rule: str, node: ast.AST | None = None) -> None:
        line = getattr(node, "lineno", None)
        super().__init__(f"Line {line}: {rule}." if line else f"{rule[0].upper()}{rule[1:]}.")
