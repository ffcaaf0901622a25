"""Random C++ functions that mean the same on a host and on a GPU, as trees that can be made smaller.

`Generator(random).program()` gives a `Program`: helper functions and one main function over the parameters of
`INPUTS`. `Program.render(name)` is its text in the language of prelude.h. `smaller(program)` yields programs with one
part left out or simplified, the boldest cuts first.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

NARROW = ("i8", "u8", "i16", "u16")
INTEGERS = (*NARROW, "i32", "u32", "i64", "u64")
WIDE = ("i128", "u128")
FLOATS = ("f32", "f64", "f16")
BITS = {"i8": 8, "u8": 8, "i16": 16, "u16": 16, "i32": 32, "u32": 32, "i64": 64, "u64": 64, "i128": 128, "u128": 128}
WORDS, UNIFORMS = 6, 4  # 64-bit words of input: for each thread, and for all threads alike


@dataclass
class Node:
    """A part of a program. In `form`, $0, $1... stand for the kids. `type` is "" for statements and blocks."""

    form: str
    type: str = ""
    kids: list[Node] = field(default_factory=list)
    block: bool = False

    def render(self) -> str:
        if self.block:
            return "\n".join(kid.render() for kid in self.kids)
        return re.sub(r"\$(\d)", lambda found: self.kids[int(found[1])].render(), self.form)

    def walk(self) -> Iterator[Node]:
        yield self
        for kid in self.kids:
            yield from kid.walk()


@dataclass
class Function:
    head: str  # up to the opening brace; @ stands for the program's name
    body: Node
    tail: str = ""

    def render(self) -> str:
        return f"{self.head} {{\n{self.body.render()}\n{self.tail}}}\n"


@dataclass
class Program:
    """`functions[-1]` is the main one: u64 @main(words..., uniforms...)."""

    functions: list[Function]

    def render(self, name: str) -> str:
        return "\n".join(f.render() for f in self.functions).replace("@", name)


def literal(kind: str, random: Random) -> Node:
    if kind in FLOATS:
        value = random.choice([0.0, 1.0, -1.0, 0.5, 2.0, -3.75, 1e-3, 100.25, random.uniform(-10, 10)])
        if kind == "f16":
            return Node(f"((f16){value!r}f)", kind)
        return Node(f"({value!r}f)" if kind == "f32" else f"({value!r})", kind)
    bits = BITS[kind]
    value = random.choice([0, 1, 2, -1, 3, 7, 1 << random.randrange(min(bits, 64)), random.getrandbits(min(bits, 64))])
    value &= (1 << min(bits, 63)) - 1
    return Node(f"(({kind}){value}{'ull' if value >= 2**31 else ''})", kind)


class Generator:
    """Draws programs from a source of random numbers."""

    def __init__(self, random: Random, *, statements: int = 9, depth: int = 3) -> None:
        self.random, self.statements, self.depth = random, statements, depth
        # A program keeps to some types, so that its values meet.
        self.types = [*random.sample(INTEGERS, 3), random.choice(FLOATS)]
        self.types += [random.choice(WIDE)] if random.random() < 0.15 else []
        self.types += ["i32", "u32"]
        self.helpers: list[tuple[str, str, list[str]]] = []
        self.functions: list[Function] = []

    # -- expressions

    def expression(self, kind: str, depth: int) -> Node:
        random = self.random
        mine = [name for name, t in self.variables.items() if t == kind]
        if depth <= 0 or random.random() < 0.12:
            if mine and random.random() < 0.8:
                return Node(random.choice(mine), kind)
            if self.arrays and random.random() < 0.4:
                return self.cast(kind, self.element(depth))
            others = [name for name, t in self.variables.items()]
            if others and random.random() < 0.7:
                other = random.choice(others)
                return self.cast(kind, Node(other, self.variables[other]))
            return literal(kind, random)
        roll = random.random()
        if roll < 0.06 and self.arrays:
            return self.cast(kind, self.element(depth))
        if roll < 0.16:
            return self.cast(kind, self.expression(random.choice(self.types), depth - 1))
        if roll < 0.22 and self.helpers:
            name, result, parameters = random.choice(self.helpers)
            call = ", ".join(f"${i}" for i in range(len(parameters)))
            kids = [self.expression(p, min(depth - 1, 1)) for p in parameters]
            return self.cast(kind, Node(f"{name}({call})", result, kids))
        if roll < 0.28:
            kids = [self.condition(depth - 1), self.expression(kind, depth - 1), self.expression(kind, depth - 1)]
            return Node("(($0 ? $1 : $2) + 0.0f)" if kind in ("f32", "f64") else "($0 ? $1 : $2)", kind, kids)
        if roll < 0.31:
            index = self.expression("u32", depth - 1)
            table, result = random.choice([("table32[$0 & 15]", "u32"), ("table64[$0 & 7]", "f64"),
                                           ("table8[$0 & 31]", "i8")])  # fmt: skip
            return self.cast(kind, Node(table, result, [index]))
        return self.floating(kind, depth) if kind in FLOATS else self.integer(kind, depth)

    def integer(self, kind: str, depth: int) -> Node:
        random, bits = self.random, BITS[kind]
        a = lambda: self.expression(kind, depth - 1)  # noqa: E731
        forms = [f"({kind})($0 {op} $1)" for op in ("+", "-", "*", "&", "|", "^")] * 2
        forms += [f"{f}<{kind}>($0, $1)" for f in ("smaller", "larger", "sum_if_fits", "difference_if_fits")]
        forms += [f"({kind})(~$0)", f"({kind})(0 - $0)", f"magnitude<{kind}>($0)"]
        forms += [f"quotient<{kind}>($0, $1)", f"remainder_of<{kind}>($0, $1)"]
        forms += [f"middle<{kind}>($0, $1, $2)", f"({kind})($0 * $1 + $2)", f"({kind})(($0 ^ $1) ^ $2)"]
        forms += [f"({kind})(($0 + $1) + $2)", f"({kind})(($0 & $1) | $2)"]
        if bits < 128:
            forms += [f"product_if_fits<{kind}>($0, $1)"]
            forms += [
                f"({kind})__builtin_elementwise_add_sat($0, $1)",
                f"({kind})__builtin_elementwise_sub_sat($0, $1)",
            ]
        if bits == 32:
            forms += ["mul24_i32($0, $1)" if kind == "i32" else "mul24_u32($0, $1)", f"mulhi_{kind}($0, $1)"]
        if bits == 64:
            forms += [f"mulhi_{kind}($0, $1)"]
        if kind == "u32":
            forms += ["clz32($0)", "ctz32($0)", "(u32)__builtin_popcount($0)", "__builtin_bitreverse32($0)",
                      "__builtin_bswap32($0)", "__builtin_rotateleft32($0, $1 & 31)", "field_u32($0, $1, $2)",
                      "blend_bits($0, $1, $2)", "align_bits($0, $1, $2)", "sad8($0, $1, $2)",
                      "field_u32($0, 5, 11)", "(u32)(u8)($0 >> 8)", "(u32)(u16)$0"]  # fmt: skip
        if kind == "i32":
            forms += ["field_i32($0, (u32)$1)", "field_i32($0, 19)", "(i32)(i8)($0 >> 16)", "(i32)(i16)$0"]
        if kind == "u64":
            forms += [
                "clz64($0)",
                "ctz64($0)",
                "(u64)__builtin_popcountll($0)",
                "(u64)__builtin_bitreverse64($0)",
                "swapped($0)",
                "(u64)__builtin_rotateleft64($0, $1 & 63)",
                "(u64)(u32)$0 * (u64)(u32)$1",
            ]
        if kind == "i64":
            forms += ["(i64)(i32)$0 * (i64)(i32)$1", "(i64)(i32)$0 * (i64)(i32)$1 + $2"]
        special = random.random()
        if special < 0.15:
            return Node(
                f"{random.choice(('shl', 'shr'))}<{kind}>($0, $1)", kind, [a(), self.expression("i32", depth - 1)]
            )
        if special < 0.22:
            return Node(f"{random.choice(('shl', 'shr'))}<{kind}>($0, {random.randrange(bits)})", kind, [a()])
        if special < 0.3:
            return Node(f"({kind})($0)", kind, [self.condition(depth - 1)])
        form = random.choice(forms)
        count = 1 + max(int(d) for d in re.findall(r"\$(\d)", form))
        return Node(form, kind, [a() for _ in range(count)])

    def floating(self, kind: str, depth: int) -> Node:
        random = self.random
        a = lambda: self.expression(kind, depth - 1)  # noqa: E731
        if kind == "f16":
            form = random.choice(
                [
                    "add($0, $1)",
                    "sub($0, $1)",
                    "mul($0, $1)",
                    "((f16)-$0)",
                    "add(select<f16>($0 < $1, $0, $1), (f16)0.0f)",
                ]
            )
            return Node(form, kind, [a() for _ in range(2)])
        f = "f" if kind == "f32" else ""
        forms = ["($0 + $1)", "($0 - $1)", "($0 * $1)"] * 3
        forms += ["($0 / $1)", "(-$0)", "min_of($0, $1)", "max_of($0, $1)", "root($0)", f"__builtin_fabs{f}($0)"]
        forms += [f"__builtin_{name}{f}($0)" for name in ("floor", "ceil", "trunc", "rint", "round")]
        forms += [f"__builtin_fma{f}($0, $1, $2)", f"__builtin_copysign{f}($0, $1)"]
        # Clang makes a minimum of such a choice, whose zero may have either sign: adding zero settles it.
        forms += [f"(select<{kind}>($0 {sign} $1, $0, $1) + ({kind})0)" for sign in ("<", ">=")]
        forms += ["(1.0f / $0)" if kind == "f32" else "(1.0 / $0)", f"(-__builtin_fabs{f}($0) * $1)"]
        special = random.random()
        if special < 0.06:
            return Node(f"__builtin_ldexp{f}($0, $1 & 63)", kind, [a(), self.expression("i32", depth - 1)])
        form = random.choice(forms)
        count = 1 + max(int(d) for d in re.findall(r"\$(\d)", form))
        return Node(form, kind, [a() for _ in range(count)])

    def condition(self, depth: int) -> Node:
        random = self.random
        kind = random.choice(self.types)
        roll = random.random()
        if depth > 0 and roll < 0.15:
            return Node(random.choice(["($0 && $1)", "($0 || $1)", "(!$0)", "($0 != $1)"]), "bool",
                        [self.condition(depth - 1), self.condition(depth - 1)])  # fmt: skip
        if kind in FLOATS and roll < 0.25:
            return Node(
                random.choice(["($0 != $0)", "(!($0 < 1))", "(!($0 >= -1))"]),
                "bool",
                [self.expression(kind, depth - 1)],
            )
        if kind in INTEGERS and roll < 0.25:
            return Node(f"($0 & 1) == {random.choice('01')}", "bool", [self.expression(kind, depth - 1)])
        operator = random.choice(["<", "<=", ">", ">=", "==", "!="])
        return Node(f"($0 {operator} $1)", "bool", [self.expression(kind, depth - 1), self.expression(kind, depth - 1)])

    def cast(self, kind: str, node: Node) -> Node:
        other = node.type
        if other == kind:
            return node
        if kind in FLOATS and other in FLOATS:
            return Node(f"(({kind})$0)", kind, [node])
        if kind in FLOATS:
            # Host libraries convert 128 bits to floats in their own way; 64 are enough.
            if other in WIDE:
                node, other = Node("((i64)$0)", "i64", [node]), "i64"
            if kind == "f16":
                return Node("half((f32)(i8)$0)", kind, [node])
            if self.random.random() < 0.15:
                return Node(f"as_{kind}((u{BITS_OF_FLOAT[kind]})$0)", kind, [node])
            return Node(f"(({kind})$0)", kind, [node])
        if other in FLOATS:
            if self.random.random() < 0.15:
                return Node(f"({kind})bits($0)", kind, [node])
            if other == "f16" or kind in WIDE:
                return Node(f"(({kind})whole<i32, f32>((f32)$0))", kind, [node])
            return Node(f"whole<{kind}, {other}>($0)", kind, [node])
        return Node(f"(({kind})$0)", kind, [node])

    def element(self, depth: int) -> Node:
        name, kind, size = self.random.choice(self.arrays)
        if self.random.random() < 0.5:
            return Node(f"{name}[{self.random.randrange(size)}]", kind)
        return Node(f"{name}[$0 & {size - 1}]", kind, [self.expression("u32", min(depth - 1, 1))])

    # -- statements

    def block(self, count: int, depth: int, loop: bool) -> Node:
        return Node("", block=True, kids=[self.statement(depth, loop) for _ in range(count)])

    def statement(self, depth: int, loop: bool) -> Node:
        random = self.random
        roll = random.random()
        few = lambda: random.randint(1, 3)  # noqa: E731
        if depth > 0 and roll < 0.16:
            return Node("if ($0) {\n$1\n}", kids=[self.condition(2), self.block(few(), depth - 1, loop)])
        if depth > 0 and roll < 0.24:
            kids = [self.condition(2), self.block(few(), depth - 1, loop), self.block(few(), depth - 1, loop)]
            return Node("if ($0) {\n$1\n} else {\n$2\n}", kids=kids)
        if depth > 0 and roll < 0.36:
            self.counters += 1
            i = f"n{self.counters}"
            if random.random() < 0.5:
                bound: list[Node] = []
                form = f"for (u32 {i} = 0; {i} < {random.randint(1, 6)}; ++{i}) {{\n$0\n}}"
            else:
                bound = [self.expression("u32", 1)]
                form = f"for (u32 {i} = $1 & 7; {i} > 0; --{i}) {{\n$0\n}}"
            self.variables[i] = "u32"
            self.fixed.add(i)
            body = self.block(few(), depth - 1, True)
            del self.variables[i]
            return Node(form, kids=[body, *bound])
        if depth > 0 and roll < 0.40:
            cases = random.randint(2, 6)
            kids = [self.expression("u32", 2)] + [self.block(random.randint(1, 2), 0, False) for _ in range(cases)]
            # Each with a break: at -O1 Clang loses an assignment of a case in a loop that another case falls into.
            numbers = [k if random.random() < 0.8 else k + 3 * cases for k in range(cases - 1)]
            parts = [f"case {number}: {{\n${k + 1}\n}} break;" for k, number in enumerate(numbers)]
            return Node(
                f"switch ($0 % {cases + 1}) {{\n" + "\n".join(parts) + f"\ndefault: {{\n${cases}\n}}\n}}", kids=kids
            )
        if loop and roll < 0.45:
            return Node(f"if ($0) {random.choice(('break', 'continue'))};", kids=[self.condition(1)])
        if self.arrays and roll < 0.58:
            name, kind, size = random.choice(self.arrays)
            index = self.expression("u32", 1)
            return Node(f"{name}[$0 & {size - 1}] = $1;", kids=[index, self.expression(kind, self.depth)])
        names = [n for n in self.variables if n not in self.fixed]
        name = random.choice(names)
        kind = self.variables[name]
        return Node(f"{name} = $0;", kids=[self.expression(kind, self.depth)])

    # -- functions

    def program(self) -> Program:
        for number in range(self.random.choice([0, 0, 1, 2])):
            self.helper(number)
        self.main()
        return Program(self.functions)

    def start(self) -> None:
        self.variables: dict[str, str] = {}
        self.arrays: list[tuple[str, str, int]] = []
        self.fixed: set[str] = set()
        self.counters = 0

    def helper(self, number: int) -> None:
        self.start()
        parameters = [self.random.choice(self.types) for _ in range(self.random.randint(1, 4))]
        result = self.random.choice(self.types)
        self.variables = {f"p{i}": t for i, t in enumerate(parameters)}
        lines = [f"{result} r = {literal(result, self.random).form};"]
        self.variables["r"] = result
        if self.random.random() < 0.3:
            lines.append(self.array("a", local=True))
        body = self.block(self.random.randint(1, 4), 1, False)
        body.kids.insert(0, Node("\n".join(lines)))
        text = ", ".join(f"{t} p{i}" for i, t in enumerate(parameters))
        name = f"@help{number}"
        inline = "NOINLINE" if self.random.random() < 0.7 else "FN"
        self.functions.append(Function(f"{inline} {result} {name}({text})", body, "return r;\n"))
        self.helpers.append((name, result, parameters))

    def array(self, name: str, local: bool = False) -> str:
        kind, size = self.random.choice([t for t in self.types if t not in WIDE]), self.random.choice([2, 4, 8, 16])
        self.arrays.append((name, kind, size))
        if not local and self.random.random() < 0.4:
            return f"LDS({kind}, {name}, {size});\nfor (int i = 0; i < {size}; ++i) {name}[i] = ({kind})i;"
        return f"{kind} {name}[{size}];\nfor (int i = 0; i < {size}; ++i) {name}[i] = ({kind})(i + 1);"

    def value_of_input(self, kind: str, text: str) -> str:
        if kind in FLOATS:
            near = {"f16": f"half((f32)(i8){text} * 0.25f)", "f32": f"(f32)(i16){text} * 0.125f"}
            exact = f"as_{kind}((u{BITS_OF_FLOAT[kind]}){text})"
            return self.random.choice([exact, near.get(kind, f"(f64)(i32){text} / 64.0")])
        if kind in WIDE:
            return f"(({kind})(i64){text} << 32) ^ ({kind}){text}"
        return f"({kind}){text}"

    def main(self) -> None:
        self.start()
        lines = []
        for i in range(WORDS):
            kind = self.types[i % len(self.types)] if i < 4 else self.random.choice(self.types)
            lines.append(f"{kind} v{i} = {self.value_of_input(kind, f'w{i}')};")
            self.variables[f"v{i}"] = kind
        for i in range(UNIFORMS):
            kind = self.random.choice(self.types)
            lines.append(f"{kind} s{i} = {self.value_of_input(kind, f'q{i}')};")
            self.variables[f"s{i}"] = kind
        for i in range(self.random.choice([0, 1, 2])):
            lines.append(self.array(f"a{i}"))
        body = self.block(self.statements, 2, False)
        body.kids.insert(0, Node("\n".join(lines)))
        tail = ["u64 h = 1;"] + [f"h = mixed(h, word({name}));" for name in self.variables]
        tail += [f"for (int i = 0; i < {size}; ++i) h = mixed(h, word({name}[i]));" for name, _, size in self.arrays]
        words = ", ".join([f"u64 w{i}" for i in range(WORDS)] + [f"u64 q{i}" for i in range(UNIFORMS)])
        self.functions.append(Function(f"FN u64 @main({words})", body, "\n".join([*tail, "return h;", ""])))


BITS_OF_FLOAT = {"f16": 16, "f32": 32, "f64": 64}


def generate(seed: int, **sizes: int) -> Program:
    """The program of a seed."""
    return Generator(Random(seed), **sizes).program()


# ---- making programs smaller ----------------------------------------------------------------------------------------


def smaller(program: Program) -> Iterator[Program]:
    """Programs with one cut each: a statement gone, a branch or loop replaced by its body, an expression by one of its
    parts or a constant, a line of the checksum gone, a helper that nobody calls gone."""
    for place, function in enumerate(program.functions[:-1]):
        name = re.search(r"@help\d+", function.head)
        assert name
        if sum(f.render().count(name[0]) for f in program.functions) == 1:
            yield Program(program.functions[:place] + program.functions[place + 1 :])
    for place, function in enumerate(program.functions):
        lines = function.tail.split("\n")
        for at, line in enumerate(lines):
            if "mixed" in line:
                yield _with(
                    program, place, Function(function.head, function.body, "\n".join(lines[:at] + lines[at + 1 :]))
                )
        nodes = list(function.body.walk())
        for number, node in enumerate(nodes):
            for cut in _cuts(node):
                changed = copy.deepcopy(function)
                target = next(n for k, n in enumerate(changed.body.walk()) if k == number)
                target.form, target.type, target.kids, target.block = (
                    cut.form,
                    cut.type,
                    copy.deepcopy(cut.kids),
                    cut.block,
                )
                yield _with(program, place, changed)


def _with(program: Program, place: int, function: Function) -> Program:
    return Program([*program.functions[:place], function, *program.functions[place + 1 :]])


def _cuts(node: Node) -> Iterator[Node]:
    if node.block:
        count = len(node.kids)
        size = count // 2
        while size:
            for start in range(0, count, size):
                dropped = node.kids[start : start + size]
                if all(("\n" in k.form and not k.kids) or k.form == "" for k in dropped):
                    continue
                # Declarations stay.
                kept = [k for i, k in enumerate(node.kids) if not start <= i < start + size or _declares(k)]
                if len(kept) < count:
                    yield Node("", kids=kept, block=True)
            size //= 2
        return
    if not node.type:
        for kid in node.kids:
            if kid.block and not re.search(r"\b(break|continue)\b|\bn\d+\b", kid.render()):
                yield Node("{\n$0\n}", kids=[kid])
        return
    if node.kids:
        for kid in node.kids:
            if kid.type == node.type:
                yield kid
        yield Node("true" if node.type == "bool" else f"(({node.type})1)", node.type)
        yield Node("false" if node.type == "bool" else f"(({node.type})0)", node.type)


def _declares(node: Node) -> bool:
    return not node.kids and bool(node.form) and not node.type
