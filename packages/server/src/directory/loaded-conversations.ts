import { LeaseHeldError, type ConversationRow, type NewConversation } from "../journal/journal.ts";
import { ownBudget } from "../engine/budget.ts";
import { resumeOrSetAside } from "./sequential-recovery.ts";
import { Conversation } from "../engine/conversation.ts";
import type { SendInput } from "../engine/conversation-deps.ts";
import { ConversationLog, type LogDeps } from "../engine/conversation-log.ts";
import type { DirectoryDeps } from "./directory-deps.ts";
import type { ConversationConfig } from "../engine/conversation-config.ts";
import { configOf, readConfig } from "../engine/read-config.ts";
import {
  conversationClosing,
  conversationMissing,
  OwnedElsewhere,
  serverClosing,
} from "../engine/refusals.ts";
import type { ConversationSessions } from "../tools/conversation-sessions.ts";
import { ViewCache } from "../engine/view-cache.ts";
import { OwnerCache } from "./owner-cache.ts";
import { hasRunningTerminals } from "../tools/people/open-terminals.ts";
import { PersonShells } from "../tools/people/person-shells.ts";
import { NewConversations } from "./new-conversations.ts";
import type { ClaimedRun } from "./orphans.ts";
import { OwnedModels, type Account } from "./owned-models.ts";
import { OwnedRules } from "./owned-rules.ts";
import { OwnedTools } from "./owned-tools.ts";
import type { StoredSecrets } from "../engine/stored-secrets.ts";
import type { Watches } from "./watch.ts";

type LoadedDeps = DirectoryDeps & {
  readonly sessions: ConversationSessions;
  readonly storedSecrets: StoredSecrets;
  readonly watches: Pick<Watches, "hasListeners" | "signalsOf" | "tidy">;
};

/** `isLost`: this process no longer owns the claimed conversation. */
type Hold = { readonly ended: Promise<void>; isLost: boolean };

/** The actors in this process; at most one per conversation, and each holds its conversation's lease. */
export class LoadedConversations implements AsyncDisposable {
  readonly #deps: LoadedDeps;
  readonly #loaded = new Map<string, Promise<Conversation>>();
  readonly #owners = new Map<string, string>();
  /** Conversations that are being claimed in a batch. */
  readonly #held = new Map<string, Hold>();
  /** Conversations that are being deleted; they cannot be loaded. */
  readonly #barred = new Set<string>();
  readonly #viewCache = new ViewCache();
  /** User shells; each ends with its actor. */
  readonly #shells = new WeakMap<Conversation, PersonShells>();
  readonly #new: NewConversations;
  readonly #ownerNodes = new OwnerCache(() => performance.now());
  #isClosed = false;

  constructor(deps: LoadedDeps) {
    this.#deps = deps;
    this.#new = new NewConversations({
      ...deps,
      loader: {
        begin: (row, log) => this.#begin(row, log),
        stored: (row, begun) => {
          this.#loaded.set(row.id, begun);
          this.#owners.set(row.id, row.ownerId);
        },
        gone: (id) => deps.watches.tidy(id),
      },
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Refuses to load from now on. */
  refuse(): void {
    this.#isClosed = true;
  }

  has(id: string): boolean {
    return this.#loaded.has(id);
  }

  /** The user who owns it; undefined unless it is loaded. */
  ownerOf(id: string): string | undefined {
    return this.#owners.get(id);
  }

  /** Null unless it is loaded, or if loading failed: the caller that loads it gets the error. */
  async find(id: string): Promise<Conversation | null> {
    return (await this.#loaded.get(id)?.catch(() => null)) ?? null;
  }

  /** The user shells of a conversation in this process. */
  shellsOf(conversation: Conversation): PersonShells {
    return this.#shells.get(conversation)!;
  }

  /**
   * Delays opening of these conversations until the returned object is disposed; those with a claim are loaded from
   * it.
   */
  hold(ids: readonly string[]): Disposable {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    for (const id of ids) this.#held.set(id, { ended, isLost: false });
    return {
      [Symbol.dispose]: () => {
        for (const id of ids) this.#held.delete(id);
        resolve();
      },
    };
  }

  /** Loads it on demand; with `claimed`, it is neither claimed nor read again. */
  async open(id: string, claimed: ClaimedRun | null = null): Promise<Conversation> {
    const hold = this.#held.get(id);
    if (claimed === null) await hold?.ended;
    else if (hold?.isLost === true) throw new OwnedElsewhere(null);
    if (this.#isClosed) throw serverClosing();
    if (this.#barred.has(id) && !this.has(id)) throw conversationClosing();
    const holder = claimed === null && !this.has(id) ? this.#ownerNodes.get(id) : null;
    if (holder !== null) throw this.#ownedElsewhere(id, holder);
    const loaded = this.#loaded.get(id) ?? this.#load(id, claimed);
    this.#loaded.set(id, loaded);
    try {
      return await loaded;
    } catch (error) {
      if (this.#loaded.get(id) === loaded) this.forget(id);
      if (!(error instanceof LeaseHeldError)) throw error;
      if (error.holder !== null) this.#ownerNodes.set(id, error.holder);
      throw this.#ownedElsewhere(id, error.holder);
    }
  }

  #ownedElsewhere(id: string, holder: string | null): OwnedElsewhere {
    return new OwnedElsewhere(holder, () => this.#ownerNodes.delete(id));
  }

  /** See {@link NewConversations.create}; the conversation is loaded afterwards. */
  async create(row: NewConversation, first: SendInput): Promise<boolean> {
    if (this.#isClosed) throw serverClosing();
    return await this.#new.create(row, first);
  }

  /**
   * Rejects with {@link OwnedElsewhere} if another server owns the conversation, or lives on the machine that has
   * its files.
   */
  async requireFiles(id: string, config: ConversationConfig): Promise<void> {
    const { journal, cluster } = this.#deps;
    if (cluster === null || config.sandbox_id !== undefined || this.has(id)) return;
    const owner = (await journal.findPlace(id))?.owner ?? null;
    if (owner === null) await this.#requireNoOtherNode(id, config);
    else if (owner !== journal.nodeId) throw this.#ownedElsewhere(id, owner);
  }

  /** The owner of a conversation needs its files: if they are on another machine with a live server, that server owns it. */
  async #requireNoOtherNode(id: string, config: ConversationConfig): Promise<void> {
    const { journal, sessions } = this.#deps;
    if (config.sandbox_id !== undefined || (await sessions.canReachWorkspace(config))) return;
    const machineNode = (await journal.findPlace(id))?.machineNode ?? null;
    if (machineNode !== null && machineNode !== journal.nodeId) throw new OwnedElsewhere(machineNode);
  }

  /**
   * Prevents loading until the returned object is disposed, which drops the actor that was loaded before. An actor
   * created under the id meanwhile stays.
   */
  bar(id: string): Disposable {
    this.#barred.add(id);
    const last = this.#loaded.get(id);
    return {
      [Symbol.dispose]: () => {
        this.#barred.delete(id);
        if (this.#loaded.get(id) === last) this.forget(id);
      },
    };
  }

  /** Removes the actor from the index without ending it. */
  forget(id: string): void {
    this.#loaded.delete(id);
    this.#owners.delete(id);
    this.#deps.watches.tidy(id);
  }

  /** False while anything is in progress. */
  async areAtRest(): Promise<boolean> {
    if (!this.#new.isAtRest) return false;
    const loaded = await Promise.allSettled(this.#loaded.values());
    return loaded.every((result) => result.status === "rejected" || !result.value.isBusy);
  }

  /**
   * Evicts actors that were idle for `idleMs`, without background commands; they are loaded again on demand (P5).
   * Returns how many.
   */
  async evictIdle(idleMs: number): Promise<number> {
    let evicted = 0;
    const before = this.#deps.clock.nowMs() - idleMs;
    for (const [id, loading] of this.#loaded) {
      const conversation = await loading.catch(() => null);
      if (conversation === null || conversation.isBusy || conversation.queue.lastUsedMs > before) continue;
      if (this.#deps.watches.hasListeners(id) || (await this.#hasTerminals(conversation))) continue;
      // A client may have used it while the terminals were checked.
      if (
        conversation.isBusy ||
        conversation.queue.lastUsedMs > before ||
        this.#deps.watches.hasListeners(id)
      )
        continue;
      if (this.#loaded.get(id) !== loading) continue;
      this.forget(id);
      await conversation[Symbol.asyncDispose]();
      evicted += 1;
    }
    return evicted;
  }

  /** Drops the caches of idle conversations. */
  releaseMemory(): void {
    this.#viewCache.clear();
  }

  /** Removes and ends all actors, and drops pending claims: other processes own their logs now. */
  loseAll(): void {
    this.lose([...this.#loaded.keys(), ...this.#held.keys()]);
  }

  /** Removes and ends some actors: their logs have changed behind them. */
  lose(ids: readonly string[]): void {
    for (const id of ids) {
      const hold = this.#held.get(id);
      if (hold !== undefined) hold.isLost = true;
      if (this.#loaded.has(id)) void this.#drop(id);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.refuse();
    await this.#new[Symbol.asyncDispose]();
    const loaded = await Promise.allSettled(this.#loaded.values());
    await Promise.all(
      loaded.map(async (result) => {
        if (result.status === "rejected") return;
        const { value: conversation } = result;
        await (this.#deps.cluster !== null ? conversation.handOver() : conversation[Symbol.asyncDispose]());
      }),
    );
    this.#loaded.clear();
  }

  /** True while a user shell or a command in a terminal runs. */
  async #hasTerminals(conversation: Conversation): Promise<boolean> {
    return this.shellsOf(conversation).isAnyRunning || (await hasRunningTerminals(conversation));
  }

  async #load(id: string, claimed: ClaimedRun | null): Promise<Conversation> {
    const { clock, journal } = this.#deps;
    const { lease, row: stored } = claimed ?? (await this.#claim(id));
    const sealed = this.#deps.storedSecrets.sealOlder(stored);
    if (sealed !== null)
      await journal.append(lease, { expectedSeq: stored.lastSeq, events: [], conversation: sealed });
    const conversation = await this.#begin({ ...stored, ...sealed }, { clock, journal, lease });
    this.#owners.set(id, stored.ownerId);
    return conversation;
  }

  async #claim(id: string): Promise<ClaimedRun> {
    const { journal } = this.#deps;
    const stored = await journal.getConversation(id);
    if (stored === null) throw conversationMissing(id);
    const config = readConfig(stored);
    if (config !== null) await this.#requireNoOtherNode(id, config);
    const lease = await journal.claim(id);
    const row = await journal.getConversation(id);
    if (row === null) throw conversationMissing(id);
    return { lease, row };
  }

  async #begin(row: ConversationRow, log: LogDeps): Promise<Conversation> {
    const { clock, sessions, storedSecrets, watches } = this.#deps;
    const { id, ownerId } = row;
    const shells = new PersonShells({ sessions, ownerId, clock });
    const account: Account = {
      userId: ownerId,
      conversationId: id,
      conversation: () => ownBudget(conversation.configuration.config, conversation.state),
    };
    const config = configOf(row);
    const wallOf = config.sandbox_id ?? config.wall_of?.conversation_id ?? id;
    const secretsPlace = { conversationId: id, wallOf };
    const conversation: Conversation = new Conversation({
      ...this.#deps,
      id,
      title: row.title,
      config,
      boundSecrets: { set: (secrets) => this.#deps.boundSecrets.set(secretsPlace, secrets) },
      secrets: storedSecrets.unseal(row),
      signals: watches.signalsOf(id),
      log: await ConversationLog.open(log, row),
      viewCache: this.#viewCache,
      models: new OwnedModels(this.#deps, account),
      tools: new OwnedTools(this.#deps, { id, ownerId, lease: log.lease }),
      people: shells,
      rules: new OwnedRules(this.#deps, ownerId),
      budget: { refusal: () => this.#deps.budgetGuard.refusal(account) },
      holder: { lost: () => void this.#drop(id, conversation) },
      fetch: this.#deps.mcp.fetch,
    });
    this.#shells.set(conversation, shells);
    // Before any command: settle what the last process left in progress.
    resumeOrSetAside(conversation, { ...this.#deps, id }).catch((error: unknown) => {
      this.#deps.logger.warn({ conversation: id, error: String(error) }, "work could not be resumed");
    });
    return conversation;
  }

  /** Removes and ends an actor; another process or a newer actor owns its log. */
  async #drop(id: string, lost?: Conversation): Promise<void> {
    const dropped = this.#loaded.get(id);
    // An actor of a conversation that is being deleted stays.
    if (lost === undefined) this.forget(id);
    try {
      const conversation = await dropped;
      if (lost !== undefined && conversation === lost && this.#loaded.get(id) === dropped) this.forget(id);
      await (lost ?? conversation)?.lose();
    } catch (error) {
      this.#deps.logger.warn(
        { conversation: id, error: String(error) },
        "a lost conversation could not be closed",
      );
    }
  }
}
