import type { SandboxSpecEntry } from "@convoke/protocol";
import type { FleetTemplate } from "../app-conversations/fleet-sandboxes.ts";
import { ConfigError } from "../lib/config-error.ts";
import type { SandboxChoice } from "../sandboxes/open-sandbox.ts";
import type { SandboxConfig } from "./config-sandboxes.ts";
import type { SandboxSpecs } from "./read-sandbox-specs.ts";

/**
 * What sandboxes of the operator's specs are made from. Rejects with a {@link ConfigError} that names each spec that cannot work here. An
 * engine that does not answer keeps no server from starting: starts say so.
 */
export function specTemplates(
  specs: SandboxSpecs,
  choice: SandboxChoice,
  config: SandboxConfig,
  ports: Readonly<Record<string, string>>,
): [FleetTemplate, ...FleetTemplate[]] {
  const problems = specs.flatMap((spec, index) => {
    const problem = specProblem(spec, choice, config);
    return problem === null ? [] : [`\n  specs.${index}.${problem.field} (${spec.id}): ${problem.msg}`];
  });
  if (problems.length > 0) {
    throw new ConfigError(
      `Sandbox specs in ${config.specsFile} (CONVOKE_SANDBOX_SPECS) do not work here:${problems.join("")}`,
    );
  }
  const [first, ...rest] = specs;
  const toTemplate = (spec: SandboxSpecEntry): FleetTemplate => templateOf(spec, config, ports);
  return [{ ...toTemplate(first), warm: first.warm ?? config.warm }, ...rest.map(toTemplate)];
}

/** What a spec leaves out is that of the settings; without an id there is no spec, and the settings alone decide. */
export function templateOf(
  spec: Pick<SandboxSpecEntry, "backend"> & Partial<SandboxSpecEntry>,
  config: SandboxConfig,
  ports: Readonly<Record<string, string>>,
): FleetTemplate {
  const { id, backend, description, image = config.image, runtime, network, secrets, warm = 0 } = spec;
  const reached = network ?? config.network;
  return {
    backend,
    specId: id,
    description,
    environment: { ...ports, ...spec.environment },
    limits: {
      memoryMb: spec.memory_mb ?? config.memoryMb,
      cpus: spec.cpus ?? config.cpus,
      pids: spec.processes ?? config.pids,
      diskMb: spec.disk_mb ?? config.diskMb,
    },
    // A plain process always has the machine's network.
    network: backend !== "process" && reached === "none" ? "none" : "on",
    policy: network,
    image: backend === "docker" ? (image ?? undefined) : undefined,
    runtime,
    secretNames: secrets,
    warm,
  };
}

/** Why a spec cannot work on this machine, and what to do; null when it can, or when nobody knows. */
export function specProblem(
  { backend, runtime }: SandboxSpecEntry,
  { backends, engine, findings }: SandboxChoice,
  { use, engineSocket }: SandboxConfig,
): { readonly field: "backend" | "runtime"; readonly msg: string } | null {
  if (use !== "auto" && !use.includes(backend)) {
    const known = use.join(", ");
    return {
      field: "backend",
      msg: `CONVOKE_SANDBOX allows ${known} only. Use one of these, or set it to auto.`,
    };
  }
  if (!backends.some(({ name }) => name === backend)) {
    const why = findings.find(({ name }) => name === backend)?.detail ?? "it is not there";
    return {
      field: "backend",
      msg: `Sandboxes of ${backend} do not work here: ${why}. Use another backend.`,
    };
  }
  const runtimes = engine?.runtimes ?? null;
  if (runtime === undefined || runtimes === null || runtimes.includes(runtime)) return null;
  const get = runtime === "runsc" ? "Install gVisor (Debian: apt-get install runsc), then name" : "Name";
  const msg = `The container engine at ${engineSocket} has no runtime ${runtime}, only: ${runtimes.join(", ")}. ${get} it in "runtimes" of /etc/docker/daemon.json and reload the engine.`;
  return { field: "runtime", msg };
}
