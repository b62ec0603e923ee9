import { describeError } from "../lib/describe-error.ts";
import type { Logger } from "../lib/logger.ts";
import { ContainerEngine } from "../sandboxes/container-engine.ts";
import { findContainerEngine } from "../sandboxes/open-sandbox.ts";
import { listContainers } from "../sandboxes/remove-container.ts";
import { isProcessAlive, processName } from "./home-uses.ts";
import type { NoWall } from "./no-wall.ts";

export type WallContainersDeps = {
  /** Socket of Docker or Podman on this machine. */
  readonly socketPath: string;
  /** Whose system shows inside; null when none is configured. */
  readonly image: string | null;
  readonly installationId: string;
  readonly logger: Logger;
};

const label = { installation: "convoke.wall.installation", process: "convoke.wall.process" } as const;

/** Containers as walls of one server process. */
export class WallContainers {
  readonly engine: ContainerEngine;
  readonly image: string;
  readonly #deps: WallContainersDeps;
  #checked: Promise<NoWall | null> | null = null;

  constructor(deps: WallContainersDeps) {
    this.#deps = deps;
    this.engine = new ContainerEngine(deps.socketPath);
    this.image = deps.image ?? "";
  }

  get labels(): Readonly<Record<string, string>> {
    return { [label.installation]: this.#deps.installationId, [label.process]: processName() };
  }

  /** Of the container of a wall. `wall` is a name that only one wall of this process has. */
  nameOf(wall: string): string {
    return `convoke-wall-${this.#deps.installationId}-${processName().replaceAll(/[^\w.-]/g, "-")}-${wall}`;
  }

  /** Why containers cannot be walls here, in words; null when they can. A reason is looked for again at the next call. */
  async whyNot(): Promise<NoWall | null> {
    this.#checked ??= this.#check();
    const why = await this.#checked;
    if (why !== null) this.#checked = null;
    return why;
  }

  async #check(): Promise<NoWall | null> {
    const why = await findWhyNoContainers(this.#deps);
    if (why === null) await this.#removeLeft();
    return why;
  }

  /** Containers of servers that were killed, and whose tool host did not end by itself. */
  async #removeLeft(): Promise<void> {
    const { installationId, logger } = this.#deps;
    try {
      const found = await listContainers(this.engine, [`${label.installation}=${installationId}`]);
      for (const { Id, Labels } of found) {
        if (isProcessAlive(Labels[label.process] ?? "")) continue;
        await this.engine.call("DELETE", `/containers/${Id}?force=1&v=1`, { accepted: [404, 409] });
      }
    } catch (error) {
      logger.warn({ error: describeError(error) }, "containers of walls of an ended server may be left");
    }
  }
}

/** Why containers of an image cannot be walls on this machine, in words; null when they can. Changes nothing. */
export async function findWhyNoContainers({
  image,
  socketPath,
}: Pick<WallContainersDeps, "image" | "socketPath">): Promise<NoWall | null> {
  if (image === null)
    return {
      reason: "A wall of the kind docker needs an image.",
      fix: "Name one with CONVOKE_SANDBOX_IMAGE: any with glibc and /bin/bash, such as python:3.12.",
    };
  const { isUsable, detail, runtimes, hasControlGroups } = await findContainerEngine({ socketPath, image });
  if (runtimes === null)
    return {
      reason: `No container engine answers: ${detail}.`,
      fix: "Start Docker or Podman, let the server's user use its socket, or name another one with CONVOKE_SANDBOX_ENGINE_SOCKET.",
    };
  if (!isUsable)
    return {
      reason: `The image ${image} of the walls is not on this machine.`,
      fix: `Fetch it: docker pull ${image}.`,
    };
  if (!hasControlGroups)
    return {
      reason: "This container engine limits nothing: it has no root, and control groups of version 1.",
      fix: "Use an engine on control groups v2.",
    };
  return null;
}
