import type { Action, Rule, SecurityRisk } from "@convoke/protocol";
import { expect, test } from "vitest";
import type { AnyRule } from "./rule.ts";
import { decide, edit, run, shell } from "./testing/deciding.ts";

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
