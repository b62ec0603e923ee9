import { expect, test } from "vitest";
import type { Summary } from "./summary.ts";
import { beginningOf, sectionsOf } from "./list-sections.ts";

const summary = (id: string, more: Partial<Summary> = {}): Summary => ({
  id,
  title: id,
  status: "finished",
  updatedAt: "2026-01-31T10:00:00Z",
  workingDir: "/home/ada/shop",
  model: null,
  cost: 0,
  parentId: null,
  tags: {},
  isPinned: false,
  isUnread: false,
  ...more,
});

const now = new Date("2026-01-31T12:00:00Z");
const shown = (summaries: readonly Summary[], filter = ""): unknown =>
  sectionsOf(summaries, filter, now).map(({ name, summaries: members }) => [
    name,
    ...members.map(({ id }) => id),
  ]);

test("what asks comes first, then what works, then the others by day", () => {
  const list = [
    summary("done"),
    summary("old", { updatedAt: "2025-12-01T10:00:00Z" }),
    summary("busy", { status: "running" }),
    summary("asking", { status: "waiting_for_confirmation" }),
  ];
  expect(shown(list)).toEqual([
    ["asks", "asking"],
    ["works", "busy"],
    ["today", "done"],
    ["older", "old"],
  ]);
});

test("what is pinned stands above the others until it asks", () => {
  const list = [
    summary("done"),
    summary("pinned", { isPinned: true, updatedAt: "2025-12-01T10:00:00Z" }),
    summary("busy", { status: "running" }),
    summary("pinned and busy", { status: "running", isPinned: true }),
    summary("pinned and asking", { status: "waiting_for_confirmation", isPinned: true }),
  ];
  expect(shown(list)).toEqual([
    ["asks", "pinned and asking"],
    ["pinned", "pinned", "pinned and busy"],
    ["works", "busy"],
    ["today", "done"],
  ]);
});

test("tasks of sub-agents are listed only while they ask", () => {
  const list = [
    summary("task", { parentId: "p", status: "running" }),
    summary("asking task", { parentId: "p", status: "waiting_for_confirmation" }),
  ];
  expect(shown(list)).toEqual([["asks", "asking task"]]);
});

test("every word of the filter is in the title or the folder", () => {
  const list = [summary("Fix the parser"), summary("Write docs")];
  expect(shown(list, "PARSER shop")).toEqual([["today", "Fix the parser"]]);
  expect(shown(list, "parser docs")).toEqual([]);
});

test("the beginning of a list ends within a section, or leaves some out", () => {
  const sections = sectionsOf(
    [
      summary("busy", { status: "running" }),
      summary("a"),
      summary("b"),
      summary("old", { updatedAt: "2025-12-01T10:00:00Z" }),
    ],
    "",
    now,
  );
  const ids = (count: number): unknown =>
    beginningOf(sections, count).map(({ name, summaries }) => [name, ...summaries.map(({ id }) => id)]);
  expect(ids(2)).toEqual([
    ["works", "busy"],
    ["today", "a"],
  ]);
  expect(ids(3)).toEqual([
    ["works", "busy"],
    ["today", "a", "b"],
  ]);
  expect(beginningOf(sections, 4)).toEqual(sections);
});
