"""What runs in the process of Triton's compiler: the source's own Python, and Triton. It imports nothing of gpulab.

Called with a folder, it reads ``request.json`` there and writes ``answer.json``: either the kernels, each with its
assembly text, or the error and its line. Whoever reads the answer treats it as a stranger's (`__init__.py`): the source
runs in this process, and may write what it likes.
"""

import ast
import importlib.util
import json
import os
import re
import sys
import traceback
from typing import Any

SOURCE = "kernel.py"
_ITEM = re.compile(r"(?:(?P<name>\w+)\s*=\s*)?(?P<value>[^=]+)")
_OPTIONS = ("num_warps", "num_stages", "waves_per_eu", "matrix_instr_nonkdim")


class Refused(Exception):
    """What is asked for cannot be compiled; with the line of the source, or 0."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def run(name: str, path: str) -> Any:
    """The module of a file."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # noqa: PT018
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kernels_of(module: Any, jitted: Any) -> dict[str, Any]:
    """The kernels that the source itself defines, in its order."""
    found: dict[str, Any] = {}
    for value in vars(module).values():
        if isinstance(value, jitted) and value.fn.__code__.co_filename == module.__file__:
            found[value.fn.__name__] = value
    return dict(sorted(found.items(), key=lambda item: item[1].starting_line_number))


def instance(kernel: Any, given: list[str] | None, language: Any) -> tuple[dict[str, str], dict, dict, dict]:
    """Types of the arguments, constants, promises and options: as Triton's own ahead-of-time compiler takes them.

    `given` are the texts between the brackets of "add(*fp32:16, *fp32:16, i32, BLOCK=256)", or None for what the
    annotations of the kernel say.
    """
    line = kernel.starting_line_number
    types, constants, named = [], {}, {}
    for item in given or ():
        match = _ITEM.fullmatch(item.strip())
        if match is None:
            raise Refused(f"{item.strip()!r} is no type and no constant")
        if match["name"]:
            named[match["name"]] = constant(match["value"].strip(), language)
        else:
            types.append(match["value"].strip())
    options = {name: named.pop(name) for name in _OPTIONS if name in named and name not in kernel.arg_names}
    signature, promises = {}, {}
    for number, parameter in enumerate(kernel.params):
        name = parameter.name
        if parameter.is_constexpr:
            if name not in named and not parameter.has_default:
                raise Refused(f"the constant {name} of {kernel.fn.__name__} has no value", line)
            constants[number,] = named.pop(name) if name in named else parameter.default
            signature[name] = "constexpr"
            if name in _OPTIONS:
                options[name] = constants[number,]
            continue
        if given is None:
            kind = parameter.annotation_type
            if not kind:
                raise Refused(f"the parameter {name} of {kernel.fn.__name__} has no type", line)
        elif types:
            kind = types.pop(0)
        else:
            raise Refused(f"the parameter {name} of {kernel.fn.__name__} is given no type", line)
        kind, _, promise = kind.partition(":")
        signature[name] = kind
        if promise == "16" or (given is None and kind.startswith("*")):
            promises[number,] = [["tt.divisibility", 16]]
        elif promise:
            raise Refused(f"{promise!r} is no promise: 16 is the one there is")
    if types or named:
        raise Refused(f"{kernel.fn.__name__} has no parameter for {', '.join([*types, *named])}", line)
    return signature, constants, promises, options


def constant(text: str, language: Any) -> Any:
    """A constant's value: of Python, or one of Triton's types by its name (float16)."""
    kind = getattr(language, text.removeprefix("tl."), None) if text.isidentifier() or text[:3] == "tl." else None
    if isinstance(kind, language.dtype):
        return kind
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise Refused(f"{text!r} is no constant") from None


def compiled(asked: dict[str, Any], folder: str) -> dict[str, Any]:
    """The kernels that are asked for, compiled."""
    import triton
    import triton.language as language
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.runtime.jit import JITFunction

    path = os.path.join(folder, SOURCE)
    if asked["walls"]:
        alone(asked["walls"])
    module = run("kernel", path)
    known = kernels_of(module, JITFunction)
    wanted = []
    for name, items in asked["instances"]:
        if name not in known:
            raise Refused(f"there is no kernel {name}: a kernel is a function marked @triton.jit")
        wanted.append((known[name], items))
    if not wanted:
        typed = (each for each in known.values() if any(p.annotation_type for p in each.params if not p.is_constexpr))
        wanted = [(kernel, None) for kernel in typed]
    target = GPUTarget("hip", asked["arch"], asked["wave_size"])
    answer = []
    for kernel, items in wanted:
        signature, constants, promises, options = instance(kernel, items, language)
        source = ASTSource(kernel, signature, constants, promises)
        made = triton.compile(source, target=target, options={"num_warps": 4, **options})
        answer.append(
            {
                "name": kernel.fn.__name__,
                "symbol": made.metadata.name,
                "parameters": [[name, kind] for name, kind in signature.items() if kind != "constexpr"],
                "lds_bytes": made.metadata.shared,
                "scratch_bytes": made.metadata.global_scratch_size,
                "assembly": made.asm["amdgcn"],
            }
        )
    return {"kernels": answer, "known": list(known)}


def failure(error: BaseException, folder: str) -> dict[str, Any]:
    """The error as plain data: what it says, and the line of the source (0 if none is known)."""
    path = os.path.join(folder, SOURCE)
    with open(path, encoding="utf-8") as file:
        source = file.read()
    said, line, column = f"{type(error).__name__}: {error}", 0, 0
    if isinstance(error, Refused):
        said, line = str(error), error.line
    elif isinstance(error, SyntaxError) and error.filename == path:
        said, line, column = f"{type(error).__name__}: {error.msg}", error.lineno or 0, error.offset or 0
    else:
        each: BaseException | None = error
        while each is not None:  # of calls inside of kernels the innermost that stands in the source
            text, node = getattr(each, "src", None), getattr(each, "node", None)
            if node is not None and isinstance(text, str) and text in source and hasattr(node, "lineno"):
                start = source[: source.index(text)].count("\n")
                line, column = start + node.lineno, node.col_offset + 1
                said = getattr(each, "error_message", None) or str(each.__cause__ or each)
            each = each.__cause__
        if not line:
            frames = traceback.extract_tb(error.__traceback__)
            own = [frame.lineno for frame in frames if frame.filename == path and frame.lineno]
            line = own[-1] if own else 0
    return {"error": said[:20000], "line": line, "column": column}


def alone(path: str) -> None:
    """No new processes, no network, no signals to others, for good: the source may be a stranger's."""
    walls = run("walls", path)
    walls.install(walls.program_filter())


def main(folder: str) -> None:
    with open(os.path.join(folder, "request.json"), encoding="utf-8") as file:
        asked = json.load(file)
    try:
        answer = compiled(asked, folder)
    except BaseException as error:  # the source may raise what it likes, SystemExit too
        answer = failure(error, folder)
    with open(os.path.join(folder, "answer.json"), "w", encoding="utf-8") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main(sys.argv[1])
