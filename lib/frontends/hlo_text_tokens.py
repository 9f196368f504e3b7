"""Tokens of XLA's text format for HLO modules."""

import re
from typing import NamedTuple

TOKEN = re.compile(
    r"""
    (?P<skipped>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<string>"(?:\\.|[^"\\])*")
  | (?P<labels>[0-9a-z?]+_[0-9a-z?]+->[0-9a-z?]+)
  | (?P<arrow>->)
  | (?P<word>[%-]?\w(?:[\w.+]|-(?!>))*)
  | (?P<mark><=|.)
    """,
    re.VERBOSE | re.DOTALL,
)
"""Words are names, numbers and windows such as `0_1x0_1`; labels are those of a convolution's dimensions."""
BRACKETS = {"{": "}", "(": ")", "[": "]"}
END = ""
"""The text of what stands after the last token."""


class HloTextError(ValueError):
    """What is wrong with a text, and in which line."""

    def __init__(self, line: int, problem: str):
        super().__init__(f"line {line}: {problem}")
        self.line, self.problem = line, problem


class Token(NamedTuple):
    """A piece of the text."""

    text: str
    kind: str
    line: int
    """Counted from 1."""


class Tokens:
    """The tokens of a text, read from left to right. All methods raise HloTextError where something else stands."""

    def __init__(self, text: str):
        self._tokens: list[Token] = []
        line = 1
        for match in TOKEN.finditer(text):
            kind = match.lastgroup or ""
            if kind != "skipped":
                self._tokens.append(Token(match.group(), kind, line))
            line += match.group().count("\n")
        self._tokens.append(Token(END, "end", line))
        self._place = 0

    @property
    def next(self) -> Token:
        """The token that is read next."""
        return self._tokens[self._place]

    def after_next(self) -> str:
        """Text of the token after the next one."""
        return self._tokens[min(self._place + 1, len(self._tokens) - 1)].text

    def take(self) -> Token:
        """Read one token."""
        token = self.next
        if token.kind == "end":
            raise self.error("the text ends in the middle of the module")
        self._place += 1
        return token

    def accept(self, text: str) -> bool:
        """Read `text` if it comes next; whether it did."""
        if self.next.text != text:
            return False
        self._place += 1
        return True

    def expect(self, text: str) -> None:
        """Read `text`, which must come next."""
        if not self.accept(text):
            raise self.error(f"'{self.next.text}' where '{text}' must stand")

    def word(self, what: str) -> str:
        """Read a name or number, without its percent sign; `what` it is, for errors."""
        if self.next.kind != "word":
            raise self.error(f"'{self.next.text}' where {what} must stand")
        return self.take().text.removeprefix("%")

    def integer(self, what: str) -> int:
        """Read a whole number."""
        word = self.word(what)
        try:
            return int(word)
        except ValueError:
            raise self.error(f"'{word}' where {what} must stand") from None

    def integers(self) -> list[int]:
        """Read `{0,1}` or `0`."""
        if not self.accept("{"):
            return [self.integer("a number")]
        numbers = []
        while not self.accept("}"):
            numbers.append(self.integer("a number"))
            self.accept(",")
        return numbers

    def string(self) -> str:
        """Read text in quotation marks."""
        if self.next.kind != "string":
            raise self.error(f"'{self.next.text}' where text in quotation marks must stand")
        return re.sub(r"\\(.)", r"\1", self.take().text[1:-1])

    def skip_value(self) -> None:
        """Read one token, or all up to the bracket that closes the one that comes next."""
        closing = [BRACKETS.get(self.take().text)]
        while closing[-1] is not None:
            text = self.take().text
            if text == closing[-1]:
                closing.pop()
                if not closing:
                    return
            elif text in BRACKETS:
                closing.append(BRACKETS[text])

    def error(self, problem: str) -> HloTextError:
        """An error at the line of the next token."""
        return HloTextError(self.next.line, problem)
