import { describe, expect, test } from "vitest";
import { CallTextSplitter, parseCalls } from "./parse-prompted-calls.ts";

describe("security 20: what a model writes is read in linear time", () => {
  const length = 2_000_000;
  const repeat = (part: string): string => part.repeat(Math.floor(length / part.length));

  test.each<[string, string]>([
    ["openings", repeat("<function=")],
    ["openings with names", repeat("<function=a>")],
    ["calls in calls", `${repeat("<tool_call>")}</tool_call>`],
    ["closings before the end of an argument", `<function=a>${repeat("</function>x")}</arg>`],
    ["closings of another kind", `${repeat("<call name=a><arg name=b>")}${repeat("</function>")}</arg>`],
    ["a name without an end", `<function=${"a".repeat(length)}`],
    ["blanks behind a call", `<call name="a"></call>${" ".repeat(length)}x`],
    ["blanks before calls", `${" ".repeat(length)}<call name="a"></call>`],
    ["arguments without an end", `<call name="a">${repeat("<arg name=b")}`],
    ["arguments", `<call name="a">${repeat('<arg name="b">')}`],
  ])("%s", (_, text) => {
    const before = process.threadCpuUsage();
    expect(parseCalls(text, []).calls.length).toBeGreaterThan(0);
    expect(process.threadCpuUsage(before).user).toBeLessThan(8_000_000);
  });

  test("blanks that come one after another are held back for a while only", () => {
    const splitter = new CallTextSplitter();
    let shown = "";
    const before = process.threadCpuUsage();
    for (let at = 0; at < 200_000; at += 1) shown += splitter.add(" ");
    shown += splitter.add("x") + splitter.end();
    expect(shown).toBe(`${" ".repeat(200_000)}x`);
    expect(process.threadCpuUsage(before).user).toBeLessThan(8_000_000);
  });
});

test("a call inside the words of an argument belongs to it, and the next one is its own", () => {
  const first = '<call name="a"><arg name="x"><call name="b"></call></arg></call>';
  expect(parseCalls(`Now. ${first}<function=c></function>`, [])).toEqual({
    before: "Now.",
    calls: [
      { name: "a", arguments: '{"x":"<call name=\\"b\\"></call>"}' },
      { name: "c", arguments: "{}" },
    ],
  });
});
