import { basename, join } from "node:path";
import { stat, writeFile } from "node:fs/promises";
import { inside, settingsFiles, type Bind } from "./bubblewrap-arguments.ts";
import { ContainerEngine } from "./container-engine.ts";
import { containerBody, labels } from "./docker-container.ts";
import { DockerSandbox } from "./docker-sandbox.ts";
import { connectPortDoor, doorBind } from "./port-door-client.ts";
import type { LocalBackendDeps } from "./local-backend-deps.ts";
import {
  prepareSandboxDirectory,
  prepareWorkspace,
  removeSandboxDirectory,
  sandboxDirectory,
  writeKey,
} from "./sandbox-directory.ts";
import type { Account, SandboxDirectory } from "./sandbox-directory.ts";
import { listContainers, removeContainer } from "./remove-container.ts";
import type { SandboxBackend, SandboxHandle, SandboxRecord, StartOrder, StartProgress } from "./sandbox.ts";
import { SandboxError } from "./sandbox.ts";
import { ToolHostLink } from "./tool-host-link.ts";

export type DockerDeps = Omit<LocalBackendDeps, "program"> & {
  /** Socket of Docker or Podman on this machine. */
  readonly socketPath: string;
  /** Used when a spec names none; it has the command `convoke`. */
  readonly image: string;
  readonly self: Account;
  readonly unprivileged: Account;
};

/** Containers of Docker or Podman. The tool host is reached through a shared directory, so the network may be none. */
export function createDockerBackend(deps: DockerDeps): SandboxBackend {
  return new DockerBackend(deps);
}

class DockerBackend implements SandboxBackend {
  readonly name = "docker";
  readonly startDeadlineMs = 300_000;
  readonly #deps: DockerDeps;
  readonly #engine: ContainerEngine;

  constructor(deps: DockerDeps) {
    this.#deps = deps;
    this.#engine = new ContainerEngine(deps.socketPath);
  }

  async start(order: StartOrder): Promise<SandboxHandle> {
    const { spec, key, onProgress, signal } = order;
    onProgress({ phase: "preparing" });
    const directory = sandboxDirectory(this.#deps.sandboxesDir, spec.id);
    const name = this.#containerName(spec.id);
    await this.#removeContainer(spec.id);
    const account = await this.#chooseAccount(spec.workspaceDir);
    const given = this.#deps.self.uid === 0 ? account : undefined;
    await prepareSandboxDirectory(directory, given);
    const workspaceDir = await prepareWorkspace(directory, spec.workspaceDir, given);
    await writeKey(directory, key, given);
    const image = spec.image ?? this.#deps.image;
    await this.#fetchImage(image, onProgress, signal);
    try {
      onProgress({ phase: "launching" });
      const body = await this.#describeContainer(order, { directory, workspaceDir, account, image });
      // The engine finishes what it began for a caller that hangs up, so giving up waits for its answer and then removes.
      await this.#engine.call("POST", `/containers/create?name=${name}`, { body });
      signal.throwIfAborted();
      await this.#engine.call("POST", `/containers/${name}/start`);
      onProgress({ phase: "connecting" });
      const handle = this.#handle(spec.id, key);
      const { connect } = this.#deps;
      await new ToolHostLink({ directory, key, connect }).untilReady(() => handle.findEnd(), signal);
      return handle;
    } catch (error) {
      await this.#removeContainer(spec.id);
      throw error;
    }
  }

  async reattach(record: SandboxRecord, key: string): Promise<SandboxHandle | null> {
    const handle = this.#handle(String(record["id"]), key);
    return (await handle.isThere()) ? handle : null;
  }

  async listOwned(): Promise<readonly string[]> {
    const owned = await listContainers(this.#engine, [`${labels.installation}=${this.#deps.installationId}`]);
    return owned.flatMap(({ Labels }) => Labels[labels.sandbox] ?? []);
  }

  async remove(id: string): Promise<void> {
    await this.#removeContainer(id);
    await removeSandboxDirectory(sandboxDirectory(this.#deps.sandboxesDir, id));
  }

  #handle(id: string, key: string): DockerSandbox {
    const directory = sandboxDirectory(this.#deps.sandboxesDir, id);
    return new DockerSandbox({
      id,
      containerName: this.#containerName(id),
      engine: this.#engine,
      link: new ToolHostLink({ directory, key, connect: this.#deps.connect }),
      removeContainer: () => this.#removeContainer(id),
      connectPort: (port) => connectPortDoor(join(directory.runDir, "ports.sock"), port),
    });
  }

  async #describeContainer(
    { spec }: StartOrder,
    place: { directory: SandboxDirectory; workspaceDir: string; account: Account; image: string },
  ): Promise<object> {
    const { directory, workspaceDir, account, image } = place;
    const users = await writeUserFiles(directory, settingsFiles(account, spec));
    const { body } = await this.#engine.call("GET", "/version");
    const { Components = [] } = body as { Components?: { Name: string }[] };
    return containerBody({
      spec,
      image,
      account,
      installationId: this.#deps.installationId,
      binds: [
        doorBind(),
        ...users,
        {
          source: directory.homeDir,
          target: inside.home,
          isWritable: true,
        },
        {
          source: directory.runDir,
          target: inside.run,
          isWritable: true,
        },
        {
          source: directory.stateDir,
          target: inside.state,
          isWritable: true,
        },
        {
          source: workspaceDir,
          target: inside.workspace,
          isWritable: true,
        },
      ],
      isPodman: Components.some(({ Name }) => Name.startsWith("Podman")),
      environment: this.#deps.environment,
    });
  }

  async #fetchImage(image: string, onProgress: (progress: StartProgress) => void, signal: AbortSignal) {
    const found = await this.#engine.call("GET", `/images/${encodeURIComponent(image)}/json`, {
      accepted: [404],
      signal,
    });
    if (found.status !== 404) return;
    onProgress({ phase: "fetching", detail: image });
    const path = `/images/create?fromImage=${encodeURIComponent(image)}`;
    for await (const line of this.#engine.follow("POST", path, signal)) {
      if (typeof line["error"] === "string") {
        throw new SandboxError(`The image ${image} is not here and could not be fetched: ${line["error"]}`);
      }
      const parts = [line["id"], line["status"], line["progress"]].filter((part) => typeof part === "string");
      onProgress({ phase: "fetching", detail: parts.join(" ") });
    }
  }

  async #removeContainer(sandboxId: string): Promise<void> {
    await removeContainer({
      engine: this.#engine,
      installationId: this.#deps.installationId,
      sandboxId,
      name: this.#containerName(sandboxId),
    });
  }

  async #chooseAccount(workspaceDir: string): Promise<Account> {
    const { self, unprivileged } = this.#deps;
    if (self.uid !== 0) return self;
    try {
      const { uid, gid } = await stat(workspaceDir);
      return uid === 0 ? unprivileged : { uid, gid };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return unprivileged;
      throw error;
    }
  }

  #containerName(id: string): string {
    return `convoke-${this.#deps.installationId}-${id}`;
  }
}

/** An image knows no user with our number; programs that ask for its name would fail. */
async function writeUserFiles(
  directory: SandboxDirectory,
  files: Readonly<Record<string, string>>,
): Promise<Bind[]> {
  return Promise.all(
    ["/etc/passwd", "/etc/group"].map(async (target) => {
      const source = join(directory.root, basename(target));
      await writeFile(source, files[target] ?? "", { mode: 0o644 });
      return { source, target, isWritable: false };
    }),
  );
}
