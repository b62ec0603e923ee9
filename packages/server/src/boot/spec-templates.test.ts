import type { SandboxSpecEntry } from "@convoke/protocol";
import { expect, test } from "vitest";
import type { SandboxChoice } from "../sandboxes/open-sandbox.ts";
import type { SandboxBackend } from "../sandboxes/sandbox.ts";
import { readSandboxConfig } from "./config-sandboxes.ts";
import { specTemplates } from "./spec-templates.ts";

const environment = { CONVOKE_SANDBOX_SPECS: "/etc/specs.json", CONVOKE_SANDBOX_WARM: "2" };

function choiceOf(runtimes: readonly string[] | null, names = ["docker", "bubblewrap"]): SandboxChoice {
  return {
    backends: names.map((name) => ({ name }) as SandboxBackend),
    preferred: "bubblewrap",
    findings: [{ name: "bubblewrap", isUsable: false, detail: "not installed" }],
    engine: { isUsable: true, hasControlGroups: true, runtimes, detail: "" },
  };
}

function templatesOf(
  specs: [SandboxSpecEntry, ...SandboxSpecEntry[]],
  choice = choiceOf(["runc", "runsc"]),
  changes: Readonly<Record<string, string>> = {},
) {
  return specTemplates(specs, choice, readSandboxConfig({ ...environment, ...changes }, "none"), {
    WORKER_1: "8011",
  });
}

test("what a spec leaves out is as the server's settings say", () => {
  const templates = templatesOf([
    { id: "plain", backend: "bubblewrap" },
    {
      id: "full",
      backend: "docker",
      image: "a:1",
      runtime: "runsc",
      description: "Strong",
      memory_mb: 64,
      cpus: 0.5,
      processes: 32,
      disk_mb: 5,
      environment: { CI: "1" },
      network: { allow: ["a.example"] },
      secrets: ["A"],
      warm: 1,
    },
  ]);
  expect(templates).toEqual([
    {
      backend: "bubblewrap",
      specId: "plain",
      environment: { WORKER_1: "8011" },
      limits: { memoryMb: 2_048, cpus: 2, pids: 512, diskMb: 1_024 },
      network: "none",
      warm: 2,
    },
    {
      backend: "docker",
      specId: "full",
      description: "Strong",
      environment: { WORKER_1: "8011", CI: "1" },
      limits: { memoryMb: 64, cpus: 0.5, pids: 32, diskMb: 5 },
      network: "on",
      policy: { allow: ["a.example"] },
      image: "a:1",
      runtime: "runsc",
      secretNames: ["A"],
      warm: 1,
    },
  ]);
});

test("a spec that cannot work on this machine is named with the way out; an engine that does not answer keeps nothing from starting", () => {
  const strong = { id: "strong", backend: "docker", image: "a:1", runtime: "runsc" } as const;
  expect(() => templatesOf([strong], choiceOf(["runc"]))).toThrow(
    /\/etc\/specs\.json.*\n {2}specs\.0\.runtime \(strong\): .*no runtime runsc, only: runc\. Install gVisor/s,
  );
  expect(templatesOf([strong], choiceOf(null))).toMatchObject([{ runtime: "runsc" }]);
  const light = { id: "light", backend: "bubblewrap" } as const;
  expect(() => templatesOf([light], choiceOf([], ["docker"]))).toThrow(
    "specs.0.backend (light): Sandboxes of bubblewrap do not work here: not installed.",
  );
  expect(() => templatesOf([light], choiceOf([]), { CONVOKE_SANDBOX: "docker" })).toThrow(
    "specs.0.backend (light): CONVOKE_SANDBOX allows docker only.",
  );
});
