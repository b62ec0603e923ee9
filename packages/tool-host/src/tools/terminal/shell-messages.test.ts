import { expect, test } from "vitest";
import { ShellMessages, type CommandEnd } from "./shell-messages.ts";

const output =
  "prompt noise\x1b]7733;n1;begin\x07text \x1b]7733;other;end\x1f9\x1f9\x1f\x1f/\x07 \x1b[31m\x1b]7733;n1;end\x1f3\x1f42\x1f/py\x1f/w d\x07late";

/** The result when `output` arrives in chunks of `size`. */
function read(size: number) {
  const seen = { begins: 0, text: "", ends: [] as CommandEnd[] };
  const messages = new ShellMessages({
    onBegin: () => (seen.begins += 1),
    onText: (text) => {
      seen.text += text;
    },
    onEnd: (end) => seen.ends.push(end),
  });
  messages.expect("n1");
  for (let at = 0; at < output.length; at += size) messages.push(output.slice(at, at + size));
  return seen;
}

test("only reports with the right nonce count, in chunks of any size", () => {
  for (let size = 1; size <= output.length; size += 1) {
    expect(read(size)).toEqual({
      begins: 1,
      text: "text \x1b]7733;other;end\x1f9\x1f9\x1f\x1f/\x07 \x1b[31m",
      ends: [
        { exitCode: 3, backgroundPid: 42, pythonPath: "/py", workingDir: "/w d", isInterruptTrapped: false },
      ],
    });
  }
});
