import { describe, expect, test } from "vitest";
import { readAnswer, type HookEnd } from "./hook-answer.ts";
import { openMatcher, parseHooks, type Hook } from "./hook-config.ts";

const hook: Hook = { type: "command", command: "x", timeout: 60, async: false, on_failure: "allow" };
const asked: Hook = { ...hook, type: "agent", prompt: "x", on_failure: "deny" };
const ended: HookEnd = { exitCode: 0, stdout: "", stderr: "", problem: null };

describe("a configuration", () => {
  test("is the same in both forms of names, with or without hooks around it", () => {
    const group = { matcher: "terminal", hooks: [{ command: "./guard.sh" }] };
    const plain = parseHooks({ pre_tool_use: [group] }, "request");
    expect(plain).toMatchObject({
      ok: true,
      settings: { pre_tool_use: [{ matcher: "terminal" }], stop: [] },
    });
    expect(parseHooks({ PreToolUse: [group] }, "request")).toEqual(plain);
    expect(parseHooks({ hooks: { PreToolUse: [group] } }, "request")).toEqual(plain);
  });

  test.each([
    ["an unknown moment", { before: [] }, ["before"]],
    ["a moment twice", { PreToolUse: [], pre_tool_use: [] }, ["pre_tool_use"]],
    ["no command", { stop: [{ hooks: [{}] }] }, ["stop", 0, "hooks", 0, "command"]],
    ["no question", { stop: [{ hooks: [{ type: "prompt" }] }] }, ["stop", 0, "hooks", 0, "prompt"]],
    [
      "no such type",
      { stop: [{ hooks: [{ type: "oracle", prompt: "x" }] }] },
      ["stop", 0, "hooks", 0, "type"],
    ],
    ["an agent without words", { stop: [{ hooks: [{ type: "agent" }] }] }, ["stop", 0, "hooks", 0, "prompt"]],
    [
      "an agent with tools",
      { stop: [{ hooks: [{ type: "agent", prompt: "x", tools: ["terminal"] }] }] },
      ["stop", 0, "hooks", 0, "tools"],
    ],
    ["a bad pattern", { stop: [{ matcher: "(" }] }, ["stop", 0, "matcher"]],
    ["security 1: an expression that looks ahead", { stop: [{ matcher: "(?=x)y" }] }, ["stop", 0, "matcher"]],
    [
      "security 1: more expressions than can be compiled in no time",
      { stop: Array.from({ length: 11 }, () => ({ matcher: "(a)".repeat(330) })) },
      ["stop", 10, "matcher"],
    ],
    ["no time", { stop: [{ hooks: [{ command: "x", timeout: 0 }] }] }, ["stop", 0, "hooks", 0, "timeout"]],
    [
      "a guard that nobody waits for",
      { stop: [{ hooks: [{ command: "x", async: true, on_failure: "deny" }] }] },
      ["stop", 0, "hooks", 0, "async"],
    ],
    ["a list", [], []],
  ])("with %s is refused where it is wrong", (_, given, loc) => {
    expect(parseHooks(given, "request")).toMatchObject({ ok: false, loc });
  });

  test.each([
    ["*", "terminal", true],
    ["", "terminal", true],
    ["terminal", "terminal", true],
    ["term", "terminal", false],
    ["terminal|file_editor", "file_editor", true],
    ["/file_.*/", "file_editor", true],
    ["file", "file_editor", false],
    ["file.*", "my_file_editor", false],
    ["^(?!terminal).*$", "terminal", true],
  ])("%j is for %s: %s", (matcher, tool, expected) => {
    expect(openMatcher(matcher)(tool)).toBe(expected);
  });
});

test("security 1: a matcher that would run for ever elsewhere is answered at once", () => {
  const matcher = `/${String.raw`(\w*)`.repeat(150)}!/`;
  expect(parseHooks({ pre_tool_use: [{ matcher, hooks: [{ command: "x" }] }] }, "request")).toMatchObject({
    ok: true,
  });
  expect(openMatcher(matcher)("file_editor")).toBe(false);
});

test("security 1: a matcher that was stored before it had to be linear still guards, every tool", () => {
  const stored = { pre_tool_use: [{ matcher: "(?!x)terminal", hooks: [{ command: "x" }] }] };
  expect(parseHooks(stored, "request")).toMatchObject({ ok: false });
  expect(parseHooks(stored, "stored")).toMatchObject({ ok: true });
  expect(openMatcher("(?!x)terminal")("file_editor")).toBe(true);
});

describe("an answer", () => {
  test.each<[string, Partial<HookEnd>, Partial<Hook>, boolean, string | null]>([
    ["nothing", {}, {}, false, null],
    ["exit code 2 with words", { exitCode: 2, stderr: "no curl\n" }, {}, true, "no curl"],
    ["a denial in JSON", { stdout: '{"decision":"deny","reason":"r"}' }, {}, true, "r"],
    [
      "a denial with context",
      { stdout: '{"decision":"deny","additionalContext":"c"}' },
      {},
      true,
      expect.any(String),
    ],
    ["continue: false", { stdout: '{"continue":false}' }, {}, true, expect.any(String)],
    ["allow, but exit code 2", { exitCode: 2, stdout: '{"decision":"allow"}' }, {}, true, expect.any(String)],
    ["the denial of other programs", { stdout: '{"decision":"block","reason":"r"}' }, {}, true, "r"],
    ["their approval", { stdout: '{"decision":"approve"}' }, {}, false, null],
    [
      "their permission",
      { stdout: '{"hookSpecificOutput":{"permissionDecision":"deny"}}' },
      {},
      true,
      expect.any(String),
    ],
    [
      "a permission that contradicts",
      { stdout: '{"decision":"allow","hookSpecificOutput":{"permissionDecision":"ask"}}' },
      {},
      true,
      expect.stringContaining("not known"),
    ],
    ["a decision that is not known", { stdout: '{"decision":"refuse"}' }, {}, true, expect.any(String)],
    ["a denial of another case", { stdout: '{"decision":"Deny"}' }, {}, true, expect.any(String)],
    ["continue that is no truth value", { stdout: '{"continue":"no"}' }, {}, true, expect.any(String)],
    [
      "a model's decision that is not known",
      { stdout: '{"decision":"maybe"}' },
      { type: "prompt" },
      false,
      null,
    ],
    ["another exit code", { exitCode: 1, stderr: "oops" }, {}, false, null],
    ["another exit code of a guard", { exitCode: 1, stderr: "oops" }, { on_failure: "deny" }, true, "oops"],
    ["no end", { exitCode: -1, problem: "late" }, {}, false, null],
    ["no end of a guard", { exitCode: -1, problem: "late" }, { on_failure: "deny" }, true, "late"],
    ["an unclear model", { stdout: "well" }, { type: "prompt" }, false, null],
    [
      "an unclear model as a guard",
      { stdout: "well" },
      { type: "prompt", on_failure: "deny" },
      true,
      expect.any(String),
    ],
  ])("W8: %s", (_, end, change, isBlocked, reason) => {
    const answer = readAnswer({ ...hook, ...change }, { ...ended, ...end });
    expect(answer).toMatchObject({ isBlocked, reason });
  });
});

test("security 20: an answer of many blanks is read at once, in a fence or not", () => {
  const blanks = " ".repeat(1_000_000);
  const before = process.threadCpuUsage();
  expect(readAnswer(hook, { ...ended, stdout: `{"decision":${blanks}"deny"}` }).isBlocked).toBe(true);
  expect(
    readAnswer(hook, { ...ended, stdout: `\`\`\`json${blanks}{"decision":"deny"}${blanks}\`\`\`` }).isBlocked,
  ).toBe(true);
  expect(readAnswer(hook, { ...ended, stdout: `x${blanks}x` }).isBlocked).toBe(false);
  expect(process.threadCpuUsage(before).user).toBeLessThan(1_000_000);
});

test("clients 1: an agent as a guard that says nothing that can be understood has failed", () => {
  expect(readAnswer(asked, { ...ended, stdout: "I like it." })).toMatchObject({ isBlocked: true });
  expect(readAnswer(asked, { ...ended, stdout: '{"decision":"allow"}' })).toMatchObject({ isBlocked: false });
});
