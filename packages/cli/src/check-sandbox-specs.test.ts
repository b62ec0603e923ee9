import { readConfig } from "@convoke/server";
import type { SandboxChoice } from "@convoke/server/sandboxes";
import { expect, test } from "vitest";
import { checkSandboxSpecs } from "./check-sandbox-specs.ts";

const { sandbox: config } = readConfig({ CONVOKE_SANDBOX_ENGINE_SOCKET: "/nowhere/engine.sock" });
const strong = { id: "strong", backend: "docker", image: "a:1", runtime: "runsc" } as const;
const light = { id: "light", backend: "bubblewrap" } as const;

function choiceOf(runtimes: readonly string[] | null): SandboxChoice {
  return {
    backends: ["docker", "bubblewrap"].map((name) => ({ name }) as SandboxChoice["backends"][number]),
    preferred: "bubblewrap",
    findings: [],
    engine: { isUsable: runtimes !== null, hasControlGroups: true, runtimes, detail: "it does not answer" },
  };
}

test("each spec is a finding; one whose runtime is not there says how to get it", async () => {
  const [first, second] = await checkSandboxSpecs([light, strong], choiceOf(["runc"]), config);
  expect(first).toEqual({ name: "sandbox spec light", state: "ok", detail: "bubblewrap", fix: null });
  expect(second).toMatchObject({ name: "sandbox spec strong", state: "missing" });
  expect(second?.detail).toContain("no runtime runsc, only: runc. Install gVisor");
});

test("an engine that does not answer is the finding", async () => {
  expect(await checkSandboxSpecs([strong], choiceOf(null), config)).toEqual([
    { name: "sandbox spec strong", state: "missing", detail: "it does not answer", fix: null },
  ]);
});
