import type { NetworkPolicy } from "@convoke/protocol";
import { basename, join } from "node:path";
import { writeFile } from "node:fs/promises";
import { trustStorePaths } from "../egress/certificates/trust-bundle.ts";
import { insideEgress, type InsideTrust } from "../egress/inside-egress.ts";
import { inside, settingsFiles, type Bind } from "./bubblewrap-arguments.ts";
import { ContainerEngine } from "./container-engine.ts";
import { findEngineKind } from "./container-confinement.ts";
import { containerBody, labels } from "./docker-container.ts";
import { DockerSandbox } from "./docker-sandbox.ts";
import type { LocalBackendDeps } from "./local-backend-deps.ts";
import { connectForwardedPort, forwarderBind } from "./port-forwarder-client.ts";
import { chooseAccount, ownerOf, type SandboxAccounts } from "./sandbox-account.ts";
import { removeSandboxDirectory, sandboxDirectory } from "./sandbox-directory.ts";
import type { Account, SandboxDirectory } from "./sandbox-directory.ts";
import { listContainers, removeContainer } from "./remove-container.ts";
import type {
  SandboxBackend,
  SandboxHandle,
  SandboxKeys,
  SandboxRecord,
  StartOrder,
  StartProgress,
} from "./sandbox.ts";
import { SandboxError } from "./sandbox.ts";
import { startSandbox, type Launched } from "./start-sandbox.ts";
import { ToolHostLink } from "./tool-host-link.ts";

export type DockerDeps = Omit<LocalBackendDeps, "program"> &
  SandboxAccounts & {
    /** Socket of Docker or Podman on this machine. */
    readonly socketPath: string;
    /** Used when a spec names none; it has the command `convoke`. */
    readonly image: string;
  };

type ContainerPlace = {
  readonly directory: SandboxDirectory;
  readonly workspaceDir: string;
  readonly account: Account;
  readonly owner: Account | undefined;
  readonly image: string;
};

/** Containers of Docker or Podman. The tool host is reached through a shared directory, so the network may be none. */
export class DockerBackend implements SandboxBackend {
  readonly name = "docker";
  readonly startDeadlineMs = 300_000;
  readonly #deps: DockerDeps;
  readonly #engine: ContainerEngine;

  constructor(deps: DockerDeps) {
    this.#deps = deps;
    this.#engine = new ContainerEngine(deps.socketPath);
  }

  async start(order: StartOrder): Promise<SandboxHandle> {
    const { spec, onProgress, signal } = order;
    const account = await chooseAccount(spec.workspaceDir, this.#deps);
    const image = spec.image ?? this.#deps.image;
    const directory = sandboxDirectory(this.#deps.sandboxesDir, spec.id);
    const owner = ownerOf(account, this.#deps);
    return startSandbox(order, {
      directory,
      connect: this.#deps.connect,
      owner,
      clear: () => this.#removeContainer(spec.id),
      fetch: () => this.#fetchImage(image, onProgress, signal),
      launch: (workspaceDir) => this.#launch(order, { directory, workspaceDir, account, owner, image }),
    });
  }

  async reattach(
    record: SandboxRecord,
    keys: SandboxKeys,
    policy?: NetworkPolicy,
  ): Promise<SandboxHandle | null> {
    const id = String(record["id"]);
    const handle = this.#handle(id, keys.toolHost);
    if (!(await handle.isThere())) return null;
    const directory = sandboxDirectory(this.#deps.sandboxesDir, id);
    await this.#deps.ways.reopen({ id, directory, authority: keys.authority, policy });
    return handle;
  }

  async listOwned(): Promise<readonly string[]> {
    const owned = await listContainers(this.#engine, [`${labels.installation}=${this.#deps.installationId}`]);
    return owned.flatMap(({ Labels }) => Labels[labels.sandbox] ?? []);
  }

  async remove(id: string): Promise<void> {
    await this.#removeContainer(id);
    await this.#deps.ways.close(id);
    await removeSandboxDirectory(sandboxDirectory(this.#deps.sandboxesDir, id));
  }

  #handle(id: string, key: string): DockerSandbox {
    const directory = sandboxDirectory(this.#deps.sandboxesDir, id);
    return new DockerSandbox({
      id,
      containerName: this.#containerName(id),
      engine: this.#engine,
      link: new ToolHostLink({ directory, key, connect: this.#deps.connect }),
      container: {
        remove: () => this.#removeContainer(id),
        connectPort: (port) => connectForwardedPort(join(directory.runDir, "ports.sock"), port),
      },
    });
  }

  async #launch(order: StartOrder, place: ContainerPlace): Promise<Launched> {
    const { spec, keys, signal } = order;
    const name = this.#containerName(spec.id);
    const body = await this.#describeContainer(order, place);
    // The engine finishes what it began for a caller that hangs up, so giving up waits for its answer and then removes.
    await this.#engine.call("POST", `/containers/create?name=${name}`, { body });
    signal.throwIfAborted();
    if (spec.runtime !== undefined) await this.#assertRuntime(name, spec.runtime);
    await this.#engine.call("POST", `/containers/${name}/start`);
    const handle = this.#handle(spec.id, keys.toolHost);
    return { findEnd: () => handle.findEnd(), toHandle: async () => handle };
  }

  async #describeContainer({ spec, keys }: StartOrder, place: ContainerPlace): Promise<object> {
    const { directory, workspaceDir, account, owner, image } = place;
    const way = { id: spec.id, directory, authority: keys.authority, policy: spec.policy };
    const trust = spec.network === "none" ? null : await this.#deps.ways.open(way, owner);
    const users = await writeUserFiles(directory, settingsFiles(account, spec));
    return containerBody({
      spec,
      image,
      account,
      installationId: this.#deps.installationId,
      binds: [
        forwarderBind(),
        ...users,
        writable(directory.homeDir, inside.home),
        writable(directory.runDir, inside.run),
        writable(directory.stateDir, inside.state),
        writable(workspaceDir, inside.workspace),
        ...(trust === null ? [] : await writeTrust(directory, trust)),
      ],
      trust,
      engine: await findEngineKind(this.#engine, directory.root),
      environment: this.#deps.environment,
    });
  }

  /** An engine may ignore the field: the container would run, with less around it than was asked for. */
  async #assertRuntime(name: string, wanted: string): Promise<void> {
    const { body } = await this.#engine.call("GET", `/containers/${name}/json`);
    const used = (body as { readonly HostConfig?: { readonly Runtime?: string } }).HostConfig?.Runtime;
    if (used === wanted) return;
    throw new SandboxError(
      `The container engine does not run containers with ${wanted}: it would use ${used ?? "another runtime"}. Use Docker, or leave the runtime out.`,
    );
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

  #containerName(id: string): string {
    return `convoke-${this.#deps.installationId}-${id}`;
  }
}

/** The socket, and the trust stores of the common distributions: those of the image are covered with this machine's. */
async function writeTrust(directory: SandboxDirectory, { authority, bundle }: InsideTrust): Promise<Bind[]> {
  const write = async (name: string, text: string): Promise<string> => {
    const source = join(directory.root, name);
    await writeFile(source, text, { mode: 0o644 });
    return source;
  };
  const [own, all] = [await write("authority.pem", authority), await write("bundle.pem", bundle)];
  return [
    readable(directory.egressDir, insideEgress.folder),
    readable(own, insideEgress.authority),
    ...[insideEgress.bundle, ...trustStorePaths].map((target) => readable(all, target)),
  ];
}

function readable(source: string, target: string): Bind {
  return { source, target, isWritable: false };
}

function writable(source: string, target: string): Bind {
  return { source, target, isWritable: true };
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
      return readable(source, target);
    }),
  );
}
