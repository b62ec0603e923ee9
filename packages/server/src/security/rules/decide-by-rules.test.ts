import type { Action, Rule, SecurityRisk } from "@convoke/protocol";
import { expect, test } from "vitest";
import { decideByRules } from "./decide-by-rules.ts";
import { rulesFrom, type AnyRule } from "./rule.ts";

const places = { workingDir: "/work/shop", home: "/home/ada" };

function decide(
  rules: readonly AnyRule[],
  action: Action,
  toolName = "terminal",
  risk: SecurityRisk = "LOW",
) {
  return decideByRules(rulesFrom("user", rules), { toolName, action, risk, places }).decision;
}

const run = (command: string, isInput = false): Action => ({
  kind: "TerminalAction",
  command,
  ...(isInput ? { is_input: true } : {}),
});

function shell(effect: Rule["effect"], ...command: string[]): Rule {
  return { effect, tool: "terminal", command };
}

const gitStatus = shell("allow", "git", "status", "**");
const npm = shell("allow", "npm", "test|run", "**");

const allows: readonly [command: string, rules: readonly AnyRule[], isAllowed: boolean][] = [
  ["git status", [gitStatus], true],
  ["git status -s src", [gitStatus], true],
  ["git  status   '-s'", [gitStatus], true],
  ["g\\it st'at'us", [gitStatus], true],
  ["git status\n", [gitStatus], true],
  ["git status # push", [gitStatus], true],
  ["git push", [gitStatus], false],
  ["git -c core.pager=x status", [gitStatus], false],
  ["/usr/bin/git status", [gitStatus], false],
  ["./git status", [gitStatus], false],
  ["npm run build", [npm], true],
  ["npm install", [npm], false],
  ["git status && npm test", [gitStatus], false],
  ["git status && npm test", [gitStatus, npm], true],
  ["if git status; then npm test; fi", [gitStatus, npm], true],
  ["for f in a b; do npm run $f; done", [npm], true],
  ["npm $what", [npm], false],
  ["npm test $(git status)", [npm, gitStatus], true],
  ["npm test $(git push)", [npm, gitStatus], false],
  ["timeout 60 nice npm test", [npm], true],
  ["env CI=1 npm test", [npm], true],
  ["CI=1 npm test", [npm], true],
  ["NODE_OPTIONS=--require=./x npm test", [npm], false],
  ["PATH=.:$PATH npm test", [npm], false],
  ["export PATH=.; npm test", [npm], false],
  ["export CI=1; npm test", [npm, shell("allow", "export", "**")], true],
  ["sudo npm test", [npm], false],
  ["sudo npm test", [npm, shell("allow", "sudo", "npm", "**")], true],
  ["bash -c 'npm test'", [npm], true],
  ["bash -c 'npm test; rm x'", [npm], false],
  ['bash -c "npm test $x"', [npm], false],
  ["bash script.sh", [npm], false],
  ["echo npm test | bash", [npm, shell("allow", "echo", "**"), shell("allow", "bash", "**")], false],
  ["./env npm test", [npm], false],
  ["echo src | xargs npm run", [npm, shell("allow", "echo", "**")], true],
  ["echo push | xargs git", [shell("allow", "git", "status"), shell("allow", "echo", "**")], false],
  ["find . -exec npm test \\;", [npm], false],
  ["find . -exec npm test \\;", [npm, shell("allow", "find", "**")], true],
  ["find $x", [shell("allow", "find", "**")], false],
  ["npm test > out.txt 2>&1", [npm], true],
  ["npm test > /dev/null", [npm], true],
  ["npm test > ../out.txt", [npm], false],
  ["npm test > /etc/passwd", [npm], false],
  ["npm test > ~/x", [npm], false],
  ["npm test > $file", [npm], false],
  ["npm test > .git/hooks/pre-commit", [npm], false],
  ["npm test > .convoke/rules.json", [npm], false],
  ["cd .. && npm test > x", [npm, shell("allow", "cd", "**")], false],
  ["cd web && npm test", [npm, shell("allow", "cd", "**")], true],
  ["npm test; source x", [npm, shell("allow", "source", "**")], false],
  ["npm() { rm x; }; npm test", [npm, shell("allow", "rm", "**")], false],
  ["npm test ${x@P}", [npm], false],
  ["npm test $((1 + 2))", [npm], true],
  ["npm test $((x))", [npm], false],
  ["npm test ${a[x]}", [npm], false],
  ["[[ $x -eq 1 ]] && npm test", [npm], false],
  ["test -v x && npm test", [npm, shell("allow", "test", "**")], false],
  ["npm test &&", [npm], false],
  ["npm test @(a|b)", [npm], false],
  ["npm\u00a0test", [npm], false],
  ["npm test \u202e", [npm], false],
  ["np\0m test", [npm], false],
  ["npm test\r", [npm], false],
  ["x=1", [npm], false],
  ["", [npm], false],
  ["anything; at $all", [{ effect: "allow", tool: "terminal" }], true],
  ["ls a", [shell("allow", "ls", "*")], true],
  ["ls a b", [shell("allow", "ls", "*")], false],
  ["ls $a", [shell("allow", "ls", "*")], false],
  ["ls $a", [shell("allow", "ls", "**")], true],
];

test.each(allows)("%j with %j is allowed: %s", (command, rules, isAllowed) => {
  expect(decide(rules, run(command))?.effect ?? null).toBe(isAllowed ? "allow" : null);
});

const push = shell("deny", "git", "push", "**");
const denials: readonly [command: string, rule: Rule, isDenied: boolean][] = [
  ["git push", push, true],
  ["git push origin main", push, true],
  ["git status", push, false],
  ["git -C sub push", push, true],
  ["git --no-pager -c a=b push", push, true],
  ["/usr/bin/git push", push, true],
  ["sudo -u x git push", push, true],
  ["ls && (git push)", push, true],
  ["bash -c 'git push'", push, true],
  ["git $what", push, true],
  ["$git push", push, true],
  ["git commit -m push", push, false],
  ["git log --grep push", push, false],
  ['eval "$x git push"', push, true],
  ["ssh host git push", push, true],
  ["git() { x; }; gi't' push", push, true],
  ["find . -execdir git push +", push, true],
  ["npm publish", shell("deny", "npm", "publish"), true],
  ["npm publish x", shell("deny", "npm", "publish"), false],
];

test.each(denials)("%j with %j is denied: %s", (command, rule, isDenied) => {
  expect(decide([rule], run(command))?.effect ?? null).toBe(isDenied ? "deny" : null);
});

test("deny comes before ask, ask before allow, whatever their sources are", () => {
  const rules = [gitStatus, shell("ask", "git", "**"), shell("deny", "git", "status", "--porcelain")];
  expect(decide(rules, run("git status"))).toMatchObject({ effect: "ask", index: 1 });
  expect(decide(rules, run("git status --porcelain"))).toMatchObject({ effect: "deny", index: 2 });
  expect(decide([gitStatus], run("git status"))).toEqual({
    effect: "allow",
    source: "user",
    index: 0,
    rule: gitStatus,
  });
});

test("HIGH, MEDIUM and unknown risks are covered only as far as the rule says", () => {
  const effect = (rule: Rule, risk: SecurityRisk) =>
    decide([rule], run("git status"), "terminal", risk)?.effect;
  expect(effect(gitStatus, "HIGH")).toBeUndefined();
  expect(effect({ ...gitStatus, up_to: "HIGH" }, "HIGH")).toBe("allow");
  expect(effect(gitStatus, "MEDIUM")).toBe("allow");
  expect(effect({ ...gitStatus, up_to: "LOW" }, "MEDIUM")).toBeUndefined();
  expect(effect({ ...gitStatus, up_to: "LOW" }, "UNKNOWN")).toBeUndefined();
  expect(effect({ ...gitStatus, up_to: "LOW" }, "LOW")).toBe("allow");
  expect(effect(gitStatus, "UNKNOWN")).toBe("allow");
  expect(effect(push, "LOW")).toBeUndefined();
});

test("what is typed into a running program is covered by no command, and denied by one", () => {
  expect(decide([gitStatus], run("git status", true))).toBeNull();
  expect(decide([push], run("git push", true))?.effect).toBe("deny");
});

test("a rule for terminal counts for named terminals, one for a named terminal only there", () => {
  const named: Action = { kind: "MCPToolAction", data: { terminal: "a", command: "git push" } };
  expect(decide([push], named, "terminal_run")?.effect).toBe("deny");
  expect(decide([{ ...push, tool: "terminal_run" }], run("git push"))).toBeNull();
});

test("an older rule stays valid beside new ones, and is returned as it was written", () => {
  const older: AnyRule = { tool_name: "terminal", arguments: { command: "git log*" } };
  expect(decide([older], run("git log -1"))).toMatchObject({ effect: "allow", rule: older });
  expect(decide([older, shell("deny", "git", "log", "**")], run("git log -1"))?.effect).toBe("deny");
});

const edit = (path: string): Action => ({ kind: "FileEditorAction", command: "view", path });
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

const hosts: readonly [pattern: string, host: string, fits: boolean][] = [
  ["*.corp.example", "git.corp.example", true],
  ["*.corp.example", "a.b.Corp.Example.", true],
  ["*.corp.example", "corp.example", false],
  ["*.corp.example", "evilcorp.example", false],
  ["corp.example", "corp.example:443", true],
  ["corp.example:443", "corp.example:8443", false],
  ["corp.example:443", "corp.example", false],
  ["*", "anything", true],
  ["*", "127.0.0.1:5432", false],
  ["*", "0x7f.1", false],
  ["*", "::1", false],
  ["*", "[fd00::1]:80", false],
  ["10.0.0.5", "10.0.0.5:80", true],
  ["[::1]:80", "[::1]:80", true],
  ["::1", "[0:0::1]:80", true],
  ["[2606:4700::1]", "2606:4700:0::1", true],
  ["bücher.example", "XN--bcher-kva.example.", true],
  ["*.bücher.example", "a.xn--bcher-kva.example", true],
  ["Corp.Example.:443", "corp.example:0443", true],
  ["corp.example:*", "corp.example:22", true],
  ["127.0.0.1", "127.1", true],
  ["corp.example", "https://corp.example/", false],
  ["*", "", false],
];

test.each(hosts)("the host %s fits %s: %s", (pattern, host, fits) => {
  const rule: Rule = { effect: "allow", tool: "request_network", host: pattern };
  const action: Action = { kind: "MCPToolAction", data: { host } };
  expect(decide([rule], action, "request_network")?.effect ?? null).toBe(fits ? "allow" : null);
});

const deniedHosts: readonly [pattern: string, host: string, isDenied: boolean][] = [
  ["127.0.0.1", "2130706433", true],
  ["10.0.0.5", "0x0a.0.0.5:80", true],
  ["::1", "[0:0:0::1]:80", true],
  ["bad.example", "BAD.example.", true],
  ["bad.example", "https://bad.example/x", true],
  ["xn--bcher-kva.example", "bücher.example", true],
  ["bad.example", "good.example", false],
  ["bad.example", "https://good.example/x", false],
  ["bad.example", "bad example", true],
];

test.each(deniedHosts)("the host %s, denied, is %s: %s", (pattern, host, isDenied) => {
  const rule: Rule = { effect: "deny", tool: "request_network", host: pattern };
  const action: Action = { kind: "MCPToolAction", data: { hosts: [host] } };
  expect(decide([rule], action, "request_network")?.effect ?? null).toBe(isDenied ? "deny" : null);
});

const calls: readonly [
  rules: [Rule["effect"], string][],
  hosts: string[],
  decision: Rule["effect"] | null,
][] = [
  [[["allow", "*.corp.example"]], ["a.corp.example", "b.corp.example"], "allow"],
  [[["allow", "*.corp.example"]], ["*.corp.example"], "allow"],
  [[["allow", "*.corp.example"]], ["a.corp.example", "evil.example"], null],
  [
    [
      ["allow", "a.example"],
      ["allow", "b.example"],
    ],
    ["a.example", "b.example:22"],
    "allow",
  ],
  [[["allow", "a.example"]], ["*.a.example"], null],
  [[["allow", "a.example"]], ["*"], null],
  [[["allow", "a.example:443"]], ["a.example:*"], null],
  [
    [
      ["allow", "*"],
      ["deny", "bad.example"],
    ],
    ["a.example", "bad.example"],
    "deny",
  ],
  [
    [
      ["allow", "*"],
      ["deny", "bad.corp.example"],
    ],
    ["*.corp.example"],
    "deny",
  ],
  [
    [
      ["allow", "*"],
      ["deny", "*.corp.example"],
    ],
    ["*"],
    "deny",
  ],
  [
    [
      ["allow", "*"],
      ["deny", "bad.example"],
    ],
    ["bad.example:*"],
    "deny",
  ],
  [
    [
      ["allow", "*"],
      ["deny", "bad.example:443"],
    ],
    ["bad.example"],
    "deny",
  ],
  [
    [
      ["allow", "*"],
      ["deny", "bad.example:443"],
    ],
    ["bad.example:22"],
    "allow",
  ],
  [
    [
      ["allow", "*"],
      ["ask", "*.example"],
    ],
    ["a.example", "b.test"],
    "ask",
  ],
  [[["allow", "*"]], [], null],
];

test.each(calls)("the rules %j say about a call for %j: %s", (given, hosts, decision) => {
  const rules = given.map(([effect, host]): Rule => ({ effect, tool: "request_network", host }));
  const action: Action = { kind: "MCPToolAction", data: { hosts, reason: "x" } };
  expect(decide(rules, action, "request_network")?.effect ?? null).toBe(decision);
});

test("a host rule does not fit a call without a host", () => {
  const rule = (effect: Rule["effect"]): Rule => ({ effect, tool: "request_network", host: "a.example" });
  const action: Action = { kind: "MCPToolAction", data: {} };
  expect(decide([rule("allow"), rule("deny")], action, "request_network")).toBeNull();
});

test("long commands and patterns of very many stars take no time", () => {
  const before = process.threadCpuUsage();
  const long = `echo ${"a ".repeat(14_000)}`;
  for (let times = 0; times < 5; times += 1) {
    decide([shell("deny", ...Array.from({ length: 63 }, () => "*"), "x")], run(long));
    decide(
      [{ effect: "ask", tool: "file_editor", path: "**/a/".repeat(100) }],
      edit("a/".repeat(1_000)),
      "file_editor",
    );
    decide([shell("allow", "echo", "**")], run("a".repeat(1_000_000)));
    decide([shell("allow", "echo", "**")], run("$(".repeat(14_000)));
  }
  expect(process.threadCpuUsage(before).user).toBeLessThan(4_000_000);
});
