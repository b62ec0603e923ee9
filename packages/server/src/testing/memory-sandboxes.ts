import { randomUUID } from "node:crypto";
import type { Duplex } from "node:stream";
import type { SandboxStatus } from "@convoke/protocol";
import type {
  Sandboxes,
  SandboxHost,
  SandboxTemplate,
  SandboxView,
} from "../app-conversations/sandbox-service.ts";
import type { HostTotals, RefusalsSince } from "../egress/egress.ts";
import { UnknownPageError } from "../journal/journal.ts";
import { Fault } from "../lib/fault.ts";

/** Sandboxes that exist only as rows in memory: they change when a test says so, and nothing runs in them. */
export class MemorySandboxes implements Sandboxes {
  readonly templates: readonly SandboxTemplate[] = ["first", "second", "third"].map((id) => ({
    id,
    description: id === "second" ? "For tests" : null,
    isolation: "none",
    runtime: id === "second" ? "runsc" : null,
    environment: {},
    createdAtMs: 0,
  }));
  readonly summary = "memory: runs nothing";
  /** Oldest first. */
  #views: SandboxView[] = [];

  async start(
    ownerId: string,
    templateId: string,
    id: string = randomUUID().replaceAll("-", ""),
  ): Promise<SandboxView> {
    const known = this.#of(ownerId).find((view) => view.id === id);
    if (known !== undefined) return known;
    const view: SandboxView = {
      id,
      ownerId,
      templateId,
      status: "STARTING",
      statusDetail: "preparing",
      createdAtMs: this.#views.length,
    };
    this.#views.push(view);
    return view;
  }

  reserve(): string | null {
    return null;
  }

  unreserve(): void {
    throw new Error("None was reserved.");
  }

  async getMany(ownerId: string, ids: readonly string[]): Promise<readonly (SandboxView | null)[]> {
    return ids.map((id) => this.#of(ownerId).find((view) => view.id === id) ?? null);
  }

  async search(
    ownerId: string,
    { limit, pageId }: { readonly limit: number; readonly pageId?: string },
  ): Promise<{ items: SandboxView[]; nextPageId: string | null }> {
    const newestFirst = this.#of(ownerId).toReversed();
    const start = pageId === undefined ? 0 : newestFirst.findIndex(({ id }) => id === pageId);
    if (start === -1) throw new UnknownPageError(`There is no sandbox ${pageId} to start the page at`);
    return {
      items: newestFirst.slice(start, start + limit),
      nextPageId: newestFirst[start + limit]?.id ?? null,
    };
  }

  async pause(ownerId: string, id: string): Promise<boolean> {
    return this.#change(ownerId, id, { status: "PAUSED", statusDetail: null });
  }

  async resume(ownerId: string, id: string): Promise<boolean> {
    return this.#change(ownerId, id, { status: "RUNNING", statusDetail: null });
  }

  async remove(ownerId: string, id: string): Promise<boolean> {
    const isThere = this.#of(ownerId).some((view) => view.id === id);
    this.#views = this.#views.filter((view) => view.id !== id || view.ownerId !== ownerId);
    return isThere;
  }

  /** The handler of ports; a test may set it. */
  openPort: (port: number) => Promise<Duplex> = () => Promise.reject(nothingRuns());

  async openHost(): Promise<SandboxHost> {
    throw nothingRuns();
  }

  async connectPort(_id: string, port: number): Promise<Duplex> {
    return await this.openPort(port);
  }

  async learn(): Promise<void> {}

  /** Who was granted what, in which sandbox. */
  readonly grants: { id: string; conversationId: string; hosts: readonly string[] }[] = [];

  hasWayOut(id: string): boolean {
    return this.ownerOf(id) !== null;
  }

  async setGrants(id: string, conversationId: string, hosts: readonly string[]): Promise<void> {
    this.grants.push({ id, conversationId, hosts });
  }

  async sendSecrets(): Promise<void> {}

  async refusalsSince(): Promise<RefusalsSince> {
    return { mark: 0, text: "" };
  }

  async totals(): Promise<readonly HostTotals[]> {
    return [];
  }

  sessionKey(id: string): string | null {
    return this.ownerOf(id) === null ? null : `session-key-of-${id}`;
  }

  portKey(id: string): string | null {
    return this.ownerOf(id) === null ? null : `port-key-of-${id}`;
  }

  async countByStatus(): Promise<ReadonlyMap<SandboxStatus, number>> {
    const statuses = this.#views.map(({ status }) => status);
    return new Map([...Map.groupBy(statuses, (status) => status)].map(([one, all]) => [one, all.length]));
  }

  ownerOf(id: string): string | null {
    return this.#views.find((view) => view.id === id)?.ownerId ?? null;
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #of(ownerId: string): SandboxView[] {
    return this.#views.filter((view) => view.ownerId === ownerId);
  }

  #change(ownerId: string, id: string, change: Partial<SandboxView>): boolean {
    const index = this.#views.findIndex((view) => view.id === id && view.ownerId === ownerId);
    if (index === -1) return false;
    this.#views[index] = { ...this.#views[index]!, ...change };
    return true;
  }
}

function nothingRuns(): Fault {
  return new Fault("not-now", "sandbox_failed", "Nothing runs in here.");
}
