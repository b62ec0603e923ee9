import { XtermPerson } from "@convoke/tool-host/testing";
import { randomUUID } from "node:crypto";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectToolHost, type Outcome, type RemoteToolHost, type ToolSession } from "@convoke/tool-host";
import type { EgressRecord } from "../../egress/egress.ts";
import { openControlGroups } from "../control-groups/open-control-groups.ts";
import type { LocalBackendDeps } from "../local-backend-deps.ts";
import type { SandboxWays, SandboxWaysDeps } from "../sandbox-ways.ts";
import type { SandboxBackend, SandboxHandle, SandboxKeys, SandboxSpec, StartPhase } from "../sandbox.ts";
import { testedPrograms } from "../../testing/tested-programs.ts";
import { createTestWays } from "./test-ways.ts";

/** What the server has and no sandbox may ever see. */
export const canary = "canary-5c2f0d8e71";

const connect: LocalBackendDeps["connect"] = ({ address, key }) =>
  connectToolHost({ address, key, unavailableMs: 10_000 });

/** A data folder and what a server would do with it; disposing it removes everything. */
export class SandboxBench implements AsyncDisposable {
  readonly dataDir: string;
  readonly createBackend: (bench: SandboxBench) => SandboxBackend;
  readonly key = randomUUID();
  readonly keys: SandboxKeys = { toolHost: this.key, authority: `authority of ${this.key}` };
  /** Of the ways out: sandbox and what passed or was refused. */
  readonly records: (EgressRecord & { readonly sandbox: string })[] = [];
  /** What sandboxes with a network may reach; counts from the next restart on. */
  policy: SandboxWaysDeps["policy"] = "registries";
  #ways: SandboxWays;
  #backend: SandboxBackend;
  readonly #hosts: RemoteToolHost[] = [];
  /** Those of servers that were killed too: the process is the same, and ends what it opened. */
  readonly #allWays = new AsyncDisposableStack();

  private constructor(dataDir: string, createBackend: (bench: SandboxBench) => SandboxBackend) {
    this.dataDir = dataDir;
    this.createBackend = createBackend;
    this.#ways = this.#createWays();
    this.#backend = createBackend(this);
  }

  static async open(createBackend: (bench: SandboxBench) => SandboxBackend): Promise<SandboxBench> {
    const dataDir = await mkdtemp(join(tmpdir(), "convoke-sbx-"));
    await mkdir(join(dataDir, "sandboxes"), { mode: 0o700 });
    await chmod(dataDir, 0o700);
    return new SandboxBench(dataDir, createBackend);
  }

  get backend(): SandboxBackend {
    return this.#backend;
  }

  get ways(): SandboxWays {
    return this.#ways;
  }

  get deps(): LocalBackendDeps {
    return {
      sandboxesDir: join(this.dataDir, "sandboxes"),
      installationId: this.dataDir.slice(-6),
      program: testedPrograms().toolHost,
      environment: { ...process.env, LLM_API_KEY: canary, CONVOKE_API_KEY: canary },
      connect,
      ways: this.#ways,
      openControlGroups: () => openControlGroups({ uid: process.getuid?.() ?? 0, environment: process.env }),
    };
  }

  /** As a server that was killed and came back would: nothing is kept in memory. */
  restart(): void {
    this.#ways = this.#createWays();
    this.#backend = this.createBackend(this);
  }

  spec(changes: Partial<SandboxSpec> = {}): SandboxSpec {
    const id = changes.id ?? "one";
    return {
      id,
      workspaceDir: join(this.dataDir, "sandboxes", id, "workspace"),
      environment: {},
      limits: { memoryMb: 1_024, cpus: 1, pids: 256 },
      network: this.backend.name === "process" ? "on" : "none",
      ...changes,
    };
  }

  async start(changes: Partial<SandboxSpec> = {}, onPhase: (phase: StartPhase) => void = () => {}) {
    return this.backend.start({
      spec: this.spec(changes),
      keys: this.keys,
      onProgress: ({ phase }) => onPhase(phase),
      signal: new AbortController().signal,
    });
  }

  /** A terminal in the sandbox. */
  async openTerminal(handle: SandboxHandle, sessionId = "session"): Promise<SandboxTerminal> {
    const host = await handle.connect();
    this.#hosts.push(host);
    const { workspaceDir, stateDir } = handle;
    const session = await host.openSession({
      sessionId,
      workspaceDir,
      stateDir: join(stateDir, sessionId),
      tools: [{ name: "terminal" }],
    });
    return new SandboxTerminal(session);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const host of this.#hosts) host.detach();
    for (const id of await this.#backend.listOwned()) await this.#backend.remove(id);
    await this.#allWays.disposeAsync();
    await rm(this.dataDir, { recursive: true, force: true });
  }

  #createWays(): SandboxWays {
    return this.#allWays.use(
      createTestWays(this.policy, (sandbox, record) => void this.records.push({ sandbox, ...record })),
    );
  }
}

export class SandboxTerminal {
  readonly #session: ToolSession;

  constructor(session: ToolSession) {
    this.#session = session;
  }

  /** A person who looks at it. */
  attach(): XtermPerson {
    return XtermPerson.at(this.#session);
  }

  /** What a command prints. */
  async run(command: string, seconds = 60): Promise<string> {
    const outcome = await this.#session.execute({
      actionId: randomUUID(),
      tool: "terminal",
      action: { kind: "TerminalAction", command, is_input: false, timeout: seconds, reset: false },
      secrets: [],
    });
    return readOutput(outcome);
  }
}

function readOutput(outcome: Outcome): string {
  if (outcome.type !== "observation") throw new Error(`The command was not run: ${outcome.text}`);
  const { content } = outcome.observation as { content?: readonly { text?: string }[] };
  return (content ?? []).map(({ text }) => text ?? "").join("");
}
