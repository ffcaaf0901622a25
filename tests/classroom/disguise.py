"""Makes a copy of an answer look like work of its own, as those do who copy."""

from __future__ import annotations

import random
import re

from gpulab.toolchain.sources import without_comments

KEYWORDS = set(
    re.findall(
        r"\w+",
        """if else for while do return break continue switch case const unsigned int float double bool char long short
        void struct template typename static inline auto sizeof true false size_t main std vector printf include define
        endif ifdef kernel float2 float4 int4 half extern volatile x y z w threadIdx blockIdx blockDim gridDim
        warpSize""",
    )
)
DECLARATION = re.compile(r"\s*(?:const )?(?:int|float|unsigned|double|size_t|long) (\w+) = [^;]*;\s*$")


def disguise(source: str, seed: int) -> str:
    """Other names, comments, numbers and spaces; operands and neighbouring declarations in another order."""
    pick = random.Random(seed)
    code = re.sub(r"//[^\n]*", "", source) if '"' in source else without_comments(source)
    names = sorted({name for name in re.findall(r"\b[a-z]\w*", code) if name not in KEYWORDS})
    names = [name for name in names if not re.match(r"(__|atomic|hip)", name) and not re.search(rf"[.>]{name}\b", code)]
    others = {name: f"{pick.choice(('q', 'val', 'tmp', 'my'))}{number}" for number, name in enumerate(names)}
    code = re.sub(r"\b[a-z]\w*", lambda match: others.get(match[0], match[0]), code)
    code = re.sub(r"\b(\w+)\+\+", r"++\1", code)
    code = re.sub(r"\b(\w+) < (\w+)\b", r"\2 > \1", code)
    code = re.sub(r"\b(\w+) \* (\w+)\b", r"\2 * \1", code)
    code = re.sub(r"\b(16|32|64|128|256)\b", lambda match: hex(int(match[1])), code)
    lines = code.split("\n")
    at = 0
    while at + 1 < len(lines):
        one, two = DECLARATION.match(lines[at]), DECLARATION.match(lines[at + 1])
        free = one and two and not re.search(rf"\b{one[1]}\b", lines[at + 1])
        if free and two and not re.search(rf"\b{two[1]}\b", lines[at]):
            lines[at], lines[at + 1] = lines[at + 1], lines[at]
            at += 1
        at += 1
    for at, line in enumerate(lines):
        if line.startswith(" ") and line.rstrip().endswith(";") and pick.random() < 0.3:
            lines[at] = f"{line}  // step {pick.randrange(99)}"
    return "\n".join(lines).replace("\n    ", "\n\t")
