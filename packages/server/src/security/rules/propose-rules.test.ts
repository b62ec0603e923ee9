import type { Action } from "@convoke/protocol";
import { expect, test } from "vitest";
import { decideByRules } from "./decide-by-rules.ts";
import { proposeRules } from "./propose-rules.ts";
import { rulesFrom, type RuledCall } from "./rule.ts";

const call = (action: Action, toolName = "terminal"): RuledCall => ({
  toolName,
  action,
  risk: "HIGH",
  places: { workingDir: "/work", home: null },
});

/** The words of the patterns that are proposed. */
const commands: readonly [string, string[][]][] = [
  ["git push origin main", [["git", "push", "**"]]],
  ["ls", [["ls"]]],
  ["ls $x", [["ls", "**"]]],
  ["npm test && npm test -- x", [["npm", "test", "**"]]],
  [
    "cd a && timeout 5 npm run b",
    [
      ["cd", "a", "**"],
      ["npm", "run", "**"],
    ],
  ],
  ["python3 -c 'print(1)'", [["python3", "-c", "print(1)"]]],
  [
    "sudo rm x",
    [
      ["sudo", "rm", "x"],
      ["rm", "x", "**"],
    ],
  ],
  ["grep 'a|b' c", [["grep", "**"]]],
  ["git -C dir push origin", [["git", "-C", "dir", "push", "**"]]],
  ["git --no-pager --git-dir=x log", [["git", "--no-pager", "--git-dir=x", "log", "**"]]],
  ["git -C dir", [["git", "-C", "dir"]]],
  ["git -c core.pager=x log", [["git", "-c", "core.pager=x", "log"]]],
  ["git --version", [["git", "--version"]]],
  ["npm --prefix x test -- y", [["npm", "--prefix", "x", "test", "**"]]],
  ["npm --unknown x test", [["npm", "--unknown", "x", "test"]]],
  ["rm -rf build", [["rm", "-rf", "build"]]],
  ["git -C $x push", []],
  ["git -C x $y", []],
  ["ls -la $x", []],
  ["grep -n 'a|b' c", []],
  [`rm -f ${"a ".repeat(200)}`.trim(), []],
  ["npm test -- --watch", [["npm", "test", "**"]]],
  ["python3 $x", []],
  ["$x", []],
  ['eval "$x"', []],
  ["a; b; c; d; e; f", []],
  ["x=1", []],
];

test.each(commands)("for %j: %j, which allow it", (command, patterns) => {
  const given = call({ kind: "TerminalAction", command });
  const rules = proposeRules(given);
  expect(rules.map((rule) => rule.command)).toEqual(patterns);
  expect(decideByRules(rulesFrom("user", rules), given).decision?.effect ?? null).toBe(
    patterns.length === 0 ? null : "allow",
  );
});

test("what is proposed for an option covers no other command behind it", () => {
  const rules = rulesFrom(
    "user",
    proposeRules(call({ kind: "TerminalAction", command: "git -C dir status" })),
  );
  const effectOf = (command: string) =>
    decideByRules(rules, call({ kind: "TerminalAction", command })).decision?.effect;
  expect(effectOf("git -C dir status -s")).toBe("allow");
  expect(effectOf("git -C dir push --force")).toBeUndefined();
  expect(effectOf("git -C other status")).toBeUndefined();
});

test("for hosts each of them, unless one cannot be written in a rule", () => {
  const ask = (...hosts: string[]): RuledCall =>
    call({ kind: "MCPToolAction", data: { hosts } }, "request_network");
  const rule = { effect: "allow", tool: "request_network", up_to: "HIGH" };
  const given = ask("a.example", "*.b.example:22");
  const rules = proposeRules(given);
  expect(rules).toEqual([
    { ...rule, host: "a.example" },
    { ...rule, host: "*.b.example:22" },
  ]);
  expect(decideByRules(rulesFrom("user", rules), given).decision?.effect).toBe("allow");
  expect(proposeRules(ask("a.example", "b.example/x"))).toEqual([]);
});

test("for a file its path below the working folder, for other tools the tool", () => {
  const edit = (path: string): Action => ({ kind: "FileEditorAction", command: "view", path });
  const rule = { effect: "allow", tool: "file_editor", up_to: "HIGH" };
  expect(proposeRules(call(edit("/work/a/b.ts"), "file_editor"))).toEqual([{ ...rule, path: "a/b.ts" }]);
  expect(proposeRules(call(edit("/etc/x"), "file_editor"))).toEqual([{ ...rule, path: "/etc/x" }]);
  expect(proposeRules(call(edit("a*"), "file_editor"))).toEqual([]);
  const mcp: Action = { kind: "MCPToolAction", data: { a: 1 } };
  expect(proposeRules(call(mcp, "tracker"))).toEqual([{ effect: "allow", tool: "tracker", up_to: "HIGH" }]);
});
