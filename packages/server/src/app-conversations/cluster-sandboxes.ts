import type { Duplex } from "node:stream";
import type { SandboxStatus } from "@convoke/protocol";
import { connectToolHost, ToolHostUnreachableError, type RemoteToolHost } from "@convoke/tool-host";
import type { BoundSecret, HostTotals, RefusalsSince } from "../egress/egress.ts";
import { Fault } from "../lib/fault.ts";
import { deriveSandboxKey } from "../sandboxes/sandbox-fleet.ts";
import type { PlacedSandbox, SharedSandboxes } from "../sandboxes/shared-sandbox-store.ts";
import type { SecretBox } from "../security/seal.ts";
import { isolationOf, newSandboxId, toView, type LocalSandboxes } from "./fleet-sandboxes.ts";
import type { MachineActs, MachineCalls, NetworkAsked } from "./machine-calls.ts";
import { pageFrom } from "./page-from.ts";
import { machineUnavailable, sandboxUnavailable } from "./sandbox-refusals.ts";
import type {
  Sandboxes,
  SandboxHost,
  SandboxPageQuery,
  SandboxTemplate,
  SandboxView,
} from "./sandbox-service.ts";

/** Where new sandboxes are made. */
export type SandboxStarts = Pick<
  Sandboxes,
  "templates" | "summary" | "reserve" | "unreserve" | "countByStatus"
> & {
  start(ownerId: string, templateId: string, id: string): Promise<SandboxView>;
};

export type ClusterSandboxesDeps = {
  /** The sandboxes of this machine, disposed with this object. Null where another process manages them: then all are remote. */
  readonly local: LocalSandboxes | null;
  /** The same object where this process manages the sandboxes of its machine. */
  readonly starts: SandboxStarts;
  readonly shared: Pick<SharedSandboxes, "find" | "listOf" | "wishDeleted" | "dropUngiven">;
  readonly machineCalls: MachineCalls;
  readonly secretBox: SecretBox;
};

/** What is known of a sandbox of another machine. */
type Card = {
  readonly machine: string;
  readonly ownerId: string;
  readonly rootKey: string;
  readonly hasWayOut: boolean;
};

/**
 * The sandboxes of all machines on one database. New ones are made on this machine. What is asked of one elsewhere is asked of the
 * server that lives there, and is refused while none does.
 */
export class ClusterSandboxes implements Sandboxes {
  readonly #deps: ClusterSandboxesDeps;
  readonly #cards = new Map<string, Card>();
  readonly #hosts = new Map<string, Promise<RemoteToolHost>>();

  constructor(deps: ClusterSandboxesDeps) {
    this.#deps = deps;
  }

  get templates(): readonly SandboxTemplate[] {
    return this.#deps.starts.templates;
  }

  get summary(): string {
    return this.#deps.starts.summary;
  }

  reserve(templateId: string): string | null {
    return this.#deps.starts.reserve(templateId);
  }

  unreserve(id: string): void {
    this.#deps.starts.unreserve(id);
  }

  async start(
    ownerId: string,
    templateId: string,
    id: string = this.reserve(templateId) ?? newSandboxId(),
  ): Promise<SandboxView> {
    const [known] = await this.getMany(ownerId, [id]);
    if (known) return known;
    const [placed] = await this.#deps.shared.find([id]);
    // Kept ready on another machine, whose server was to give it and has left the start to this one.
    if (placed !== undefined && placed.machine !== this.#deps.machineCalls.ownMachine)
      await this.#deps.shared.dropUngiven(id);
    return await this.#deps.starts.start(ownerId, templateId, id);
  }

  async getMany(ownerId: string, ids: readonly string[]): Promise<readonly (SandboxView | null)[]> {
    const views = await this.#toViews(ownerId, await this.#deps.shared.find(ids));
    return ids.map((id) => views.find((view) => view.id === id) ?? null);
  }

  async search(
    ownerId: string,
    query: SandboxPageQuery,
  ): Promise<{ items: SandboxView[]; nextPageId: string | null }> {
    const own = await this.#deps.shared.listOf(ownerId);
    const { items, nextPageId } = pageFrom(own, query, ({ row }) => row.id, "sandbox");
    return { items: await this.#toViews(ownerId, items), nextPageId };
  }

  async pause(ownerId: string, id: string): Promise<boolean> {
    const far = await this.#findFar(id);
    if (far === null) return (await this.#deps.local?.pause(ownerId, id)) ?? false;
    return far.ownerId === ownerId && (await this.#askFor("pause", id, far));
  }

  async resume(ownerId: string, id: string): Promise<boolean> {
    const far = await this.#findFar(id);
    if (far === null) return (await this.#deps.local?.resume(ownerId, id)) ?? false;
    return far.ownerId === ownerId && (await this.#askFor("resume", id, far));
  }

  /** Where the machine of a sandbox is unavailable, its server ends it when it is back; for its owner it is gone at once. */
  async remove(ownerId: string, id: string): Promise<boolean> {
    const far = await this.#findFar(id);
    if (far === null) return (await this.#deps.local?.remove(ownerId, id)) ?? false;
    if (far.ownerId !== ownerId) return false;
    if ((await this.#deps.machineCalls.living()).has(far.machine)) await this.#askFor("remove", id, far);
    else await this.#deps.shared.wishDeleted(id);
    this.#forget(id);
    return true;
  }

  async openHost(id: string): Promise<SandboxHost> {
    const far = await this.#findFar(id);
    if (far === null) return await this.#here.openHost(id);
    const place = await this.#askFor("place", id, far);
    return { toolHost: await this.#host(id, far), ...place };
  }

  async connectPort(id: string, port: number): Promise<Duplex> {
    const far = await this.#findFar(id);
    if (far === null) return await this.#here.connectPort(id, port);
    return await this.#deps.machineCalls.open(far.machine, id, port);
  }

  hasWayOut(id: string): boolean {
    return this.#cards.get(id)?.hasWayOut ?? this.#deps.local?.hasWayOut(id) ?? false;
  }

  async setGrants(id: string, conversationId: string, hosts: readonly string[]): Promise<void> {
    const far = this.#cards.get(id);
    if (far === undefined) return await this.#here.setGrants(id, conversationId, hosts);
    await this.#askFor("grant", id, far, { conversationId, hosts });
  }

  async sendSecrets(id: string, conversationId: string, secrets: readonly BoundSecret[]): Promise<void> {
    const far = this.#cards.get(id);
    if (far !== undefined) await this.#askFor("secrets", id, far, { conversationId, secrets });
  }

  async refusalsSince(id: string, mark: number): Promise<RefusalsSince> {
    const far = this.#cards.get(id);
    if (far === undefined) return await this.#here.refusalsSince(id, mark);
    try {
      return await this.#askFor("refusals", id, far, { mark });
    } catch (error) {
      // Its machine is unavailable; the call whose output this would stand behind has said so.
      if (error instanceof Fault) return { mark, text: "" };
      throw error;
    }
  }

  async totals(id: string): Promise<readonly HostTotals[]> {
    const far = await this.#findFar(id);
    return far === null ? await this.#here.totals(id) : await this.#askFor("totals", id, far);
  }

  async learn(id: string): Promise<void> {
    if ((this.#deps.local?.ownerOf(id) ?? null) === null) await this.#findFar(id);
  }

  sessionKey(id: string): string | null {
    return this.#deps.local?.sessionKey(id) ?? this.#keyOf(id, "session");
  }

  portKey(id: string): string | null {
    return this.#deps.local?.portKey(id) ?? this.#keyOf(id, "ports");
  }

  ownerOf(id: string): string | null {
    return this.#deps.local?.ownerOf(id) ?? this.#cards.get(id)?.ownerId ?? null;
  }

  /** Of this machine: each server counts its own. */
  async countByStatus(): Promise<ReadonlyMap<SandboxStatus, number>> {
    return await this.#deps.starts.countByStatus();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const id of this.#hosts.keys()) this.#forget(id);
    await this.#deps.local?.[Symbol.asyncDispose]();
  }

  /** Null, which matches no machine, where another process manages this one's. */
  get #own(): string | null {
    return this.#deps.local === null ? null : this.#deps.machineCalls.ownMachine;
  }

  /** What is not far is here, or nowhere. */
  get #here(): LocalSandboxes {
    if (this.#deps.local === null) throw sandboxUnavailable("MISSING", null);
    return this.#deps.local;
  }

  #keyOf(id: string, purpose: "session" | "ports"): string | null {
    const card = this.#cards.get(id);
    return card === undefined ? null : deriveSandboxKey(card.rootKey, purpose);
  }

  /** Null for one of this machine, and for one that is not there. */
  async #findFar(id: string): Promise<Card | null> {
    const [placed] = await this.#deps.shared.find([id]);
    if (placed === undefined) this.#forget(id);
    return placed === undefined ? null : this.#cardOf(placed);
  }

  /** Null for what is of this machine, or was given to nobody, or is to go. */
  #cardOf({ row, machine }: PlacedSandbox): Card | null {
    if (machine === this.#own || row.ownerId === null || row.wish === "deleted") return null;
    const known = this.#cards.get(row.id);
    if (known !== undefined) return known;
    const card = {
      machine,
      ownerId: row.ownerId,
      rootKey: this.#deps.secretBox.unseal(row.sealedKey),
      hasWayOut: row.spec.network === "on" && isolationOf(row.backend) !== "none",
    };
    this.#cards.set(row.id, card);
    return card;
  }

  #forget(id: string): void {
    this.#cards.delete(id);
    const host = this.#hosts.get(id);
    this.#hosts.delete(id);
    // One that was never opened needs no close; its caller has the reason.
    void host?.then(
      (opened) => opened.detach(),
      () => {},
    );
  }

  async #toViews(ownerId: string, placed: readonly PlacedSandbox[]): Promise<SandboxView[]> {
    const owned = placed.filter(({ row }) => row.ownerId === ownerId);
    const here = owned.filter(({ machine }) => machine === this.#own).map(({ row }) => row.id);
    const isAllHere = here.length === owned.length;
    const [local, living] = await Promise.all([
      this.#deps.local?.getMany(ownerId, here) ?? [],
      isAllHere ? null : this.#deps.machineCalls.living(),
    ]);
    return owned.flatMap((one): SandboxView[] => {
      if (one.machine === this.#own)
        return local.filter((view) => view !== null && view.id === one.row.id) as SandboxView[];
      if (this.#cardOf(one) === null) return [];
      const view = toView(one.row, ownerId);
      return living?.has(one.machine) === true ? [view] : [toUnavailable(view)];
    });
  }

  async #askFor<Act extends keyof MachineActs>(
    act: Act,
    id: string,
    { machine, ownerId }: Card,
    network?: NetworkAsked,
  ): Promise<MachineActs[Act]> {
    const asked = network === undefined ? {} : { network };
    return await this.#deps.machineCalls.ask(machine, act, { id, ownerId, ...asked });
  }

  /** One connection for all who ask; it comes back by itself after the machine was away. */
  async #host(id: string, { machine, rootKey }: Card): Promise<RemoteToolHost> {
    const opening =
      this.#hosts.get(id) ??
      connectToolHost({
        address: `sandbox ${id}`,
        key: deriveSandboxKey(rootKey, "tool-host"),
        open: () => this.#deps.machineCalls.open(machine, id, "host"),
      });
    this.#hosts.set(id, opening);
    try {
      return await opening;
    } catch (error) {
      if (this.#hosts.get(id) === opening) this.#hosts.delete(id);
      if (error instanceof ToolHostUnreachableError)
        throw new Fault("not-now", "sandbox_failed", error.message, [], { cause: error });
      throw error;
    }
  }
}

function toUnavailable(view: SandboxView): SandboxView {
  return { ...view, status: "ERROR", statusDetail: machineUnavailable().message, isUnavailable: true };
}
