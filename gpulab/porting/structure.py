"""What of a C++ program's structure a translator needs: brackets, statements, directives and device functions.

`CppSource` knows the tokens that mean something (no blanks, no comments), which brackets belong together, where
statements start, which tokens stand in preprocessor lines and which in functions that run on the device. It reads
text that need not compile: what does not fit together has no partner.
"""

from __future__ import annotations

from functools import cached_property

from gpulab.porting.tokens import BLANK, COMMENT, HEADER, NAME, NEWLINE, SIGN, SPACE, STRING, Tokens, scan, words

OPENERS = {"(": ")", "[": "]", "{": "}"}
CLOSERS = {value: key for key, value in OPENERS.items()}
KEYWORDS = words(
    "alignas alignof and asm auto bool break case catch char class co_await co_return co_yield const constexpr "
    "continue decltype default delete do double else enum explicit extern false float for friend goto if inline int "
    "long mutable namespace new noexcept not nullptr operator or private protected public return short signed sizeof "
    "static struct switch template this throw true try typedef typename union unsigned using virtual void volatile "
    "while xor"
)
_NOT_A_TYPE = words("return else do case throw new delete goto co_return co_yield co_await and or not xor")

_DEVICE = ("__global__", "__device__")
NONE = -1
"""In place of a position: there is none."""


class CppSource:
    """A text and its structure; positions are indices into the lists of meaningful tokens."""

    def __init__(self, source: str, first_line: int = 1) -> None:
        tokens = scan(source)
        self.first_line = first_line
        self.tokens: Tokens = tokens
        self.source = source
        kept = [i for i, kind in enumerate(tokens.kinds) if kind not in BLANK]
        self.index = kept
        """Position -> index of the token."""
        self.texts = [tokens.texts[i] for i in kept]
        self.kinds = [tokens.kinds[i] for i in kept]
        self.starts = [tokens.starts[i] for i in kept]
        self._directives()
        self._brackets()

    def __len__(self) -> int:
        return len(self.texts)

    def text(self, position: int) -> str:
        """The text at a position, "" before the first and after the last."""
        return self.texts[position] if 0 <= position < len(self.texts) else ""

    def kind(self, position: int) -> str:
        """The kind at a position, "" before the first and after the last."""
        return self.kinds[position] if 0 <= position < len(self.kinds) else ""

    def end(self, position: int) -> int:
        """Offset of the first character behind the token at this position."""
        return self.starts[position] + len(self.texts[position])

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, as messages name them."""
        line, column = self.tokens.place(offset)
        return line + self.first_line - 1, column

    def between(self, first: int, last: int) -> str:
        """The text from the token at `first` to that at `last`, both included."""
        return self.source[self.starts[first] : self.end(last)] if first <= last else ""

    def _directives(self) -> None:
        """directive[position]: the position of the # whose line it stands in, or NONE."""
        kinds, texts = self.tokens.kinds, self.tokens.texts
        of_token = []
        current, fresh = NONE, True  # fresh: only blanks so far in this line
        position = 0
        for kind, text in zip(kinds, texts, strict=True):
            if kind == NEWLINE:
                current, fresh = NONE, True
            elif kind in (SPACE, COMMENT):
                continue
            else:
                if fresh and text.startswith("#") and kind in (SIGN, STRING):
                    current = position
                fresh = False
                of_token.append(current)
                position += 1
        self.directive = of_token

    def _brackets(self) -> None:
        """partner[position]: of a bracket, the position of the one that belongs to it, or NONE."""
        partner = [NONE] * len(self.texts)
        outside: list[int] = []
        stack = outside
        inside: list[int] = []
        line = NONE
        braces = 0  # open ones outside of directives
        for position, text in enumerate(self.texts):
            if self.kinds[position] != SIGN or (text not in OPENERS and text not in CLOSERS):
                continue
            directive = self.directive[position]
            if directive != line:
                line = directive
                inside = []
            stack = inside if directive != NONE else outside
            if text in OPENERS:
                stack.append(position)
                braces += stack is outside and text == "{"
                continue
            wanted = CLOSERS[text]
            if stack and self.texts[stack[-1]] == wanted:
                opener = stack.pop()
            elif stack is outside and text == "}" and braces:
                opener = stack.pop()  # parentheses left open end with the block they stand in
                while self.texts[opener] != "{":
                    opener = stack.pop()
            else:
                continue
            braces -= stack is outside and text == "}"
            partner[opener], partner[position] = position, opener
        self.partner = partner

    @cached_property
    def statement(self) -> list[int]:
        """statement[position]: where its statement starts: behind the last ; { or } or in another line of a macro."""
        starts = []
        current, directive = 0, NONE
        for position, text in enumerate(self.texts):
            if self.directive[position] != directive:
                directive = self.directive[position]
                current = position
            starts.append(current)
            if self.kinds[position] == SIGN and text in ";{}":
                current = position + 1
        return starts

    @cached_property
    def device(self) -> bytearray:
        """device[position]: 1 in the body of a __global__ or __device__ function (or lambda), otherwise 0."""
        inside = bytearray(len(self.texts))
        done = NONE
        for position, text in enumerate(self.texts):
            if text not in _DEVICE or position <= done or self.directive[position] != NONE:
                continue
            body = self._body(position + 1)
            if body is not None:
                opening, closing = body
                inside[opening : closing + 1] = b"\1" * (closing + 1 - opening)
                done = closing
        return inside

    def _body(self, position: int) -> tuple[int, int] | None:
        """The braces of the function whose declaration goes on at this position; None for a mere declaration."""
        seen = False  # the parameter list
        while position < len(self.texts):
            text = self.texts[position]
            if text == ";" or (text == "=" and not seen) or text == "}":
                return None
            if text == "{":
                closing = self.partner[position]
                return (position, closing if closing != NONE else len(self.texts) - 1) if seen else None
            if text in ("(", "["):
                closing = self.partner[position]
                if closing == NONE:
                    return None
                # What stands in parentheses directly behind __launch_bounds__ or __attribute__ is no parameter list;
                # that of a lambda stands behind __device__.
                before = self.text(position - 1)
                seen = seen or (text == "(" and (before in _DEVICE or not before.startswith("__")))
                position = closing
            position += 1
        return None

    @cached_property
    def declared(self) -> frozenset[str]:
        """Names that the program itself defines: macros, functions, types, variables, as far as tokens show it."""
        found = set()
        texts, kinds = self.texts, self.kinds
        for position, kind in enumerate(kinds):
            if kind != NAME or texts[position] in KEYWORDS:
                continue
            before = self.text(position - 1)
            if before == "define" and self.text(position - 2) == "#":
                found.add(texts[position])
                found.update(self._parameters(position))
            elif self.directive[position] == NONE and before:
                before_kind = kinds[position - 1]
                if before_kind == NAME and before not in _NOT_A_TYPE:
                    found.add(texts[position])
                elif before in ("*", "&", ">") and self.text(position + 1) in ("=", ";", ",", ")", "[", "("):
                    # T* name, T& name, A<B> name: a declaration if what stands before the sign is a type's name
                    owner = self.text(position - 2)
                    if (self.kind(position - 2) == NAME or owner in ("*", ">")) and self.statement[position] in (
                        position - 2,
                        position - 3,
                        position - 4,
                    ):
                        found.add(texts[position])
        return frozenset(found)

    def _parameters(self, position: int) -> list[str]:
        """The parameters of a macro, given where its name stands."""
        opening = position + 1
        if self.text(opening) != "(" or self.starts[opening] != self.end(position) or self.partner[opening] == NONE:
            return []
        return [self.texts[at] for at in range(opening + 1, self.partner[opening]) if self.kinds[at] == NAME]

    def arguments(self, opening: int) -> list[tuple[int, int]]:
        """First and last positions of the arguments of a call, given its "("; an empty one has last < first."""
        closing = self.partner[opening]
        if closing == NONE:
            return []
        return self.split(opening + 1, closing)

    def split(self, first: int, end: int) -> list[tuple[int, int]]:
        """The parts between commas from `first` up to, without, `end`; [] for nothing."""
        if first >= end:
            return []
        parts = []
        start = position = first
        while position < end:
            text = self.texts[position]
            if text in OPENERS and self.kinds[position] == SIGN and first <= self.partner[position] < end:
                position = self.partner[position]
            elif text == "<" and self.kinds[position - 1] == NAME:
                position = self.angle(position, end) or position
            elif text == "," and self.kinds[position] == SIGN:
                parts.append((start, position - 1))
                start = position + 1
            position += 1
        return [*parts, (start, end - 1)]

    def angle(self, position: int, end: int) -> int | None:
        """Where the template arguments that "<" at this position opens are closed, or None if it is a comparison.

        Taken for template arguments is what holds nothing but names, numbers, brackets, commas and * & :: and is
        followed by something that can follow them.
        """
        depth = 0
        limit = min(end, position + 200, len(self.texts))
        start = position
        while position < limit:
            text = self.texts[position]
            if text == "<":
                depth += 1
            elif text in (">", ">>", ">>>"):
                depth -= len(text)
                if depth <= 0:
                    following = self.text(position + 1)
                    fits = depth == 0 and (following in ("(", "::", "{", ",", ")", ">", ">>", ">>>", "<<<", ""))
                    return position if fits else None
            elif text in ("(", "["):
                if not start < self.partner[position] < limit:
                    return None
                position = self.partner[position]
            elif not self._in_template(position):
                return None
            position += 1
        return None

    def _in_template(self, position: int) -> bool:
        """Whether a token other than a bracket can stand among template arguments."""
        text, kind = self.texts[position], self.kinds[position]
        if kind == SIGN:
            return text in (",", "::", "*", "&", "&&", "...", "-", "+", "/", "%")
        return kind not in (HEADER, STRING) or text.startswith("'")
