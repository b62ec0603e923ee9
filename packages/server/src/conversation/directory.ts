import { rm } from "node:fs/promises";
import type { ToolHost } from "@convoke/tool-host";
import {
  DamagedEventError,
  noMarks,
  type ConversationMarks,
  type ConversationQuery,
  type ConversationRow,
  type GlanceQuery,
  type LogHead,
} from "../journal/journal.ts";
import { Fault, invalidField } from "../lib/fault.ts";
import { createMask } from "../security/mask.ts";
import { isSlipOf } from "../agent/slip-of.ts";
import { missingTools } from "../agent/tool-specs.ts";
import { listTasks } from "./tasks/task-ids.ts";
import { TaskWorktrees } from "./tasks/task-worktrees.ts";
import { ConversationSessions } from "./sessions/conversation-sessions.ts";
import { ConversationWorktrees } from "./sessions/conversation-worktrees.ts";
import { StoredSecrets } from "./sessions/stored-secrets.ts";
import type { Conversation } from "./conversation.ts";
import type { ConversationConfig } from "./conversation-config.ts";
import type { SendInput } from "./conversation-deps.ts";
import { secretValues, sparedTexts } from "./secret-values.ts";
import type { Asker, CreateInput } from "./create-input.ts";
import type { ForwardedSignal } from "./signals.ts";
import { Watches, type Watch } from "./watch.ts";
import type { DirectoryDeps } from "./directory-deps.ts";
import { LoadedConversations } from "./loaded-conversations.ts";
import { fullStateFrame, type Described } from "./state/describe.ts";
import { initialState } from "./state/conversation-state.ts";
import { standingFrame } from "./state/standing.ts";
import { forkConversation, type ForkInput } from "./commands/fork.ts";
import { FoldedStates } from "./state/folded-states.ts";
import { CarefulRecovery } from "./careful-recovery.ts";
import { Orphans, type Claimed, type Look } from "./orphans.ts";
import { configOf, readConfig, unreadableConfig } from "./read-config.ts";
import {
  conversationDamaged,
  conversationMissing,
  OwnedElsewhere,
  secretsUnreadable,
  serverClosing,
} from "./refusals.ts";

export type { Asker, CreateInput } from "./create-input.ts";
export type { DirectoryDeps } from "./directory-deps.ts";

/** All conversations of this node: the loaded actors, and the stored rest. One actor per conversation at most. */
export class Directory implements AsyncDisposable {
  readonly #deps: DirectoryDeps;
  readonly #loaded: LoadedConversations;
  readonly #folded: FoldedStates;
  readonly #watches: Watches;
  readonly #deleting = new Map<string, Promise<void>>();
  readonly #orphans: Orphans;
  readonly #careful: CarefulRecovery | null;
  readonly #sessions: ConversationSessions;
  readonly #secrets: StoredSecrets;
  readonly #worktrees: ConversationWorktrees;

  constructor(deps: DirectoryDeps) {
    this.#deps = deps;
    this.#folded = new FoldedStates(deps.journal, ({ conversationId, seq }) => {
      deps.logger.warn({ conversation: conversationId, seq }, "an event is damaged");
    });
    const { journal, findModel = async () => null } = deps;
    const children = { directory: this, journal, findModel, worktrees: new TaskWorktrees() };
    this.#sessions = new ConversationSessions({ ...deps, children });
    this.#secrets = new StoredSecrets(deps);
    const workspaceDir = (config: ConversationConfig): string => this.#sessions.workspaceDir(config);
    this.#worktrees = new ConversationWorktrees({ ...deps, workspaceDir });
    this.#watches = new Watches({
      journal,
      isLoaded: (id) => this.#loaded.has(id),
      fullStateFrame: (userId, id) => this.#fullStateFrame({ userId }, id),
      standingFrame: (userId, id) => this.#standingFrame({ userId }, id),
      onFailure: (id, error) =>
        deps.logger.error(
          { conversation: id, error: String(error) },
          "a conversation could not be looked up",
        ),
    });
    this.#loaded = new LoadedConversations({
      ...deps,
      sessions: this.#sessions,
      storedSecrets: this.#secrets,
      watches: this.#watches,
    });
    const { standstills, nowMs } = deps;
    this.#careful =
      standstills === undefined
        ? null
        : new CarefulRecovery({
            standstills,
            goOnWith: (id) => this.#goOnWith(id),
            isRunning: async (id) => (await journal.getConversation(id))?.executionStatus === "running",
            nowMs,
          });
    this.#orphans = new Orphans({
      journal: deps.journal,
      isOurs: (id) => this.#loaded.isClosed || this.#loaded.has(id) || this.#careful?.isWaiting(id) === true,
      canHost: (row) => this.#canHost(row),
      hasFiles: async (row) => {
        const config = readConfig(row);
        return (
          config !== null && (row.sandboxId !== null || (await this.#sessions.canReachWorkspace(config)))
        );
      },
      hold: (ids) => this.#loaded.hold(ids),
      goOnWith: (id, claimed) => this.#goOnWith(id, claimed),
      onFailure: (error) => deps.logger.error({ error: String(error) }, "runs could not be taken up"),
    });
  }

  /** Null when the id is taken; then nothing has changed. A message that it begins with is sent, and durable in the same commit. */
  async create(asker: Asker, input: CreateInput, first: SendInput | null = null): Promise<Described | null> {
    const { toolHost, stateDir } = await this.#deps.chooseHost(input.config, asker.userId);
    checkTools(toolHost, input.config);
    const config = await this.#worktrees.prepare(input, { toolHost, stateDir });
    if (stateDir === null) await this.#sessions.makeWorkspace(config);
    const nowMicros = this.#deps.nowMs() * 1000;
    const row = {
      id: input.id,
      ownerId: asker.userId,
      title: input.title,
      createdAtMicros: nowMicros,
      updatedAtMicros: nowMicros,
      executionStatus: "idle",
      isActive: false,
      isCopying: false,
      sandboxId: config.sandbox_id ?? null,
      parentId: config.parent?.conversation_id ?? null,
      host: null,
      config: JSON.stringify(config),
      sealedSecrets: this.#deps.secretBox.seal(JSON.stringify(input.secrets)),
      snapshot: null,
      snapshotSeq: 0,
    };
    const isNew = await (first === null
      ? this.#deps.journal.createConversation(row)
      : this.#loaded.create(row, first));
    if (!isNew) return null;
    if (input.secrets.mcp !== undefined) this.#prepare(input.id);
    const { lastMicros } = (await this.#loaded.find(input.id))?.state ?? initialState();
    const updatedAtMicros = Math.max(nowMicros, lastMicros);
    return await this.#describeRow({ ...row, updatedAtMicros, lastSeq: 0, marks: noMarks });
  }

  /** The asker's conversation as an actor, loaded when it is not in memory. */
  async open(asker: Asker, id: string): Promise<Conversation> {
    if (this.#loaded.isClosed) throw serverClosing();
    if (!(await this.exists(asker, id))) throw conversationMissing(id);
    return await this.#loaded.open(id);
  }

  /** The asker's conversation for reading along, without its lease and without its actor. */
  async watch(asker: Asker, id: string): Promise<Watch> {
    if (!(await this.exists(asker, id))) throw conversationMissing(id);
    return this.#watches.open(asker.userId, id);
  }

  /** See {@link Watches.forward}. */
  forward(id: string, onForward: (signal: ForwardedSignal) => void): () => void {
    return this.#watches.forward(id, onForward);
  }

  /** See {@link Watches.tell}. */
  tell(id: string, signal: ForwardedSignal, atSeq: number | null): void {
    this.#watches.tell(id, signal, atSeq);
  }

  /** Whether the asker has such a conversation. */
  async exists(asker: Asker, id: string): Promise<boolean> {
    const owner = this.#loaded.ownerOf(id);
    if (owner !== undefined) return owner === asker.userId;
    return (await this.#deps.journal.ownerOf(id)) === asker.userId;
  }

  /** Where the asker's conversation ends; null when the asker has none with this id. At once where the store knows at once. */
  head(asker: Asker, id: string): Promise<LogHead | null> | LogHead | null {
    const check = (head: LogHead | null): LogHead | null =>
      (this.#loaded.ownerOf(id) ?? head?.ownerId) === asker.userId ? head : null;
    const head = this.#deps.journal.head(id);
    return head instanceof Promise ? head.then(check) : check(head);
  }

  /** What clients read about a conversation; works without its lease. Null when the asker has none with this id. */
  async describe(asker: Asker, id: string): Promise<Described | null> {
    const [described] = await this.describeMany(asker, [id]);
    return described ?? null;
  }

  async describeMany(asker: Asker, ids: readonly string[]): Promise<(Described | null)[]> {
    const rows = await this.#deps.journal.getConversations(ids);
    return await Promise.all(
      rows.map(async (row) => (isOwnedBy(asker, row) ? await this.#describeRow(row) : null)),
    );
  }

  async search(
    asker: Asker,
    query: Omit<ConversationQuery, "ownerId">,
  ): Promise<{ items: Described[]; nextPageId: string | null }> {
    const page = await this.#deps.journal.searchConversations({ ...query, ownerId: asker.userId });
    return {
      items: await Promise.all(page.items.map((row) => this.#describeRow(row))),
      nextPageId: page.nextPageId,
    };
  }

  /** The asker's conversations that pass a filter, the last changed first. */
  async glances(
    asker: Asker,
    query: Omit<GlanceQuery, "ownerId">,
  ): Promise<{ items: Described[]; nextPageId: string | null }> {
    const page = await this.#deps.journal.searchGlances({ ...query, ownerId: asker.userId });
    const items = await Promise.all(page.items.map((row) => this.#describeRow(row)));
    return { items, nextPageId: page.nextPageId };
  }

  /** Those of the given conversations that are there, whoever's they are. */
  async describeAll(ids: readonly string[]): Promise<{ ownerId: string; described: Described }[]> {
    const rows = await this.#deps.journal.getConversations(ids);
    const found = rows.filter((row) => row !== null).filter((row) => !row.isCopying);
    return await Promise.all(
      found.map(async (row) => ({ ownerId: row.ownerId, described: await this.#describeRow(row) })),
    );
  }

  /** Keeps what the asker wants to know of a conversation later; no lease is needed. */
  async mark(asker: Asker, id: string, marks: Partial<ConversationMarks>): Promise<void> {
    const isThere = (await this.exists(asker, id)) && (await this.#deps.journal.markConversation(id, marks));
    if (!isThere) throw conversationMissing(id);
  }

  async count(asker: Asker, executionStatus?: string, sandboxId?: string): Promise<number> {
    return await this.#deps.journal.countConversations({
      ownerId: asker.userId,
      ...(executionStatus === undefined ? {} : { executionStatus }),
      ...(sandboxId === undefined ? {} : { sandboxId }),
    });
  }

  /** Whether the conversation is in the memory of this process. */
  isLoaded(id: string): boolean {
    return this.#loaded.has(id);
  }

  /** See {@link LoadedConversations.requireFiles}. */
  async requireFiles(id: string, config: ConversationConfig): Promise<void> {
    await this.#loaded.requireFiles(id, config);
  }

  /** Copies the asker's conversation, see {@link forkConversation}; false when the new id is taken. */
  async fork(asker: Asker, sourceId: string, input: ForkInput): Promise<boolean> {
    const row = await this.#deps.journal.getConversation(sourceId);
    if (!isOwnedBy(asker, row)) throw conversationMissing(sourceId);
    return await forkConversation(this.#deps, { ...row, ...this.#secrets.sealOlder(row) }, input);
  }

  /** Stops the work, then removes the log and the private folder; the workspace stays. Asked twice at once, it is done once. */
  async delete(asker: Asker, id: string): Promise<void> {
    if (!(await this.exists(asker, id))) throw conversationMissing(id);
    const deleting = this.#deleting.get(id) ?? this.#delete(id).finally(() => this.#deleting.delete(id));
    this.#deleting.set(id, deleting);
    await deleting;
  }

  /** Goes on with every run that the last process left; call once after start. Resolves when all have been taken up, but for those that are gone on with one after another. */
  async recover(): Promise<void> {
    if (this.#deps.isAttended === true) return;
    const { standstills } = this.#deps;
    const suspects = await this.#orphans.takeUpAll(
      (id) => standstills?.isSuspect(id) === true && !standstills.isSetAside(id),
    );
    this.#careful?.begin(suspects);
  }

  /** Goes on with runs of other servers on the same store that have ended since; call now and then. */
  async takeUp(look?: Look): Promise<void> {
    if (this.#deps.isAttended === true) return;
    await this.#orphans.takeUp(look);
    await this.#careful?.absolve();
  }

  async #canHost(row: ConversationRow): Promise<boolean> {
    try {
      const config = configOf(row);
      const { stateDir } = await this.#deps.chooseHost(config, row.ownerId);
      return stateDir !== null || (await this.#sessions.canReachWorkspace(config));
    } catch {
      // Whoever asks for the conversation is told why; the server that can host it goes on with it.
      return false;
    }
  }

  async #goOnWith(id: string, claimed: Claimed | null = null): Promise<void> {
    const { journal } = this.#deps;
    try {
      const row = claimed?.row ?? (await journal.getConversation(id));
      // A fork whose copying the last process did not bring to its end.
      if (row?.isCopying === true)
        await journal.deleteConversation(claimed?.lease ?? (await journal.claim(id)));
      else await this.#loaded.open(id, claimed);
    } catch (error) {
      // Whoever works on it goes on with it.
      if (error instanceof OwnedElsewhere) return;
      this.#deps.logger.warn({ conversation: id, error: String(error) }, "run could not be resumed");
    }
  }

  /** Ends every actor: the store has given their conversations to others. Does it behind the call. */
  loseAll(): void {
    this.#loaded.loseAll();
  }

  /** The store has gone back, with less in the logs of some conversations than their actors know: these end, and are loaded anew. */
  onSetBack(ids: readonly string[]): void {
    this.#folded.clear();
    this.#loaded.lose(ids);
  }

  /** False while anything is in progress. */
  async isAtRest(): Promise<boolean> {
    return await this.#loaded.areAtRest();
  }

  /** The private folder of a conversation on this machine, which goes with it. */
  stateDir(id: string): string {
    return this.#sessions.stateDir(id);
  }

  /** Drops actors that nobody used for `idleMs` and that do nothing; they are loaded again on demand (P5). How many it were. */
  async evictIdle(idleMs: number): Promise<number> {
    return await this.#loaded.evictIdle(idleMs);
  }

  /** Gives back what is kept of conversations that nothing works on. */
  releaseMemory(): void {
    this.#loaded.releaseMemory();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#loaded.refuse();
    await this.#careful?.[Symbol.asyncDispose]();
    await this.#loaded[Symbol.asyncDispose]();
  }

  /** The closed actor stays in its place until the row is gone, so that nobody loads the conversation again meanwhile. */
  async #delete(id: string): Promise<void> {
    const row = await this.#deps.journal.getConversation(id);
    const conversation = await this.#loaded.open(id).catch((error: unknown) => {
      if (isBeyondRepair(error)) return null;
      throw error;
    });
    await conversation?.[Symbol.asyncDispose]();
    await this.#deleteTasks(id);
    try {
      const lease = await this.#deps.journal.claim(id);
      await this.#deps.beforeDelete?.(id);
      await this.#deps.journal.deleteConversation(lease);
    } finally {
      this.#loaded.forget(id);
    }
    this.#watches.end(id);
    // Another process may still put something into a folder that is just being emptied: then it is looked at again.
    await rm(this.#sessions.stateDir(id), { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
    if (row !== null) await this.#worktrees.release(row.ownerId, readConfig(row));
  }

  /** What its sub-agents did goes with it. */
  async #deleteTasks(id: string): Promise<void> {
    const row = await this.#deps.journal.getConversation(id);
    if (row === null) return;
    for (const taskId of await listTasks(this.#deps.journal, row)) {
      try {
        await this.delete({ userId: row.ownerId }, taskId);
      } catch (error) {
        if (!(error instanceof Fault && error.code === conversationMissing(taskId).code)) throw error;
      }
    }
  }

  /** Its servers are on their way while its user still writes; a failure is met again, and told, by whoever uses it. */
  #prepare(id: string): void {
    this.#loaded
      .open(id)
      .then((conversation) => conversation.prepare())
      .catch((error: unknown) => {
        this.#deps.logger.warn({ conversation: id, error: String(error) }, "tools could not be prepared");
      });
  }

  /** The asker's actor, where it is in this process. */
  async #actorOf(asker: Asker, id: string): Promise<Conversation | null> {
    return this.#loaded.ownerOf(id) === asker.userId ? await this.#loaded.find(id) : null;
  }

  async #standingFrame(asker: Asker, id: string): Promise<string | null> {
    const actor = await this.#actorOf(asker, id);
    if (actor) return actor.standingFrame();
    const described = await this.describe(asker, id);
    return described === null ? null : standingFrame(described.state, 0);
  }

  async #fullStateFrame(asker: Asker, id: string): Promise<string | null> {
    const actor = await this.#actorOf(asker, id);
    if (actor) return actor.fullStateFrame();
    const described = await this.describe(asker, id);
    if (described === null) return null;
    const { config, secrets, state } = described;
    const mask = createMask(secretValues(secrets), sparedTexts(config));
    return mask(fullStateFrame(config, secrets, state, id, this.#deps.nowMs()));
  }

  async #describeRow(row: ConversationRow): Promise<Described> {
    const actor = await this.#loaded.find(row.id);
    return {
      id: row.id,
      title: row.title,
      createdAtMicros: row.createdAtMicros,
      updatedAtMicros: row.updatedAtMicros,
      marks: row.marks,
      persistenceDir: this.#sessions.stateDir(row.id),
      config: actor?.config ?? readConfig(row) ?? unreadableConfig,
      secrets: actor?.secrets ?? this.#secrets.forShow(row),
      state: actor?.state ?? (await this.#folded.of(row)),
    };
  }
}

/** A fork is nobody's before it is whole. */
function isOwnedBy(asker: Asker, row: ConversationRow | null): row is ConversationRow {
  return row?.ownerId === asker.userId && !row.isCopying;
}

/** What keeps a conversation from being worked with, and not from being deleted. */
function isBeyondRepair(error: unknown): boolean {
  const codes = [conversationDamaged("").code, secretsUnreadable("").code];
  return error instanceof DamagedEventError || (error instanceof Fault && codes.includes(error.code));
}

/** A tool of a newer client is left out, and told in the log; a slip of the keyboard is not what anybody wants. */
function checkTools({ catalogue }: ToolHost, config: ConversationConfig): void {
  for (const name of missingTools(config.agent, catalogue)) {
    const meant = catalogue.find((known) => isSlipOf(name, known));
    if (meant === undefined) continue;
    const available = `Available tools: ${catalogue.join(", ")}.`;
    throw invalidField(
      ["body", "agent", "tools"],
      `There is no tool "${name}". Did you mean "${meant}"? ${available}`,
    );
  }
}
