import { expect, test } from "vitest";
import { readSandboxConfig } from "./config-sandboxes.ts";

test.each([
  ["", "registries"],
  ["none", "none"],
  ["all", "all"],
  // The word of before there were policies.
  ["on", "all"],
  ["registries,api.example.com", { allow: ["api.example.com"], presets: ["registries"] }],
])("the network %j of sandboxes is their own, and that of walls unless it is set", (text, network) => {
  expect(readSandboxConfig({ CONVOKE_SANDBOX_NETWORK: text }, "registries").network).toEqual(network);
});

test("a network that cannot be read names the variable", () => {
  expect(() => readSandboxConfig({ CONVOKE_SANDBOX_NETWORK: "{" }, "none")).toThrow(
    "CONVOKE_SANDBOX_NETWORK: The network is no JSON",
  );
});
