import { expect, test } from "vitest";
import { AnswerBound, type AnswerBoundOptions, type Excess } from "./answer-bound.ts";

const excessOf = (
  text: string,
  { size = 65_536, ...more }: Partial<AnswerBoundOptions> & { size?: number } = {},
): Excess | null => {
  const bound = new AnswerBound({ isStream: false, maxBytes: 32 * 1024 * 1024, ...more });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) {
    const excess = bound.push(bytes.subarray(at, at + size));
    if (excess !== null) return excess;
  }
  return bound.end();
};
const lists = (count: number): string => `[${"[],".repeat(count)}[]]`;

test("security 4: an answer of more values than anybody needs is stopped before it is parsed", () => {
  expect(excessOf(lists(300_000))).toBe("values");
  expect(excessOf(lists(199_000))).toBe(null);
  expect(excessOf(JSON.stringify({ text: ",[{".repeat(300_000) }))).toBe(null);
  expect(excessOf(JSON.stringify(Array(150_000).fill(1), null, 1))).toBe(null);
  expect(excessOf(JSON.stringify(Array(250_000).fill(1), null, 1))).toBe("values");
  // Empty lines end nothing in a document.
  expect(excessOf(`[${`${"1,".repeat(100_000)}\n\n`.repeat(3)}1]`)).toBe("values");
});

test("security 4: each event of a stream has the limits for itself, however its lines end and the bytes are cut", () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const event = `event: message${end}data: ${lists(90_000)}${end}${end}`;
    for (const size of [7, 65_536]) expect(excessOf(event.repeat(3), { isStream: true, size })).toBe(null);
    // One event of many lines; a quote in another field hides nothing.
    const line = `data: ${lists(90_000).slice(1)}${end}`;
    const long = `id: "${end}data: [${end}${line.repeat(3)}`;
    for (const size of [7, 65_536]) expect(excessOf(long, { isStream: true, size })).toBe("values");
    expect(excessOf(long, { isStream: true, maxBytes: 300_000 })).toBe("bytes");
  }
});

test("security 4: many empty lines cost no more than the time to read them", () => {
  const before = process.threadCpuUsage();
  expect(excessOf("\n".repeat(1_000_000), { isStream: true, size: 1_000_000 })).toBe(null);
  expect(process.threadCpuUsage(before).user).toBeLessThan(5_000_000);
});
