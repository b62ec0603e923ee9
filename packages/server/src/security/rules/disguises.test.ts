import type { Rule } from "@convoke/protocol";
import { expect, test } from "vitest";
import { disguises, hostileCommands } from "../../testing/disguised-commands.ts";
import { decideByRules } from "./decide-by-rules.ts";
import { rulesFrom } from "./rule.ts";

const words = (...command: string[]): Rule => ({ effect: "allow", tool: "terminal", command });

const rules = rulesFrom("user", [
  words("git", "status", "**"),
  ...["echo", "cat", "true", "cd", "ls", "find", "break", "git"].map((program) => words(program, "**")),
]);

const decide = (command: string): string | null => {
  const action = { kind: "TerminalAction", command } as const;
  const places = { workingDir: "/work", home: null };
  return decideByRules(rules, { toolName: "terminal", action, risk: "LOW", places }).decision?.effect ?? null;
};

test("no allow covers one of 2,000 disguises of 40 commands", () => {
  const texts = disguises.flatMap((disguise) => hostileCommands.map((hostile) => disguise(hostile)));
  expect(texts.length).toBeGreaterThanOrEqual(2_000);
  expect(texts.filter((text) => decide(text) !== null)).toEqual([]);
});

test("the same disguises of a program that is allowed are covered where they can be read", () => {
  const covered = disguises.filter((disguise) => decide(disguise("ls -l")) === "allow");
  expect(covered.length).toBeGreaterThan(disguises.length * 0.6);
});

test("a deny fits every disguise of its command that names it", () => {
  const denied = rulesFrom("server", [{ effect: "deny", tool: "terminal", command: ["rm", "**"] }]);
  const passed = disguises
    .map((disguise) => disguise("rm -rf build"))
    .filter((command) => {
      const call = {
        toolName: "terminal",
        action: { kind: "TerminalAction", command },
        risk: "LOW",
      } as const;
      return (
        decideByRules(denied, { ...call, places: { workingDir: "/work", home: null } }).decision === null
      );
    });
  expect(passed).toEqual([]);
});
