import type { Action, Rule } from "@convoke/protocol";
import { expect, test } from "vitest";
import { decideByRules } from "./decide-by-rules.ts";
import { rulesFrom } from "./rule.ts";
import { decide, edit } from "./testing/deciding.ts";

const paths: readonly [pattern: string, path: string, fits: boolean][] = [
  ["infra/**", "/work/shop/infra/main.tf", true],
  ["infra/**", "infra/main.tf", true],
  ["infra/**", "/work/shop/infra", true],
  ["infra/**", "/work/shop/src/../infra/a/.env", true],
  ["infra/**", "/work/shop/infrastructure/x", false],
  ["infra/**", "/work/other/infra/x", false],
  ["**/.env", "/work/shop/a/b/.env", true],
  ["**/.env", "/work/shop/.env", true],
  ["*.md", "/work/shop/README.md", true],
  ["*.md", "/work/shop/docs/a.md", false],
  ["/etc/**", "/etc/passwd", true],
  ["~/.ssh/**", "/home/ada/.ssh/id", true],
  ["src/?.ts", "src/a.ts", true],
  ["src/?.ts", "src/ab.ts", false],
  ["infra/", "infra/a/b", true],
  ["./infra/**", "infra/x", true],
  ["../**", "/work/other/x", true],
  ["../**", "/work/shop/x", true],
  ["../**", "/etc/x", false],
  ["../other/*.md", "../other/a.md", true],
  ["~/.ssh/**", "~/.ssh/id", true],
  ["~", "~/", true],
  ["~/**", "/home/adam/x", false],
  ["**", "~/.ssh/id", false],
  ["~/../bob/**", "/home/bob/x", true],
];

test.each(paths)("the path %s fits %s: %s", (pattern, path, fits) => {
  const rule: Rule = { effect: "ask", tool: "file_editor", path: pattern };
  expect(decide([rule], edit(path), "file_editor")?.effect ?? null).toBe(fits ? "ask" : null);
});

test("a path below a home that is not known fits the same text", () => {
  const rule: Rule = { effect: "deny", tool: "grep", path: "~/.ssh/**" };
  const given = (path: string) => ({
    toolName: "grep",
    action: { kind: "GrepAction", pattern: "x", path } as Action,
    risk: "LOW" as const,
    places: { workingDir: "/work", home: null },
  });
  const effectOf = (path: string) => decideByRules(rulesFrom("user", [rule]), given(path)).decision?.effect;
  expect(effectOf("~/a/../.ssh")).toBe("deny");
  expect(effectOf("/work/.ssh")).toBeUndefined();
});

test("the name of the working folder is no pattern", () => {
  const rule: Rule = { effect: "allow", tool: "file_editor", path: "src/**" };
  const effectOf = (path: string) =>
    decideByRules(rulesFrom("user", [rule]), {
      toolName: "file_editor",
      action: edit(path),
      risk: "LOW",
      places: { workingDir: "/work/a*", home: null },
    }).decision?.effect;
  expect(effectOf("src/a.ts")).toBe("allow");
  expect(effectOf("/work/abc/src/a.ts")).toBeUndefined();
});

const otherTools: readonly [action: object, isDenied: boolean][] = [
  [{ kind: "ReadFileAction", file_path: "secrets/a" }, true],
  [{ kind: "ListDirectoryAction", dir_path: "secrets" }, true],
  [{ kind: "GlobAction", pattern: "/work/shop/secrets/*.pem" }, true],
  [{ kind: "GlobAction", pattern: "../shop/secrets/**" }, true],
  [{ kind: "GlobAction", pattern: "*.pem", path: "secrets" }, true],
  [{ kind: "GlobAction", pattern: "src/*.ts" }, false],
  [{ kind: "MCPToolAction", data: { file_path: "secrets/a" } }, true],
];

test.each(otherTools)("a path in %j is denied: %s", (action, isDenied) => {
  const rule: Rule = { effect: "deny", tool: "x", path: "secrets/**" };
  expect(decide([rule], action as Action, "x")?.effect ?? null).toBe(isDenied ? "deny" : null);
});

test("an allow with a path covers a patch only when it covers all its files; an ask needs one", () => {
  const patch =
    "*** Begin Patch\n*** Update File: src/a.ts\n@@\n-a\n+b\n*** Add File: infra/b.tf\n+x\n*** End Patch";
  const action = { kind: "ApplyPatchAction", patch } as unknown as Action;
  const rule = (effect: Rule["effect"], path: string): Rule => ({ effect, tool: "apply_patch", path });
  expect(decide([rule("allow", "src/**")], action, "apply_patch")).toBeNull();
  expect(decide([rule("allow", "**")], action, "apply_patch")?.effect).toBe("allow");
  expect(decide([rule("ask", "infra/**")], action, "apply_patch")?.effect).toBe("ask");
});
