import type { Action, Rule } from "@convoke/protocol";
import { expect, test } from "vitest";
import { decide } from "./testing/deciding.ts";

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
