import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Duplex } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import {
  openToolHost,
  ToolHostRefusedError,
  ToolHostUnreachableError,
  type LateToolHost,
  type ToolHost,
} from "@convoke/tool-host";
import type { HostTotals, RefusalsSince } from "../egress/egress.ts";
import { describeError } from "../lib/describe-error.ts";
import { Fault } from "../lib/fault.ts";
import { groupOfProcess } from "../sandboxes/control-groups/open-control-groups.ts";
import { connectForwardedPort } from "../sandboxes/port-forwarder-client.ts";
import { CountedHost } from "./counted-host.ts";
import { adoptState, hasEarlierState } from "./earlier-state.ts";
import { WallEgress } from "./wall-egress.ts";
import { WallGroup } from "./wall-group.ts";
import { WallNotes } from "./wall-notes.ts";
import { quotaReached } from "../settings/quota-reached.ts";
import { WallQuotaError, type OwnedHolder } from "./user-places.ts";
import { NoPlaceError } from "./wall-places.ts";
import { createWallKey, WallProcess } from "./wall-process.ts";
import { WallStart } from "./wall-start.ts";
import type { ConversationWallDeps } from "./walls-deps.ts";
import type { WalledHost, WallOrder } from "./wall.ts";

type Connected = { readonly remote: LateToolHost; readonly host: ToolHost };

const defaultIdleMs = 10 * 60_000;
/** A client that creates many conversations and uses none must not start as many walls. */
const maxStartedAhead = 2;

/** The wall of one conversation. */
export class ConversationWall implements WalledHost, OwnedHolder, AsyncDisposable {
  readonly catalogue: readonly string[];
  readonly stateDir: string;
  readonly homeDir: string;
  readonly #deps: ConversationWallDeps;
  readonly #process: WallProcess;
  readonly #key = createWallKey();
  readonly #start: WallStart;
  readonly #egress: WallEgress;
  readonly #group: WallGroup;
  #connected: Connected | null = null;
  #isClosed = false;
  /** The last start failed, and nobody waited for it. */
  #hasFailed = false;
  #resting: Promise<void> | undefined;
  #open = 0;
  /** Work that needs the process. */
  #running = 0;
  #usedAtMs = performance.now();
  readonly #notes: WallNotes;
  #idle: NodeJS.Timeout | undefined;

  constructor(deps: ConversationWallDeps) {
    this.#deps = deps;
    this.#egress = new WallEgress({ ...deps, folder: join(deps.root, "egress") });
    this.catalogue = deps.catalogue;
    this.stateDir = deps.state;
    this.homeDir = deps.home;
    this.#group = new WallGroup({ ...deps, name: groupOfProcess(`wall-${basename(deps.root)}`) });
    this.#notes = new WallNotes({
      ...deps,
      group: this.#group,
      takeHomeNote: () => deps.privateHomes.takeNote(basename(deps.home)),
    });
    this.#start = new WallStart({
      ...deps,
      run: this.#run,
      key: this.#key,
      egress: this.#egress,
      group: this.#group,
    });
    this.#process = new WallProcess({
      run: this.#run,
      launch: async () => {
        const counted = deps.userPlaces.take(this);
        if (counted !== null) await counted;
        await deps.places.take(this);
        return await this.#start.launch();
      },
      check: (launched) => this.#start.check(launched),
      onEnd: async () => {
        deps.startedAhead.delete(this);
        await this.#start.release();
        deps.places.release(this);
        deps.userPlaces.release(this);
      },
    });
    this.#restLater();
  }

  /** False for an order that needs another wall. */
  isFor(order: WallOrder, folder: string): boolean {
    const known = this.#deps.order;
    return (
      this.#deps.folder === folder &&
      known.ownerId === order.ownerId &&
      known.kind === order.kind &&
      isDeepStrictEqual(known.network, order.network) &&
      isDeepStrictEqual(known.limitedBy, order.limitedBy) &&
      isDeepStrictEqual(known.hide, order.hide) &&
      isDeepStrictEqual(known.unlocked, order.unlocked) &&
      isDeepStrictEqual(known.extraFolders, order.extraFolders) &&
      isDeepStrictEqual(known.copies, order.copies)
    );
  }

  get isRunning(): boolean {
    return this.#process.isRunning;
  }

  async openHost(): Promise<ToolHost> {
    clearTimeout(this.#idle);
    await this.#resting;
    try {
      return await this.#during(async () => {
        const { remote, host } = this.#connection();
        this.#deps.knownTools.learn(await remote.connected());
        this.#hasFailed = false;
        return host;
      });
    } catch (error) {
      throw toFault(error);
    } finally {
      if (this.#open === 0) this.#restLater();
    }
  }

  async openEarly(tools: readonly string[]): Promise<ToolHost> {
    if (!this.#deps.knownTools.isCertain(tools)) return await this.openHost();
    await this.#resting;
    try {
      const { host } = this.#connection();
      this.#startBeside();
      return host;
    } catch (error) {
      throw toFault(error);
    }
  }

  startAhead(): void {
    const { startedAhead } = this.#deps;
    if (this.isRunning || startedAhead.size >= maxStartedAhead) return;
    startedAhead.add(this);
    this.#startBeside();
  }

  async retryFailed(): Promise<void> {
    if (this.#hasFailed) await this.openHost();
  }

  #startBeside(): void {
    this.openHost().catch(() => (this.#hasFailed = true));
  }

  get ownerId(): string {
    return this.#deps.order.ownerId;
  }

  get isBusy(): boolean {
    return this.#running > 0;
  }

  get isOpen(): boolean {
    return this.#open > 0;
  }

  get usedAtMs(): number {
    return this.#usedAtMs;
  }

  /** Ends the process for another wall. It starts again at the next call of a session. */
  async yield(): Promise<void> {
    if (this.isOpen) this.#notes.addYielded();
    await this.#process.yield().catch((error: unknown) => {
      this.#deps.logger.warn({ error: describeError(error) }, "a wall could not be ended for another one");
    });
  }

  async adoptState(sessionId: string, from: string): Promise<void> {
    const to = join(this.stateDir, sessionId);
    if (!(await hasEarlierState({ from, to }))) return;
    // Its folders are made with the start.
    await this.openHost();
    await adoptState({ from, to, draftsDir: this.#deps.root }, await this.#start.account());
  }

  refusalsSince(mark: number): RefusalsSince {
    return this.#egress.way.refusalsSince(mark);
  }

  totals(): readonly HostTotals[] {
    return this.#egress.way.totals();
  }

  async beginCall(): Promise<() => Promise<string>> {
    return await this.#notes.beginCall();
  }

  /** Lets this conversation reach hosts, as far as the server's policy does. Throws a {@link Fault} that names a host which cannot be read. */
  grant(hosts: readonly string[]): void {
    this.#egress.way.grant(hosts);
  }

  async connectPort(port: number): Promise<Duplex> {
    return await connectForwardedPort(join(this.#run, "ports.sock"), port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#disconnect();
    await this.#process[Symbol.asyncDispose]();
    // It writes into the folder when secrets change, as they do when the conversation is deleted.
    await this.#egress.close();
    await rm(this.#deps.root, { recursive: true, force: true });
  }

  get #run(): string {
    return join(this.#deps.root, "run");
  }

  #connection(): Connected {
    // A start that was under way when it was closed must not connect again: the connection would restore itself for ever.
    if (this.#isClosed) throw new ToolHostUnreachableError("The wall is closed.");
    return (this.#connected ??= this.#connect());
  }

  #connect(): Connected {
    const remote = openToolHost({
      address: `unix:${join(this.#run, "host.sock")}`,
      key: this.#key,
      open: async () => {
        const [socket, begun] = await Promise.allSettled([
          this.#process.connect(),
          // No tool runs before this is done too.
          this.#deps.leftBehind.begin(),
        ]);
        if (socket.status === "rejected") throw socket.reason;
        if (begun.status === "fulfilled") return socket.value;
        socket.value.destroy();
        throw begun.reason;
      },
    });
    const host = new CountedHost(remote, {
      onChange: (open) => this.#onChange(open),
      run: (work) => this.#during(work),
      tools: this.#deps.knownTools,
    });
    return { remote, host };
  }

  async #during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#running += 1;
    try {
      await this.#process.start();
      return await work();
    } finally {
      this.#running -= 1;
      this.#usedAtMs = performance.now();
      this.#deps.places.changed();
      this.#deps.userPlaces.changed();
    }
  }

  #disconnect(): void {
    this.#connected?.remote.detach();
    this.#connected = null;
  }

  #onChange(open: number): void {
    this.#open = open;
    if (open > 0) this.#deps.startedAhead.delete(this);
    clearTimeout(this.#idle);
    if (open === 0) this.#restLater();
  }

  #restLater(): void {
    clearTimeout(this.#idle);
    const { idleMs = defaultIdleMs, logger } = this.#deps;
    this.#idle = setTimeout(() => {
      this.#resting = this.#rest().catch((error: unknown) => {
        logger.warn({ error: describeError(error) }, "an unused wall could not be ended");
      });
    }, idleMs).unref();
  }

  /** Ends everything until the next use. */
  async #rest(): Promise<void> {
    this.#disconnect();
    await this.#process.stop();
    await this.#egress.close();
    await rm(this.#deps.root, { recursive: true, force: true });
    this.#deps.onRest();
  }
}

function toFault(error: unknown): unknown {
  if (!(error instanceof ToolHostRefusedError || error instanceof ToolHostUnreachableError)) return error;
  const [message, options] = [error.message, { cause: error }];
  if (error.cause instanceof WallQuotaError) return quotaReached(error.cause.quota, options);
  return error.cause instanceof NoPlaceError
    ? new Fault("not-now", "walls_busy", message, [], options)
    : new Fault("not-now", "wall_failed", message, [], options);
}
