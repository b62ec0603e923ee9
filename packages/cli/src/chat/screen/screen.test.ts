import fc from "fast-check";
import { expect, test } from "vitest";
import { HeadlessTerminal } from "../testing/headless-terminal.ts";
import { Screen, type Size } from "./screen.ts";
import { widthOf } from "./text-width.ts";

/** A screen whose writes go to a terminal in memory, one after the other. */
function openScreen(size: Size) {
  const terminal = new HeadlessTerminal(size);
  const writes: string[] = [];
  const screen = new Screen((text) => writes.push(text), size);
  let played = 0;
  return {
    screen,
    terminal,
    writes,
    draw: async (): Promise<void> => {
      screen.frame();
      for (; played < writes.length; played += 1) await terminal.write(writes[played]!);
    },
    resize: (to: Size): void => {
      terminal.resize(to.columns, to.rows);
      screen.resize(to);
    },
  };
}

const composer = (...lines: string[]) => ({
  lines,
  cursor: { line: lines.length - 1, column: lines.at(-1)!.length },
});

test("what is finished is written once and raw: long lines are one line for who copies them, without breaks or padding", async () => {
  const { screen, terminal, writes, draw } = openScreen({ columns: 20, rows: 6 });
  const long = "one long line that the terminal wraps by itself";
  screen.commit(long);
  screen.setArea(composer("status", "> "));
  await draw();
  expect(terminal.lines()).toEqual([long, "status", "> "]);
  expect(writes.join("")).toContain(`${long}\r\n`);
});

test("the area is never as high as the window, and no line of it as wide", async () => {
  const { screen, terminal, draw } = openScreen({ columns: 20, rows: 6 });
  screen.commit("finished");
  const lines = Array.from({ length: 9 }, (_, index) => `${index} ${"日本".repeat(12)}`);
  screen.setArea({ lines: [...lines, "> "], cursor: { line: 9, column: 2 } });
  await draw();
  const window = terminal.window().split("\n");
  expect(window).toHaveLength(6);
  expect(window[0]).toBe("finished");
  for (const line of window) expect(widthOf(line)).toBeLessThan(20);
  expect(terminal.beforeCursor()).toBe("> ");
});

test("tabs of an area take the room that they are counted for, so that nothing of it stays behind", async () => {
  const { screen, terminal, draw } = openScreen({ columns: 40, rows: 10 });
  for (const number of [1, 2, 3]) {
    screen.setArea(composer(`\t\t\t\t\t\t\tlong ${number}`, `a\tb ${number}`, "> "));
    await draw();
  }
  screen.commit("finished");
  screen.setArea(composer("> "));
  await draw();
  expect(terminal.lines()).toEqual(["finished", "> "]);
});

test("a frame is one write inside synchronised output, and none when nothing has changed", async () => {
  const { screen, writes, draw } = openScreen({ columns: 40, rows: 10 });
  screen.setArea(composer("working", "> a"));
  await draw();
  await draw();
  screen.setArea(composer("working", "> a"));
  await draw();
  expect(writes).toHaveLength(1);
  screen.setArea(composer("working", "> ab"));
  await draw();
  expect(writes).toHaveLength(2);
  for (const write of writes) {
    expect(write.startsWith("\u001b[?2026h")).toBe(true);
    expect(write.endsWith("\u001b[?2026l")).toBe(true);
  }
  // Only the line that changed, and neither a region that scrolls nor the other screen.
  expect(writes[1]).not.toContain("working");
  // oxlint-disable-next-line no-control-regex -- sequences that are not used
  expect(writes.join("")).not.toMatch(/\u001b\[\d*;?\d*r|\u001b\[\?1049|\u001b\[[23]J/);
});

test("the cursor stands in the composer, also beside wide letters and with lines below it", async () => {
  const { screen, terminal, draw } = openScreen({ columns: 40, rows: 10 });
  screen.setArea({ lines: ["asks", "> 日本", "model"], cursor: { line: 1, column: 6 } });
  await draw();
  expect(terminal.beforeCursor()).toBe("> 日本");
  screen.setArea({ lines: ["asks", "> 日本", "model", "more"], cursor: { line: 1, column: 4 } });
  screen.commit("done");
  await draw();
  expect(terminal.beforeCursor()).toBe("> 日");
  expect(terminal.lines()).toEqual(["done", "asks", "> 日本", "model", "more"]);
});

test("a program that has the terminal meanwhile finds no area, and gets it back below its output", async () => {
  const { screen, terminal, writes, draw } = openScreen({ columns: 40, rows: 10 });
  screen.commit("finished");
  screen.setArea(composer("status", "> typed"));
  await draw();
  screen.clearArea();
  await terminal.write(writes.at(-1)!);
  expect(terminal.lines()).toEqual(["finished"]);
  await terminal.write("pager\r\n");
  const count = writes.length;
  screen.frame();
  await terminal.write(writes[count]!);
  expect(terminal.lines()).toEqual(["finished", "pager", "status", "> typed"]);
});

/** Without the cells that are left free before a wide letter at the edge. */
const close = (line: string): string => line.replaceAll(" ", "");
/** Terminals differ about how wide a family is, so only finished lines have one. */
const word = fc.constantFrom(
  "a",
  "line",
  "日本語",
  "👩‍👩‍👧",
  "é",
  "a much longer part of a line",
  "\u001b[31mred\u001b[39m",
);
const narrow = word.filter((one) => !one.includes("👩"));
const textOf = (words: typeof word) =>
  fc.array(words, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(" "));
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      commit: fc.array(textOf(word), { maxLength: 4 }),
      area: fc.array(textOf(narrow), { maxLength: 8 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      columns: fc.integer({ min: 12, max: 120 }),
      rows: fc.integer({ min: 4, max: 40 }),
    }),
  },
);

test("over any feed and any resizes each finished line is there once, whole and in order, and the area is last", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const { screen, terminal, draw, resize } = openScreen({ columns: 80, rows: 24 });
      const finished: string[] = [];
      let number = 0;
      for (const one of steps) {
        if ("columns" in one) resize(one);
        else {
          for (const line of one.commit) {
            const whole = `#${(number += 1)} ${line} .`;
            screen.commit(whole);
            // oxlint-disable-next-line no-control-regex -- colours take no cells
            finished.push(whole.replaceAll(/\u001b\[\d+m/g, ""));
          }
          const lines = [...one.area.map((line) => `~ ${line}`), "> composer"];
          screen.setArea({ lines, cursor: { line: lines.length - 1, column: 4 } });
        }
        await draw();
      }
      const shown = terminal.lines();
      expect(shown.filter((line) => line.startsWith("#")).map(close)).toEqual(finished.map(close));
      if (steps.some((one) => "commit" in one)) expect(terminal.beforeCursor()).toBe("> co");
    }),
    { numRuns: 60 },
  );
});
