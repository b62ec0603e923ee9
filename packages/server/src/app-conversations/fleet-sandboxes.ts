import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import type { SandboxStatus } from "@convoke/protocol";
import { openHostStream, ToolHostUnreachableError } from "@convoke/tool-host";
import type { BoundSecret, HostTotals, RefusalsSince } from "../egress/egress.ts";
import { Fault } from "../lib/fault.ts";
import { pageFrom } from "./page-from.ts";
import { specMissing } from "./sandbox-refusals.ts";
import type { SandboxFleet } from "../sandboxes/sandbox-fleet.ts";
import type { SandboxRow } from "../sandboxes/sandbox-store.ts";
import { WarmPool, type WarmPoolDeps } from "../sandboxes/warm-pool.ts";
import type { SandboxWays } from "../sandboxes/sandbox-ways.ts";
import { SandboxError, type SandboxSpec } from "../sandboxes/sandbox.ts";
import type {
  Sandboxes,
  SandboxHost,
  SandboxPageQuery,
  SandboxPlace,
  SandboxTemplate,
  SandboxView,
} from "./sandbox-service.ts";

/** What the fleet needs to make a sandbox: a backend, and of docker an image. */
export type FleetTemplate = Omit<SandboxSpec, "id" | "workspaceDir"> & {
  /** Name of a backend of the fleet. */
  readonly backend: string;
  /** For people. */
  readonly description?: string | undefined;
  /** Number of warm sandboxes that are kept running; none unless given. */
  readonly warm?: number;
};

export type FleetSandboxesDeps = {
  /** Owned by this object from here on. */
  readonly fleet: SandboxFleet;
  /** Those of its backends; owned as well. */
  readonly ways: SandboxWays;
  /** The first is the default; no two with the same id of a spec, or without one the same backend and image. */
  readonly templates: readonly [FleetTemplate, ...FleetTemplate[]];
  /** Absolute; where the backends keep a directory per sandbox, so that a workspace goes when its sandbox does. */
  readonly sandboxesDir: string;
  /** What the default template is and isolates, in one line for people. */
  readonly summary: string;
  /** For the warm pools; there is one for each template that asks for any. */
  readonly warm: Pick<WarmPoolDeps, "logger" | "times">;
  /** When the templates came into being: epoch milliseconds. */
  readonly templatesSinceMs: number;
};

/** Sandboxes of this machine, for servers of other machines too. */
export interface LocalSandboxes extends Sandboxes {
  /** Where tools run, as they see it. Waits as `openHost` does. */
  placeOf(id: string): Promise<SandboxPlace>;
  /** What a conversation of another process has bound to hosts. Replaces what came for it before. */
  receiveSecrets(id: string, conversationId: string, secrets: readonly BoundSecret[]): void;
  /** The bytes of its tool host, which lets nobody in without the sandbox's key. */
  connectHost(id: string): Promise<Duplex>;
}

/** What stands between a sandbox of this backend and the machine. */
export function isolationOf(backend: string): SandboxTemplate["isolation"] {
  if (backend === "bubblewrap") return "namespaces";
  return backend === "docker" ? "container" : "none";
}

/** The fleet's sandboxes, each for its owner alone. */
export class FleetSandboxes implements LocalSandboxes {
  readonly templates: readonly SandboxTemplate[];
  readonly summary: string;
  readonly #fleet: SandboxFleet;
  readonly #ways: SandboxWays;
  readonly #sandboxesDir: string;
  readonly #byId: ReadonlyMap<string, FleetTemplate>;
  /** By the id of the template. */
  readonly #pools: ReadonlyMap<string, WarmPool>;

  constructor({ fleet, ways, templates, sandboxesDir, templatesSinceMs, summary, warm }: FleetSandboxesDeps) {
    this.summary = summary;
    this.#fleet = fleet;
    this.#ways = ways;
    this.#sandboxesDir = sandboxesDir;
    this.#byId = new Map(templates.map((template) => [idOf(template.backend, template), template]));
    this.templates = [...this.#byId].map(([id, template]) => toTemplate(id, template, templatesSinceMs));
    this.#pools = new Map(
      [...this.#byId].flatMap(([id, template]) => {
        const { warm: size = 0 } = template;
        const order = (): ReturnType<WarmPoolDeps["order"]> => this.#orderOf(template, newSandboxId());
        return size === 0 ? [] : [[id, new WarmPool({ ...warm, size, fleet, order })] as const];
      }),
    );
  }

  reserve(templateId: string): string | null {
    const taken = this.#pools.get(templateId)?.take() ?? null;
    // Somebody starts one: no pool makes any meanwhile.
    for (const pool of this.#pools.values()) pool.rest();
    return taken;
  }

  unreserve(id: string): void {
    for (const pool of this.#pools.values()) pool.putBack(id);
  }

  async start(
    ownerId: string,
    templateId: string,
    id: string = this.reserve(templateId) ?? newSandboxId(),
  ): Promise<SandboxView> {
    const known = await this.#get(ownerId, id);
    if (known !== null) return known;
    const template = this.#byId.get(templateId);
    if (template === undefined) throw specMissing(templateId, this.templates);
    const isWarm = [...this.#pools.values()].some((pool) => pool.redeem(id));
    if (isWarm) {
      const given = await this.#fleet.give(id, ownerId);
      this.#ways.checkLimits();
      return toView(given, ownerId);
    }
    return toView(await this.#fleet.create({ ownerId, ...this.#orderOf(template, id) }), ownerId);
  }

  async getMany(ownerId: string, ids: readonly string[]): Promise<readonly (SandboxView | null)[]> {
    return await Promise.all(ids.map((id) => this.#get(ownerId, id)));
  }

  async search(
    ownerId: string,
    query: SandboxPageQuery,
  ): Promise<{ items: SandboxView[]; nextPageId: string | null }> {
    const own = (await this.#fleet.list()).filter((row) => row.ownerId === ownerId);
    const { items, nextPageId } = pageFrom(own, query, ({ id }) => id, "sandbox");
    return { items: items.map((row) => this.#toView(row, ownerId)), nextPageId };
  }

  async pause(ownerId: string, id: string): Promise<boolean> {
    return await this.#ifOwned(ownerId, id, () => this.#fleet.pause(id));
  }

  async resume(ownerId: string, id: string): Promise<boolean> {
    return await this.#ifOwned(ownerId, id, () => this.#fleet.resume(id));
  }

  async remove(ownerId: string, id: string): Promise<boolean> {
    return await this.#ifOwned(ownerId, id, () => this.#fleet.delete(id));
  }

  async openHost(id: string): Promise<SandboxHost> {
    const place = await this.placeOf(id);
    return { toolHost: await withReason(this.#fleet.toolHost(id)), ...place };
  }

  async placeOf(id: string): Promise<SandboxPlace> {
    const { workspaceDir, stateDir } = await withReason(this.#fleet.handle(id));
    return { workspaceDir, stateDir };
  }

  async connectHost(id: string): Promise<Duplex> {
    return await withReason(openHostStream((await this.#fleet.handle(id)).toolHostAddress));
  }

  async learn(): Promise<void> {}

  async connectPort(id: string, port: number): Promise<Duplex> {
    return await withReason((await this.#fleet.handle(id)).connectPort(port));
  }

  hasWayOut(id: string): boolean {
    return this.#ways.has(id);
  }

  async setGrants(id: string, conversationId: string, hosts: readonly string[]): Promise<void> {
    this.#ways.setGrants(id, conversationId, hosts);
  }

  /** Those of this process are in the registry that the ways out read. */
  async sendSecrets(): Promise<void> {}

  receiveSecrets(id: string, conversationId: string, secrets: readonly BoundSecret[]): void {
    this.#ways.setSecrets(id, conversationId, secrets);
  }

  async refusalsSince(id: string, mark: number): Promise<RefusalsSince> {
    return this.#ways.refusalsSince(id, mark);
  }

  async totals(id: string): Promise<readonly HostTotals[]> {
    return this.#ways.totals(id);
  }

  sessionKey(id: string): string | null {
    return this.#fleet.keyOf(id, "session");
  }

  portKey(id: string): string | null {
    return this.#fleet.keyOf(id, "ports");
  }

  ownerOf(id: string): string | null {
    return this.#fleet.ownerOf(id);
  }

  async countByStatus(): Promise<ReadonlyMap<SandboxStatus, number>> {
    const owned = (await this.#fleet.list()).filter(({ ownerId }) => ownerId !== null);
    const statuses = owned.map(({ status }) => status);
    return new Map([...Map.groupBy(statuses, (status) => status)].map(([one, all]) => [one, all.length]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool[Symbol.asyncDispose]()));
    await this.#fleet[Symbol.asyncDispose]();
    await this.#ways[Symbol.asyncDispose]();
  }

  /** Without what is for people and pools. */
  #orderOf(template: FleetTemplate, id: string): ReturnType<WarmPoolDeps["order"]> {
    const { backend, description: _, warm: __, ...spec } = template;
    return { backend, spec: { ...spec, id, workspaceDir: join(this.#sandboxesDir, id, "workspace") } };
  }

  async #get(ownerId: string, id: string): Promise<SandboxView | null> {
    const row = await this.#fleet.get(id);
    return row?.ownerId === ownerId ? this.#toView(row, ownerId) : null;
  }

  /** One whose spec the operator has removed says what a start would make of it. */
  #toView(row: SandboxRow, ownerId: string): SandboxView {
    const view = toView(row, ownerId);
    const { specId } = row.spec;
    if (specId === undefined || this.#byId.has(specId) || row.status === "RUNNING") return view;
    const removed = `The sandbox spec ${specId} is not configured any more: this sandbox is started with the settings that it had.`;
    return {
      ...view,
      statusDetail: view.statusDetail === null ? removed : `${view.statusDetail} ${removed}`,
    };
  }

  async #ifOwned(ownerId: string, id: string, act: () => Promise<void>): Promise<boolean> {
    if ((await this.#get(ownerId, id)) === null) return false;
    await withReason(act());
    return true;
  }
}

/** Turns a sandbox's failure into an error for its user. */
async function withReason<Value>(doing: Promise<Value>): Promise<Value> {
  try {
    return await doing;
  } catch (error) {
    const isReason = error instanceof SandboxError || error instanceof ToolHostUnreachableError;
    throw isReason ? new Fault("not-now", "sandbox_failed", error.message) : error;
  }
}

/** Short, because a socket's path may have a hundred letters only. */
export function newSandboxId(): string {
  return randomBytes(10).toString("hex");
}

export function toView(row: SandboxRow, ownerId: string): SandboxView {
  return {
    id: row.id,
    ownerId,
    templateId: idOf(row.backend, row.spec),
    secretNames: row.spec.secretNames,
    status: row.status,
    statusDetail: row.statusDetail,
    createdAtMs: row.createdAtMs,
  };
}

/** The operator's, or `bubblewrap`, `docker:image`: made from what every sandbox keeps, so that it is stored nowhere else. */
function idOf(backend: string, { specId, image }: Pick<SandboxSpec, "specId" | "image">): string {
  return specId ?? (image === undefined ? backend : `${backend}:${image}`);
}

function toTemplate(id: string, template: FleetTemplate, createdAtMs: number): SandboxTemplate {
  const { backend, description = null, runtime = null, environment, secretNames } = template;
  return {
    id,
    description,
    isolation: isolationOf(backend),
    runtime,
    environment,
    secretNames,
    createdAtMs,
  };
}
