import { join } from "node:path";
import { createInProcessHost, type Tool, type ToolSet } from "@convoke/tool-host";
import type { WalledHost, WallOrder, Walls } from "../walls/wall.ts";

/** Walls that keep nothing in and nothing out: the tools run in this process. For what a server makes of its walls. */
export class MemoryWalls implements Walls {
  readonly summary = "memory";
  readonly kind = "bubblewrap";
  readonly #options: { readonly tools: readonly (Tool | ToolSet)[]; readonly stateDir: string };
  readonly #orders: WallOrder[] = [];

  /** `stateDir`: absolute; for the state of sessions. */
  constructor(options: { readonly tools: readonly (Tool | ToolSet)[]; readonly stateDir: string }) {
    this.#options = options;
  }

  /** The last order for a conversation. */
  orderOf(rootId: string): WallOrder | undefined {
    return this.#orders.findLast((order) => order.rootId === rootId);
  }

  async open(order: WallOrder): Promise<WalledHost> {
    this.#orders.push(order);
    const host = createInProcessHost({ tools: this.#options.tools, environment: {} });
    return {
      catalogue: host.catalogue,
      isRunning: true,
      openHost: async () => host,
      openEarly: async () => host,
      startAhead: () => {},
      retryFailed: async () => {},
      homeDir: this.#options.stateDir,
      stateDir: join(this.#options.stateDir, order.rootId),
      adoptState: async () => {},
      beginCall: async () => async () => "",
      refusalsSince: () => ({ mark: 0, text: "" }),
      totals: () => [],
      connectPort: async () => Promise.reject(new Error("Nothing listens here.")),
    };
  }

  async isRefused(): Promise<boolean> {
    return false;
  }

  async isAsRoot(): Promise<boolean> {
    return false;
  }

  async findLeftBehind(): Promise<null> {
    return null;
  }

  countLeftBehind(): null {
    return null;
  }

  async limits(): ReturnType<Walls["limits"]> {
    return { kind: "per-process", detail: "memory" };
  }

  countRunning(): number {
    return this.#orders.length;
  }

  async remove(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}
