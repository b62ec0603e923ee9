import { expect, test } from "vitest";
import { type EgressPolicies, EgressPolicy } from "./egress-policy.ts";
import { toTarget } from "../../lib/host-name.ts";
import { parseHostPattern } from "../../lib/host-pattern.ts";
import { presetHosts } from "./presets.ts";

const decide = (policies: Partial<EgressPolicies>, target: string) =>
  new EgressPolicy({ policy: "none", limitedBy: [], ...policies }).decide(toTarget(target)!);

test("every host of a preset is a pattern, and listed once", () => {
  for (const hosts of Object.values(presetHosts)) {
    expect(
      hosts.map((host) => parseHostPattern(host, "web")).filter((read) => typeof read === "string"),
    ).toEqual([]);
    expect(new Set(hosts).size).toBe(hosts.length);
  }
  const policy = new EgressPolicy({ policy: "registries", limitedBy: [] });
  const covered = ["registry.npmjs.org", "pypi.org", "index.crates.io", "proxy.golang.org", "rubygems.org"];
  const more = [
    "repo.maven.apache.org",
    "deb.debian.org",
    "de.archive.ubuntu.com",
    "github.com",
    "gitlab.com",
  ];
  for (const host of [...covered, ...more]) {
    expect(policy.decide({ host, port: 443 })).toMatchObject({ isAllowed: true, isReadOnly: true });
  }
});

test("none allows nothing, all allows every port", () => {
  expect(decide({}, "a.example:443")).toEqual({
    isAllowed: false,
    reason: "no-rule",
    source: "conversation",
    rule: null,
  });
  expect(decide({ policy: "all" }, "a.example:22")).toEqual({
    isAllowed: true,
    rule: "all",
    isReadOnly: false,
    mayBePrivate: false,
  });
});

test("only what all policies allow passes, and each may deny", () => {
  const limitedBy: EgressPolicies["limitedBy"] = [
    { source: "server", policy: { allow: ["*.example.com"] } },
    { source: "user", policy: { allow: ["*"], deny: ["secret.example.com"] } },
  ];
  expect(decide({ policy: "all", limitedBy }, "a.example.com:443")).toMatchObject({ isAllowed: true });
  expect(decide({ policy: "all", limitedBy }, "a.example.org:443")).toMatchObject({
    reason: "no-rule",
    source: "server",
  });
  expect(decide({ policy: "none", limitedBy }, "a.example.com:443")).toMatchObject({
    source: "conversation",
  });
  expect(decide({ policy: "all", limitedBy }, "secret.example.com:443")).toEqual({
    isAllowed: false,
    reason: "denied",
    source: "user",
    rule: "secret.example.com",
  });
});

test("a deny rule without a port counts for every port", () => {
  const policy = { allow: ["*:*"], deny: ["a.example"] };
  expect(decide({ policy }, "a.example:9999")).toMatchObject({ reason: "denied" });
});

test("a host is read-only when one of the policies says so, and no longer when the conversation's allows it whole", () => {
  const own = { presets: ["registries" as const], allow: ["github.com"] };
  expect(decide({ policy: own }, "github.com:443")).toMatchObject({ isReadOnly: false, rule: "github.com" });
  expect(decide({ policy: own }, "pypi.org:443")).toMatchObject({ isReadOnly: true, rule: "registries" });
  expect(decide({ policy: { read_only: ["a.example"] } }, "a.example:443")).toMatchObject({
    isReadOnly: true,
  });
  const limitedBy = [{ source: "server", policy: "registries" }] as const;
  expect(decide({ policy: "all", limitedBy }, "pypi.org:443")).toMatchObject({ isReadOnly: true });
});

test("without interception, hosts of a preset are not read-only; those of read_only are", () => {
  const policy = { presets: ["registries" as const], read_only: ["a.example"], intercept: false };
  expect(decide({ policy }, "pypi.org:443")).toMatchObject({ isReadOnly: false });
  expect(decide({ policy }, "a.example:443")).toMatchObject({ isReadOnly: true });
});

test("a grant makes a read-only host whole, within the other policies", () => {
  const policy = new EgressPolicy({ policy: "registries", limitedBy: [] });
  policy.grant(["pypi.org"]);
  policy.grant(["pypi.org"]);
  expect(policy.decide({ host: "pypi.org", port: 443 })).toMatchObject({
    isReadOnly: false,
    rule: "granted: pypi.org",
  });
  policy.revoke(["files.pythonhosted.org"]);
  expect(policy.decide({ host: "pypi.org", port: 443 })).toMatchObject({ isReadOnly: false });
  policy.revoke(["pypi.org"]);
  expect(policy.decide({ host: "pypi.org", port: 443 })).toMatchObject({ isReadOnly: true });
});

test("registries of a person's settings are read like those of the preset", () => {
  const registries = ["npm.corp.example:8443"];
  expect(decide({ policy: "registries", registries }, "npm.corp.example:8443")).toMatchObject({
    isReadOnly: true,
  });
  expect(decide({ policy: { allow: [] }, registries }, "npm.corp.example:8443")).toMatchObject({
    isAllowed: false,
  });
});

test("registries of a person may be on a private network, and other hosts when listed, also for reading only", () => {
  const registries = ["npm.corp.example"];
  const limitedBy: EgressPolicies["limitedBy"] = [{ source: "server", policy: "all" }];
  const own = { policy: "registries", registries, limitedBy } as const;
  expect(decide(own, "npm.corp.example:443")).toMatchObject({ isReadOnly: true, mayBePrivate: true });
  expect(decide(own, "pypi.org:443")).toMatchObject({ mayBePrivate: false });
  const policy = { private: ["nas.example", "docs.example"], read_only: ["docs.example"] };
  expect(decide({ policy }, "nas.example:443")).toMatchObject({ isReadOnly: false, mayBePrivate: true });
  expect(decide({ policy }, "docs.example:443")).toMatchObject({ isReadOnly: true, mayBePrivate: true });
});

test("a policy that cannot be read changes nothing, and names whose it is", () => {
  const policy = new EgressPolicy({ policy: "all", limitedBy: [] });
  const limitedBy: EgressPolicies["limitedBy"] = [{ source: "user", policy: { read_only: ["x:y"] } }];
  expect(() => policy.set({ policy: "none", limitedBy })).toThrow("user.network.read_only.0: Write a host");
  expect(policy.decide({ host: "a.example", port: 443 }).isAllowed).toBe(true);
});
