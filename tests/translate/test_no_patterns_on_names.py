"""What a row does beyond its expression is a field of the row: outside of isa nobody tests a mnemonic by a pattern."""

import ast
from pathlib import Path

import pytest

import gpulab.virtual_gpu

ROOT = Path(gpulab.virtual_gpu.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py") if path.relative_to(ROOT).parts[0] != "isa")
PREFIXES = ("v_", "s_", "ds_", "flat_", "global_", "scratch_", "buffer_", "tbuffer_")
METHODS = ("startswith", "endswith", "removeprefix", "removesuffix", "partition", "split", "find", "count", "replace")
MATCHES = ("match", "fullmatch", "search", "findall", "compile", "sub")


def patterns_on_names(source: str) -> list[str]:
    """The expressions of a module that take a mnemonic apart, or compare a text with the beginning of one."""
    tree = ast.parse(source)
    taken = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for targets, value in _pairs(node)
        for target in [targets]
        if isinstance(target, ast.Name) and isinstance(value, ast.Attribute) and value.attr == "mnemonic"
    }

    def is_name(node: ast.AST) -> bool:
        return (isinstance(node, ast.Attribute) and node.attr == "mnemonic") or (
            isinstance(node, ast.Name) and node.id in taken
        )

    def begins_one(node: ast.AST) -> bool:
        texts = node.elts if isinstance(node, ast.Tuple) else [node]
        return any(
            isinstance(t, ast.Constant) and isinstance(t.value, str) and t.value.startswith(PREFIXES) for t in texts
        )

    found = []
    for node in ast.walk(tree):
        wrong = False
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            given = node.func
            wrong = given.attr in METHODS and is_name(given.value)
            wrong = wrong or (given.attr == "startswith" and any(begins_one(each) for each in node.args))
            wrong = wrong or (given.attr in MATCHES and any(is_name(each) or begins_one(each) for each in node.args))
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            wrong = is_name(node.comparators[0])  # "mul" in row.mnemonic
        elif isinstance(node, ast.Subscript):
            wrong = is_name(node.value) and isinstance(node.ctx, ast.Load)
        if wrong:
            found.append(ast.unparse(node))
    return found


def _pairs(node: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    target = node.targets[0]
    if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
        return list(zip(target.elts, node.value.elts, strict=False))
    return [(target, node.value)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_are_not_taken_apart(path):
    assert patterns_on_names(path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        'row.mnemonic.startswith("v_cmpx_")',
        'name, modifiers = instruction.mnemonic, 1\nname.endswith("b64")',
        'decoded.instruction.text.startswith(("s_and_b", "s_or_b"))',
        're.match(r"v_(pk_)?fmac", item.mnemonic)',
        '"mul" in row.mnemonic',
        "row.mnemonic[:2]",
    ],
)
def test_the_search_finds_such_tests(source):
    assert len(patterns_on_names(source)) == 1


def test_a_name_may_be_compared_and_printed():
    assert patterns_on_names('x.mnemonic == "s_getpc_b64"\nf"{x.mnemonic} has no row"\ntable.get(x.mnemonic)') == []
