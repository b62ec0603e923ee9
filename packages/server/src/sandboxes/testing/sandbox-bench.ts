import { XtermPerson } from "@convoke/tool-host/testing";
import { randomUUID } from "node:crypto";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectToolHost, type Outcome, type RemoteToolHost, type ToolSession } from "@convoke/tool-host";
import { openControlGroups } from "../control-groups/open-control-groups.ts";
import type { LocalBackendDeps } from "../local-backend-deps.ts";
import type { SandboxBackend, SandboxHandle, SandboxSpec, StartPhase } from "../sandbox.ts";
import { testedPrograms } from "../../testing/tested-programs.ts";

/** What the server has and no sandbox may ever see. */
export const canary = "canary-5c2f0d8e71";

const connect: LocalBackendDeps["connect"] = ({ address, key }) =>
  connectToolHost({ address, key, unavailableMs: 10_000 });

/** A data folder and what a server would do with it; disposing it removes everything. */
export class SandboxBench implements AsyncDisposable {
  readonly dataDir: string;
  readonly createBackend: (bench: SandboxBench) => SandboxBackend;
  readonly key = randomUUID();
  #backend: SandboxBackend;
  readonly #hosts: RemoteToolHost[] = [];

  private constructor(dataDir: string, createBackend: (bench: SandboxBench) => SandboxBackend) {
    this.dataDir = dataDir;
    this.createBackend = createBackend;
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

  get deps(): LocalBackendDeps {
    return {
      sandboxesDir: join(this.dataDir, "sandboxes"),
      installationId: this.dataDir.slice(-6),
      program: testedPrograms().toolHost,
      environment: { ...process.env, LLM_API_KEY: canary, CONVOKE_API_KEY: canary },
      connect,
      openControlGroups: () => openControlGroups({ uid: process.getuid?.() ?? 0, environment: process.env }),
    };
  }

  /** As a server that was killed and came back would: nothing is kept in memory. */
  restart(): void {
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
      key: this.key,
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
    await rm(this.dataDir, { recursive: true, force: true });
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
