import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeEvents, type ServerSentEvent } from "./sse.ts";

async function* chunksOf(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let start = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    yield bytes.subarray(start, cut);
    start = cut;
  }
  yield bytes.subarray(start);
}

async function decode(text: string, cuts: readonly number[] = []): Promise<ServerSentEvent[]> {
  const events: ServerSentEvent[] = [];
  for await (const event of decodeEvents(chunksOf(Buffer.from(text, "utf8"), cuts))) events.push(event);
  return events;
}

const sample =
  '\uFEFF: comment\r\nevent: one\r\ndata: {"a":"ü漢🧪"}\r\n\r\ndata:x\ndata: y\n\n\n\revent: two\rdata\rid: 7\r\rdata: open';
const expected = [
  { event: "one", data: '{"a":"ü漢🧪"}' },
  { event: "", data: "x\ny" },
  { event: "two", data: "" },
  { event: "", data: "open" },
];

describe("server-sent events", () => {
  test("line ends, comments, fields and an unfinished event", async () => {
    expect(await decode(sample)).toEqual(expected);
  });

  test("every single byte boundary gives the same events", async () => {
    const length = Buffer.byteLength(sample);
    for (let cut = 0; cut <= length; cut += 1) expect(await decode(sample, [cut])).toEqual(expected);
    expect(
      await decode(
        sample,
        Array.from({ length }, (_, at) => at),
      ),
    ).toEqual(expected);
  });

  test("any cuts give the same events", async () => {
    const cut = fc.nat(Buffer.byteLength(sample));
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { maxLength: 12 }), async (cuts) => {
        expect(await decode(sample, cuts)).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  test("a line of 8 MB in small pieces takes linear time", async () => {
    const text = `data: ${"x".repeat(8_000_000)}\n\n`;
    const cuts = Array.from({ length: 39_999 }, (_, at) => (at + 1) * 200);
    const [event] = await decode(text, cuts);
    expect(event?.data.length).toBe(8_000_000);
  });

  test.each([
    ["line feeds, then a carriage return", `${"\n".repeat(4_000_000)}\rdata: x`],
    ["carriage returns, then a line feed", `${"\r".repeat(4_000_000)}\ndata: x`],
  ])("4 million %s in one chunk take linear time", async (_name, text) => {
    expect(await decode(text)).toEqual([{ event: "", data: "x" }]);
  });
});
