import { rm } from "node:fs/promises";
import type { Validator } from "@convoke/protocol/validate";
import type { ToolHost } from "@convoke/tool-host";
import {
  DamagedEventError,
  LeaseHeldError,
  type ConversationQuery,
  type ConversationRow,
  type Journal,
} from "../journal/journal.ts";
import type { Activity } from "../lib/watchdog.ts";
import { Fault, invalidField } from "../lib/fault.ts";
import { createMask } from "../security/mask.ts";
import type { SecretBox } from "../security/seal.ts";
import { isSlipOf } from "../agent/slip-of.ts";
import { missingTools } from "../agent/tool-specs.ts";
import type { SubConversationDeps } from "./tasks/sub-conversation.ts";
import { listTasks } from "./tasks/task-ids.ts";
import { ownBudget } from "./budget.ts";
import { ConversationSessions, type SessionsDeps } from "./sessions/conversation-sessions.ts";
import { ConversationWorktrees } from "./sessions/conversation-worktrees.ts";
import { StoredSecrets } from "./sessions/stored-secrets.ts";
import { Conversation } from "./conversation.ts";
import type { ConversationConfig } from "./conversation-config.ts";
import { secretValues, sparedTexts } from "./secret-values.ts";
import type { Asker, CreateInput } from "./create-input.ts";
import { Watches, type Watch } from "./watch.ts";
import { ConversationLog } from "./conversation-log.ts";
import { fullStateFrame, type Described } from "./state/describe.ts";
import { forkConversation, type ForkInput } from "./commands/fork.ts";
import { FoldedStates } from "./state/folded-states.ts";
import { CarefulRecovery, goOnOrSetAside } from "./careful-recovery.ts";
import type { Standstills } from "./standstills.ts";
import { Orphans } from "./orphans.ts";
import { openHooks } from "./sessions/open-hooks.ts";
import { meteredModel } from "../spending/metered-model.ts";
import type { Purse } from "../spending/purse.ts";
import { configOf, readConfig, unreadableConfig } from "./read-config.ts";
import {
  conversationDamaged,
  conversationMissing,
  ownedElsewhere,
  secretsUnreadable,
  serverClosing,
} from "./refusals.ts";

export type { Asker, CreateInput } from "./create-input.ts";

export type DirectoryDeps = Omit<SessionsDeps, "children"> & {
  /** Finds models that a user has stored, for sub-agents that name one; there are none without it. */
  readonly findModel?: SubConversationDeps["findModel"];
  readonly journal: Journal;
  readonly secretBox: SecretBox;
  /** The server's own keys, which no conversation shows. */
  readonly serverKeys?: readonly string[];
  readonly validator: Validator;
  /** Lets every model call in and books it; there are no budgets without it. */
  readonly purse?: Purse;
  /** This process is there for the runs that it begins: they do not go on without it, and it goes on with nobody else's (P64). */
  readonly isAttended?: true;
  /** What was at work when earlier processes came to a standstill. */
  readonly standstills?: Standstills;
  readonly activity?: Activity;
  readonly nowMs: () => number;
  /** Called before a conversation is removed, so that a crash right after it forgets nobody who must be told. */
  readonly beforeDelete?: (id: string) => Promise<void>;
};

/** All conversations of this node: the loaded actors, and the stored rest. One actor per conversation at most. */
export class Directory implements AsyncDisposable {
  readonly #deps: DirectoryDeps;
  readonly #loaded = new Map<string, Promise<Conversation>>();
  readonly #folded: FoldedStates;
  readonly #watches: Watches;
  readonly #deleting = new Map<string, Promise<void>>();
  /** Of the loaded ones. */
  readonly #owners = new Map<string, string>();
  readonly #orphans: Orphans;
  readonly #careful: CarefulRecovery | null;
  readonly #sessions: ConversationSessions;
  readonly #secrets: StoredSecrets;
  readonly #worktrees: ConversationWorktrees;
  #isClosed = false;

  constructor(deps: DirectoryDeps) {
    this.#deps = deps;
    this.#folded = new FoldedStates(deps.journal, ({ conversationId, seq }) => {
      deps.logger.warn({ conversation: conversationId, seq }, "an event is damaged");
    });
    const { journal, findModel = async () => null } = deps;
    this.#sessions = new ConversationSessions({ ...deps, children: { directory: this, journal, findModel } });
    this.#secrets = new StoredSecrets(deps);
    const workspaceDir = (config: ConversationConfig): string => this.#sessions.workspaceDir(config);
    this.#worktrees = new ConversationWorktrees({ ...deps, workspaceDir });
    this.#watches = new Watches({
      journal,
      isLoaded: (id) => this.#loaded.has(id),
      fullStateFrame: (userId, id) => this.#fullStateFrame({ userId }, id),
      onFailure: (id, error) =>
        deps.logger.error(
          { conversation: id, error: String(error) },
          "a conversation could not be looked up",
        ),
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
      isOurs: (id) => this.#isClosed || this.#loaded.has(id) || this.#careful?.isWaiting(id) === true,
      canHost: (id) => this.#canHost(id),
      goOnWith: (id) => this.#goOnWith(id),
    });
  }

  /** False when the id is taken; then nothing has changed. */
  async create(asker: Asker, input: CreateInput): Promise<boolean> {
    const { toolHost, stateDir } = await this.#deps.chooseHost(input.config, asker.userId);
    checkTools(toolHost, input.config);
    const config = await this.#worktrees.prepare(input, { toolHost, stateDir });
    if (stateDir === null) await this.#sessions.makeWorkspace(config);
    const nowMicros = this.#deps.nowMs() * 1000;
    const isNew = await this.#deps.journal.createConversation({
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
    });
    if (isNew && input.secrets.mcp !== undefined) this.#prepare(input.id);
    return isNew;
  }

  /** The asker's conversation as an actor, loaded when it is not in memory. */
  async open(asker: Asker, id: string): Promise<Conversation> {
    if (this.#isClosed) throw serverClosing();
    if (!(await this.exists(asker, id))) throw conversationMissing(id);
    return await this.#open(id);
  }

  /** The asker's conversation for reading along, without its lease and without its actor. */
  async watch(asker: Asker, id: string): Promise<Watch> {
    if (!(await this.exists(asker, id))) throw conversationMissing(id);
    return this.#watches.open(asker.userId, id);
  }

  /** Whether the asker has such a conversation. */
  async exists(asker: Asker, id: string): Promise<boolean> {
    const owner = this.#owners.get(id);
    if (owner !== undefined) return owner === asker.userId;
    return isOwnedBy(asker, await this.#deps.journal.getConversation(id));
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
    const { journal, standstills } = this.#deps;
    const suspects: string[] = [];
    for (const id of await journal.listActiveConversations()) {
      if (standstills?.isSuspect(id) === true && !standstills.isSetAside(id)) suspects.push(id);
      else await this.#goOnWith(id);
    }
    this.#careful?.begin(suspects);
  }

  /** Goes on with runs of other servers on the same store that have ended since; call now and then. */
  async takeUp(): Promise<void> {
    if (this.#deps.isAttended === true) return;
    await this.#orphans.takeUp();
    await this.#careful?.absolve();
  }

  async #canHost(id: string): Promise<boolean> {
    const row = await this.#deps.journal.getConversation(id);
    if (row === null) return false;
    try {
      await this.#deps.chooseHost(configOf(row), row.ownerId);
      return true;
    } catch {
      // Whoever asks for the conversation is told why; the server that can host it goes on with it.
      return false;
    }
  }

  async #goOnWith(id: string): Promise<void> {
    try {
      if (!(await this.#removeUnfinished(id))) await this.#open(id);
    } catch (error) {
      this.#deps.logger.warn({ conversation: id, error: String(error) }, "run could not be resumed");
    }
  }

  /** Removes a fork whose copying the last process did not bring to its end; false when this is none. */
  async #removeUnfinished(id: string): Promise<boolean> {
    const { journal } = this.#deps;
    const row = await journal.getConversation(id);
    if (row?.isCopying !== true) return false;
    await journal.deleteConversation(await journal.claim(id));
    return true;
  }

  /** False while anything is in progress. */
  async isAtRest(): Promise<boolean> {
    const loaded = await Promise.allSettled(this.#loaded.values());
    return loaded.every((result) => result.status === "rejected" || !result.value.isBusy);
  }

  /** Drops actors that nobody used for `idleMs` and that do nothing; they are loaded again on demand (P5). How many it were. */
  async evictIdle(idleMs: number): Promise<number> {
    let evicted = 0;
    const before = this.#deps.nowMs() - idleMs;
    for (const [id, loading] of this.#loaded) {
      const conversation = await loading.catch(() => null);
      if (conversation === null || conversation.isBusy || conversation.lastUsedMs > before) continue;
      if (this.#watches.isHeard(id)) continue;
      this.#forget(id);
      await conversation[Symbol.asyncDispose]();
      evicted += 1;
    }
    return evicted;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#careful?.[Symbol.asyncDispose]();
    const loaded = await Promise.allSettled(this.#loaded.values());
    await Promise.all(
      loaded.map(async (result) => {
        if (result.status === "fulfilled") await result.value[Symbol.asyncDispose]();
      }),
    );
    this.#loaded.clear();
  }

  /** The closed actor stays in its place until the row is gone, so that nobody loads the conversation again meanwhile. */
  async #delete(id: string): Promise<void> {
    const row = await this.#deps.journal.getConversation(id);
    const conversation = await this.#open(id).catch((error: unknown) => {
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
      this.#forget(id);
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

  async #open(id: string): Promise<Conversation> {
    if (this.#isClosed) throw serverClosing();
    const loaded = this.#loaded.get(id) ?? this.#load(id);
    this.#loaded.set(id, loaded);
    try {
      return await loaded;
    } catch (error) {
      if (this.#loaded.get(id) === loaded) this.#forget(id);
      throw error instanceof LeaseHeldError ? ownedElsewhere() : error;
    }
  }

  /** Its servers are on their way while its user still writes; a failure is met again, and told, by whoever uses it. */
  #prepare(id: string): void {
    this.#open(id)
      .then((conversation) => conversation.prepare())
      .catch((error: unknown) => {
        this.#deps.logger.warn({ conversation: id, error: String(error) }, "tools could not be prepared");
      });
  }

  #forget(id: string): void {
    this.#loaded.delete(id);
    this.#owners.delete(id);
    this.#watches.tidy(id);
  }

  async #load(id: string): Promise<Conversation> {
    const { journal, secretBox, nowMs, logger, observer, activity } = this.#deps;
    if ((await journal.getConversation(id)) === null) throw conversationMissing(id);
    const lease = await journal.claim(id);
    const stored = await journal.getConversation(id);
    if (stored === null) throw conversationMissing(id);
    const sealed = this.#secrets.sealOlder(stored);
    if (sealed !== null)
      await journal.append(lease, { expectedSeq: stored.lastSeq, events: [], conversation: sealed });
    const row = { ...stored, ...sealed };
    const { purse } = this.#deps;
    const account = {
      userId: row.ownerId,
      conversationId: id,
      conversation: () => ownBudget(conversation.config, conversation.state),
    };
    const conversation: Conversation = new Conversation({
      id,
      journal,
      signals: this.#watches.signalsOf(id),
      log: await ConversationLog.open({ journal, lease, nowMs }, row),
      config: configOf(row),
      secrets: this.#secrets.unseal(row),
      secretBox,
      validator: this.#deps.validator,
      openModel: (config, secrets) => {
        const model = this.#deps.openModel(config, secrets, row.ownerId);
        return purse === undefined ? model : meteredModel(model, config.agent.llm, { purse, ...account });
      },
      overBudget: () => purse?.refusal(account) ?? null,
      findModel: async (name) => (await this.#deps.findModel?.(row.ownerId, name)) ?? null,
      openSession: (config, context) => this.#sessions.open({ id, ownerId: row.ownerId }, config, context),
      workspaceDir: (config) => this.#sessions.workspaceDir(config),
      openHooks: (config, deps) =>
        openHooks(config, {
          ...deps,
          conversationId: id,
          workingDir:
            config.sandbox_id === undefined
              ? this.#sessions.workspaceDir(config)
              : config.workspace.working_dir,
          toolHost: async () => (await this.#deps.chooseHost(config, row.ownerId)).toolHost,
        }),
      onLost: () => void this.#drop(id),
      ...(this.#deps.isAttended === true ? { isAttended: true } : {}),
      fetch: this.#deps.mcp.fetch,
      nowMs,
      logger,
      ...(observer === undefined ? {} : { observer }),
      ...(activity === undefined ? {} : { activity }),
    });
    this.#owners.set(id, row.ownerId);
    // Ahead of every command: what the last process left in progress is settled first.
    goOnOrSetAside(conversation, { ...this.#deps, id }).catch((error: unknown) => {
      logger.warn({ conversation: id, error: String(error) }, "work could not be resumed");
    });
    return conversation;
  }

  async #fullStateFrame(asker: Asker, id: string): Promise<string | null> {
    const isOurs = this.#owners.get(id) === asker.userId;
    const actor = isOurs ? await this.#loaded.get(id)?.catch(() => null) : null;
    if (actor) return actor.fullStateFrame();
    const described = await this.describe(asker, id);
    if (described === null) return null;
    const { config, secrets, state } = described;
    const mask = createMask(secretValues(secrets), sparedTexts(config));
    return mask(fullStateFrame(config, secrets, state, id, this.#deps.nowMs()));
  }

  /** Takes an actor out and ends it; its log belongs to another process now. */
  async #drop(id: string): Promise<void> {
    const dropped = this.#loaded.get(id);
    this.#forget(id);
    try {
      const conversation = await dropped;
      await conversation?.[Symbol.asyncDispose]();
    } catch (error) {
      this.#deps.logger.warn(
        { conversation: id, error: String(error) },
        "a lost conversation could not be closed",
      );
    }
  }

  async #describeRow(row: ConversationRow): Promise<Described> {
    const actor = await this.#loaded.get(row.id)?.catch(() => null);
    return {
      id: row.id,
      title: row.title,
      createdAtMicros: row.createdAtMicros,
      updatedAtMicros: row.updatedAtMicros,
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
