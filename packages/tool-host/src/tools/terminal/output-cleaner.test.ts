import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OutputCleaner } from "./output-cleaner.ts";

/** Text and replies for output that arrives in these chunks. */
function clean(...chunks: string[]): { readonly text: string; readonly replies: string } {
  let text = "";
  let replies = "";
  const cleaner = new OutputCleaner({
    onText: (part) => {
      text += part;
    },
    onReply: (part) => {
      replies += part;
    },
  });
  for (const chunk of chunks) cleaner.write(chunk);
  cleaner.flush(true);
  return { text, replies };
}

const cases: [string, string, string][] = [
  ["line ends", "a\r\nb\n", "a\nb\n"],
  ["carriage return overwrites", "10%\r20%\r\ndone", "20%\ndone"],
  ["a longer line keeps its end", "longer\rab\r\n", "abnger\n"],
  ["erase to the end of the line", "longer\rab\x1b[K\n", "ab\n"],
  ["erase the whole line", "longer\x1b[2K\rab\n", "ab\n"],
  ["backspace", "abc\b\bX\n", "aXc\n"],
  ["cursor right leaves blanks", "a\x1b[3Cb\n", "a   b\n"],
  ["column address", "abcdef\x1b[3GX\n", "abXdef\n"],
  ["delete and insert characters", "abcdef\r\x1b[2P\x1b[1@\n", " cdef\n"],
  ["colours stay", "\x1b[31mred\x1b[0m plain\n", "\x1b[31mred\x1b[0m plain\n"],
  ["idle colour resets go", "\x1b[m\x1b[39;49mplain\x1b[0m\n", "plain\n"],
  ["a coloured line is overwritten", "\x1b[31mabc\x1b[0m\rX\n", "\x1b[0mXbc\n"],
  ["bracketed paste and other modes go", "\x1b[?2004hx\x1b[?2004l\x1b[?25l\n", "x\n"],
  ["window titles go", "\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\n", "ab\n"],
  ["an unfinished title swallows nothing", "\x1b]0;oops\nnext\n", "0;oops\nnext\n"],
  ["NUL, BEL and other controls go", "a\x00b\x07c\x0e\n", "abc\n"],
  ["tabs stay", "a\tb\n", "a\tb\n"],
  ["clear starts a new line", "a\x1b[H\x1b[2Jb\n", "a\nb\n"],
  [
    "a redrawn block shows once it is redrawn",
    "1\n2\n\x1b[2A1!\n2!\n\x1b[2A1?\n2?\nend\n",
    "1\n2\n1?\n2?\nend\n",
  ],
  ["the whole screen leaves nothing", "a\n\x1b[?1049h\x1b[2Jscreen\x1b[?1049lb\n", "a\nb\n"],
  ["charset selection goes", "\x1b(Ba\x1b=\n", "a\n"],
];

describe("terminal output becomes text", () => {
  test.each(cases)("%s", (_name, output, text) => {
    expect(clean(output).text).toBe(text);
  });

  test("a sequence may arrive in any chunks", () => {
    for (const [, output] of cases) {
      const characters = output.split("");
      expect(clean(...characters).text).toBe(clean(output).text);
    }
  });

  test("queries to the terminal are answered and not shown", () => {
    expect(clean("ab\x1b[6n\x1b[c\x1b[>c\x1b[5n", "\n")).toEqual({
      text: "ab\n",
      replies: "\x1b[1;3R\x1b[?62;22c\x1b[>0;10;1c\x1b[0n",
    });
  });

  test("colour queries and terminal reports are removed without an answer", () => {
    expect(clean("\x1b]11;?\x07\x1bP$qm\x1b\\x\n")).toEqual({ text: "x\n", replies: "" });
  });

  test("plain text passes unchanged in any chunks", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom("a", "é", "\n", "\t", " ", "😀") })),
        (chunks) => {
          expect(clean(...chunks).text).toBe(chunks.join(""));
        },
      ),
    );
  });

  test("anything at all is survived, in bounded time", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string({
            unit: fc.constantFrom(
              "\x1b",
              "[",
              "]",
              "?",
              "1",
              "0",
              "4",
              "9",
              ";",
              "h",
              "l",
              "A",
              "H",
              "K",
              "P",
              "m",
              "\r",
              "\n",
              "\b",
              "x",
              "\x07",
            ),
          }),
        ),
        (chunks) => {
          // oxlint-disable-next-line no-control-regex -- control characters must be gone
          expect(clean(...chunks).text).not.toMatch(/[\x00-\x08\x0b-\x1a\x1c-\x1f]/);
        },
      ),
      { numRuns: 300 },
    );
  });
});
