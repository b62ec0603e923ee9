import { expect, test } from "vitest";
import { parseNetwork } from "./parse-network.ts";

test.each([
  ["none", "none"],
  ["registries", "registries"],
  ["all", "all"],
  ["api.example.com", { allow: ["api.example.com"] }],
  ["registries, *.corp.example:8443", { allow: ["*.corp.example:8443"], presets: ["registries"] }],
  ['{"allow": ["a.example"], "private": ["a.example"]}', { allow: ["a.example"], private: ["a.example"] }],
])("%s is a policy", (text, policy) => {
  expect(parseNetwork(text)).toEqual(policy);
});

test.each([
  ["", "none, registries, all, or hosts"],
  ["all,api.example.com", "none, registries, all, or hosts"],
  ["https://api.example.com", "allow"],
  ['{"alow": []}', "alow"],
  ["{", "no JSON"],
])("%s is refused in words", (text, reason) => {
  expect(() => parseNetwork(text)).toThrow(reason);
});
