import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { describeError } from "../lib/describe-error.ts";
import { createBubblewrapBackend } from "./bubblewrap.ts";
import { ContainerEngine } from "./container-engine.ts";
import { isRootlessOnVersionOne } from "./engine-facts.ts";
import { findBubblewrap, type BackendFinding } from "./find-bubblewrap.ts";
import { createProcessBackend } from "./process.ts";
import type { LocalBackendDeps } from "./local-backend-deps.ts";
import type { Account } from "./sandbox-directory.ts";
import type { SandboxBackend } from "./sandbox.ts";
import { DockerBackend } from "./docker.ts";

export type SandboxChoice = {
  /** All that work here, in the order in which leftovers must be removed. */
  readonly backends: readonly SandboxBackend[];
  /** Name of the one to use when nobody says: the best isolation that works here. */
  readonly preferred: string;
  /** What works here, and what is missing for the others. */
  readonly findings: readonly (BackendFinding & { readonly name: string })[];
  /** Null when no engine is to be used. */
  readonly engine: EngineFinding | null;
};

export type SandboxPlatform = LocalBackendDeps & {
  readonly self: Account;
  readonly unprivileged: Account;
  /** Null when no engine is to be used. */
  readonly containers: { readonly socketPath: string; readonly image: string } | null;
  /** What an earlier trial found or is about to find; tried here when it is left out. */
  readonly bubblewrap?: Promise<BackendFinding> | undefined;
};

/** Looks once, in milliseconds, at what this machine can do. */
export async function openSandboxBackends(platform: SandboxPlatform): Promise<SandboxChoice> {
  const { containers } = platform;
  const [bubblewrap, engine] = await Promise.all([
    platform.bubblewrap ?? findBubblewrap(platform),
    containers === null ? null : findContainerEngine(containers),
  ]);
  return {
    engine,
    backends: [
      // Without its image it still finds and removes what is left of earlier containers, and can fetch the image.
      ...(containers === null ? [] : [new DockerBackend({ ...platform, ...containers })]),
      ...(bubblewrap.isUsable ? [createBubblewrapBackend(platform)] : []),
      createProcessBackend(platform),
    ],
    preferred: bubblewrap.isUsable ? "bubblewrap" : "process",
    findings: [
      { name: "bubblewrap", ...bubblewrap },
      { name: "docker", ...(engine ?? { isUsable: false, detail: "no image is configured" }) },
      { name: "process", isUsable: true, detail: "works, and isolates nothing" },
    ],
  };
}

/** The same for every start over one data folder, different for every other folder and machine. */
export function installationIdOf(dataDir: string): string {
  return createHash("sha256").update(`${hostname()}\0${dataDir}`).digest("hex").slice(0, 12);
}

const probeMs = 5_000;

export type EngineFinding = BackendFinding & {
  /** An engine without control groups neither limits nor pauses its containers, whatever it is asked for. */
  readonly hasControlGroups: boolean;
  /** Names of the runtimes that containers can have; null when the engine did not answer. */
  readonly runtimes: readonly string[] | null;
};

/** Asks the engine what it can do and for the image. */
export async function findContainerEngine(place: {
  readonly socketPath: string;
  readonly image: string;
}): Promise<EngineFinding> {
  const engine = new ContainerEngine(place.socketPath);
  let hasControlGroups = true;
  let runtimes: readonly string[] | null = null;
  try {
    const { body } = await engine.call("GET", "/info", { signal: AbortSignal.timeout(probeMs) });
    hasControlGroups = !isRootlessOnVersionOne(body);
    runtimes = Object.keys((body as { readonly Runtimes?: object | null }).Runtimes ?? {}).toSorted();
    if (!(await isImageHere(place))) {
      return { isUsable: false, hasControlGroups, runtimes, detail: `the image ${place.image} is not here` };
    }
    const limits = hasControlGroups ? "" : ", without limits and pauses: they need control groups v2";
    return { isUsable: true, hasControlGroups, runtimes, detail: `works with ${place.image}${limits}` };
  } catch (error) {
    return { isUsable: false, hasControlGroups, runtimes, detail: describeError(error) };
  }
}

/** False for an image that the first start would have to fetch. Rejects with a SandboxError when the engine does not answer. */
export async function isImageHere(place: {
  readonly socketPath: string;
  readonly image: string;
}): Promise<boolean> {
  const engine = new ContainerEngine(place.socketPath);
  const { status } = await engine.call("GET", `/images/${encodeURIComponent(place.image)}/json`, {
    accepted: [404],
    signal: AbortSignal.timeout(probeMs),
  });
  return status !== 404;
}
