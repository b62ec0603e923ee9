import { expect, test } from "vitest";
import type { BoundSecret } from "../egress.ts";
import { withBoundHosts } from "./bound-hosts.ts";

const secret: BoundSecret = {
  name: "TOKEN",
  placeholder: "cvk_TOKEN_0123456789abcdefghijklmn",
  value: "value-of-the-token",
  hosts: ["api.example.com", "not a host"],
  as: ["header"],
};

test("the hosts of secrets can be read, beside what the policy allows", () => {
  expect(withBoundHosts("registries", [secret, secret])).toEqual({
    presets: ["registries"],
    read_only: ["api.example.com"],
  });
  expect(withBoundHosts({ allow: ["a.example"], read_only: ["b.example"] }, [secret])).toEqual({
    allow: ["a.example"],
    read_only: ["b.example", "api.example.com"],
  });
});

test("a closed network stays closed, an open one open, and without secrets nothing changes", () => {
  expect(withBoundHosts("none", [secret])).toBe("none");
  expect(withBoundHosts("all", [secret])).toBe("all");
  const rules = { allow: ["a.example"] };
  expect(withBoundHosts(rules, [])).toBe(rules);
});
