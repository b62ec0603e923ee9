import type { SandboxStatus } from "@convoke/protocol";
import type { PlacedSandbox, SharedSandboxes } from "../sandboxes/shared-sandbox-store.ts";
import type { SandboxStarts } from "./cluster-sandboxes.ts";
import type { MachineCalls, SandboxOffer } from "./machine-calls.ts";
import { machineUnavailable } from "./sandbox-refusals.ts";
import type { SandboxTemplate, SandboxView } from "./sandbox-service.ts";

/** Starts sandboxes through the process of the same group that manages the sandboxes of the data folder. */
export class SharedStarts implements SandboxStarts {
  readonly templates: readonly SandboxTemplate[];
  readonly summary: string;
  readonly #machineCalls: MachineCalls;
  readonly #machine: string;

  constructor(machineCalls: MachineCalls, machine: string, { templates, summary }: SandboxOffer) {
    this.#machineCalls = machineCalls;
    this.#machine = machine;
    this.templates = templates;
    this.summary = summary;
  }

  /** The managing process has the warm pool. */
  reserve(): null {
    return null;
  }

  unreserve(): void {}

  async start(ownerId: string, templateId: string, id: string): Promise<SandboxView> {
    return await this.#machineCalls.ask(this.#machine, "start", { id, ownerId, templateId });
  }

  /** The other process counts them. */
  async countByStatus(): Promise<ReadonlyMap<SandboxStatus, number>> {
    return new Map();
  }
}

/** Reads the stored sandboxes through the process that manages them. */
export class SharedRows implements Pick<SharedSandboxes, "find" | "listOf" | "wishDeleted" | "dropUngiven"> {
  readonly #machineCalls: MachineCalls;
  readonly #machine: string;

  constructor(machineCalls: MachineCalls, machine: string) {
    this.#machineCalls = machineCalls;
    this.#machine = machine;
  }

  async find(ids: readonly string[]): Promise<readonly PlacedSandbox[]> {
    const rows = await Promise.all(
      ids.map((id) => this.#machineCalls.ask(this.#machine, "row", { id, ownerId: "" })),
    );
    return rows.flatMap((row) => (row === null ? [] : [{ row, machine: this.#machine }]));
  }

  async listOf(ownerId: string): Promise<readonly PlacedSandbox[]> {
    const rows = await this.#machineCalls.ask(this.#machine, "rows", { id: "all", ownerId });
    return rows.map((row) => ({ row, machine: this.#machine }));
  }

  /** The managing process does not answer. */
  async wishDeleted(): Promise<void> {
    throw machineUnavailable();
  }

  /** It is given or removed where it is started. */
  async dropUngiven(): Promise<void> {}
}
