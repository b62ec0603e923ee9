import type { RemoteToolHost } from "@convoke/tool-host";
import { SandboxError } from "../sandbox.ts";
import type {
  SandboxBackend,
  SandboxHandle,
  SandboxHealth,
  SandboxKeys,
  SandboxRecord,
  StartOrder,
  StartProgress,
} from "../sandbox.ts";

type Entry = { state: SandboxHealth["state"]; readonly key: string };

/** Sandboxes that are rows of a table: they outlive the backend objects that share it, and do what the test says. */
export class TableBackend implements SandboxBackend {
  readonly name: string;
  startDeadlineMs = 10_000;
  readonly table: Map<string, Entry>;
  /** What a start does before it succeeds. */
  duringStart: (order: StartOrder) => Promise<void> = async () => {};
  duringRemove: (id: string) => Promise<void> = async () => {};
  boundLog: () => Promise<void> = async () => {};
  /** What everything else does first that is asked of the backend or a handle. */
  duringStep: () => Promise<void> = async () => {};
  /** What connecting to the tool host comes to. */
  connect: () => Promise<RemoteToolHost> = () => Promise.reject(new SandboxError("no tool host lives here"));
  /** Whether a start comes back when it is aborted. */
  isObedient = true;

  constructor(table: Map<string, Entry> = new Map(), name = "table") {
    this.table = table;
    this.name = name;
  }

  async start(order: StartOrder): Promise<SandboxHandle> {
    const { id } = order.spec;
    order.onProgress({ phase: "launching" } satisfies StartProgress);
    this.table.set(id, { state: "stopped", key: order.keys.toolHost });
    const aborted = Promise.withResolvers<never>();
    order.signal.addEventListener("abort", () => {
      if (this.isObedient) aborted.reject(order.signal.reason as Error);
    });
    await Promise.race([this.duringStart(order), aborted.promise]);
    this.table.set(id, { state: "running", key: order.keys.toolHost });
    return this.#handle(id);
  }

  async reattach(record: SandboxRecord, { toolHost: key }: SandboxKeys): Promise<SandboxHandle | null> {
    await this.duringStep();
    const id = String(record["id"]);
    const entry = this.table.get(id);
    if (entry === undefined || entry.state === "stopped") return null;
    if (entry.key !== key) throw new SandboxError("another key");
    return this.#handle(id);
  }

  async listOwned(): Promise<readonly string[]> {
    return [...this.table.keys()];
  }

  async remove(id: string): Promise<void> {
    await this.duringRemove(id);
    this.table.delete(id);
  }

  #handle(id: string): SandboxHandle {
    const entry = (): Entry => this.table.get(id) ?? { state: "missing", key: "" };
    const set = async (state: Entry["state"]): Promise<void> => {
      await this.duringStep();
      this.table.set(id, { ...entry(), state });
    };
    return {
      id,
      record: { backend: this.name, id },
      workspaceDir: "/workspace",
      stateDir: "/state",
      toolHostAddress: `unix:/${id}`,
      connect: () => this.connect(),
      pause: () => set("paused"),
      resume: () => set("running"),
      stop: () => set("stopped"),
      boundLog: async () => this.boundLog(),
      health: async () => ({
        state: entry().state,
        detail: entry().state === "stopped" ? "the tool host has ended" : null,
      }),
      logs: async () => "",
      connectPort: async () => {
        throw new SandboxError("no ports");
      },
    };
  }
}
