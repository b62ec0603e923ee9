import { setTimeout as sleep } from "node:timers/promises";
import type { ContainerEngine } from "./container-engine.ts";
import { labels } from "./docker-container.ts";
import { SandboxError } from "./sandbox.ts";

export type ContainerRemoval = {
  readonly engine: ContainerEngine;
  readonly installationId: string;
  readonly sandboxId: string;
  readonly name: string;
  readonly deadlineMs?: number;
};

/**
 * Removes a container; resolves when the engine neither finds nor lists it, at once when there is none. An engine lists a
 * container that is still being created (for a server that was killed meanwhile) before it finds it by name, so its "no such
 * container" alone proves nothing. Rejects with {@link SandboxError} at the deadline.
 */
export async function removeContainer(removal: ContainerRemoval): Promise<void> {
  const { engine, name, deadlineMs = 30_000 } = removal;
  const startedAtMs = performance.now();
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 2, 500)) {
    // 409: somebody else is removing it.
    const { status } = await engine.call("DELETE", `/containers/${name}?force=1&v=1`, {
      accepted: [404, 409],
    });
    if (status < 300) return;
    const states = await listStates(removal);
    if (status === 404 && states.length === 0) return;
    if (performance.now() - startedAtMs > deadlineMs) {
      throw new SandboxError(
        `The container ${name} could not be removed in ${deadlineMs / 1_000} seconds: the engine has it as ${states.join(", ") || "being removed"}. Look at it with "docker ps -a", and restart the engine if it stays.`,
      );
    }
    await sleep(pauseMs);
  }
}

/** Containers, running or not, that have every label of `wanted` (`name=value`). */
export async function listContainers(
  engine: ContainerEngine,
  wanted: readonly string[],
): Promise<readonly ListedContainer[]> {
  const filters = encodeURIComponent(JSON.stringify({ label: wanted }));
  const { body } = await engine.call("GET", `/containers/json?all=1&filters=${filters}`);
  return body as ListedContainer[];
}

type ListedContainer = {
  readonly Id: string;
  readonly State: string;
  readonly Labels: Readonly<Record<string, string>>;
};

async function listStates({ engine, installationId, sandboxId }: ContainerRemoval): Promise<string[]> {
  const wanted = [`${labels.installation}=${installationId}`, `${labels.sandbox}=${sandboxId}`];
  return (await listContainers(engine, wanted)).map(({ State }) => State);
}
