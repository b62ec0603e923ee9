import {
  noMarks,
  type MarkChange,
  type ConversationQuery,
  type SummaryQuery,
  type LogHead,
} from "../journal/journal.ts";
import { isOutsideScope } from "../security/key-scope.ts";
import { invalidField } from "../lib/fault.ts";
import { isTypoOf } from "../agent/is-typo-of.ts";
import type { QuotaUse, SecretSource } from "@convoke/protocol";
import { isBound } from "../egress/check-secret-binding.ts";
import { withPlaceholders } from "../engine/bound-secrets.ts";
import { missingTools } from "../agent/tool-specs.ts";
import { TaskWorktrees } from "../tools/worktrees/task-worktrees.ts";
import type { ConversationHost } from "../tools/conversation-host.ts";
import { ConversationSessions } from "../tools/conversation-sessions.ts";
import { ConversationWorktrees } from "../tools/worktrees/conversation-worktrees.ts";
import { RepositoryQueues } from "../tools/worktrees/repository-queues.ts";
import { StoredSecrets } from "../engine/stored-secrets.ts";
import type { Conversation } from "../engine/conversation.ts";
import { toStored, type ConversationConfig } from "../engine/conversation-config.ts";
import type { SendInput } from "../engine/conversation-deps.ts";
import type { Asker, CreateInput } from "../engine/create-input.ts";
import { Copies } from "./copies.ts";
import { Deletions } from "./deletions.ts";
import { Descriptions, type DescribedPage } from "./descriptions.ts";
import { Watches, type FrameSource, type Watch } from "./watch.ts";
import type { DirectoryDeps } from "./directory-deps.ts";
import { isOwnedBy } from "./is-owned-by.ts";
import { LoadedConversations } from "./loaded-conversations.ts";
import { OwnedRules } from "./owned-rules.ts";
import type { ConversationInfoSource } from "../engine/state/conversation-info.ts";
import { initialState } from "../engine/state/conversation-state.ts";
import { Trash } from "./trash.ts";
import { forkConversation, type ForkInput } from "./fork.ts";
import { importLog, type ImportedLog, type ImportTimes } from "./import-log.ts";
import { Recovery } from "./recovery.ts";
import { conversationMissing, serverClosing } from "../engine/refusals.ts";
import type { NewConversation } from "../journal/journal.ts";
import { restingConversation } from "../journal/resting-conversation.ts";

export type { Asker, CreateInput } from "../engine/create-input.ts";
export type { DirectoryDeps } from "./directory-deps.ts";

/** All conversations of this node: loaded actors, and the stored rest. At most one actor per conversation. */
export class Directory implements AsyncDisposable {
  readonly #deps: DirectoryDeps;
  readonly #loaded: LoadedConversations;
  readonly #descriptions: Descriptions;
  readonly #watches: Watches;
  readonly #deletions: Deletions;
  readonly #recovery: Recovery;
  readonly #sessions: ConversationSessions;
  readonly #secrets: StoredSecrets;
  readonly #worktrees: ConversationWorktrees;
  readonly #copies = new Copies();
  /** What was put aside to be deleted later. */
  readonly trash: Trash;

  constructor(deps: DirectoryDeps) {
    this.#deps = deps;
    const { journal, storedModels } = deps;
    const repositories = new RepositoryQueues();
    const worktrees = new TaskWorktrees(repositories);
    const children = { directory: this, journal, storedModels, worktrees };
    this.#sessions = new ConversationSessions({ ...deps, children });
    this.#secrets = new StoredSecrets(deps);
    this.#worktrees = new ConversationWorktrees({ ...deps, folders: this.#sessions, repositories });
    const frames: FrameSource = {
      isLoaded: (id) => this.#loaded.has(id),
      fullStateFrame: (userId, id) => this.#descriptions.fullStateFrame({ userId }, id),
      liveStatusFrame: (userId, id) => this.#descriptions.liveStatusFrame({ userId }, id),
    };
    this.#watches = new Watches({ journal, frames, logger: deps.logger });
    const shared = { sessions: this.#sessions, storedSecrets: this.#secrets, watches: this.#watches };
    this.#loaded = new LoadedConversations({ ...deps, ...shared });
    const parts = { ...deps, ...shared, loaded: this.#loaded };
    this.#descriptions = new Descriptions(parts);
    this.#recovery = new Recovery({ ...parts, copies: this.#copies });
    this.#deletions = new Deletions({ ...parts, worktrees: this.#worktrees });
    this.trash = new Trash({ ...parts, deletions: this.#deletions });
  }

  /** Null if the id is taken; then nothing has changed. An initial message is stored in the same commit. */
  async create(
    asker: Asker,
    input: CreateInput,
    first: SendInput | null = null,
  ): Promise<ConversationInfoSource | null> {
    const { id } = input;
    using _admitted = await this.#deps.quotas.admit(asker.userId, id);
    const chosen = await this.#deps.chooseHost({ id, ownerId: asker.userId, config: input.config });
    checkTools(chosen, input.config);
    if (input.config.wall_of === undefined) checkWayOut(chosen, input.secrets.sources);
    const config = await this.#worktrees.prepare(input, chosen);
    if (chosen.kind !== "sandbox") await this.#sessions.makeWorkspace(config);
    const nowMicros = this.#deps.clock.nowMs() * 1000;
    const row = {
      ...restingConversation,
      id: input.id,
      ownerId: asker.userId,
      title: input.title,
      createdAtMicros: input.app ? input.app.createdAtMs * 1000 : nowMicros,
      updatedAtMicros: nowMicros,
      sandboxId: config.sandbox_id ?? null,
      parentId: config.parent?.conversation_id ?? null,
      appFacts: input.app?.facts ?? null,
      ...this.#storedForms(config, input.secrets),
    };
    const isNew = await (first === null
      ? this.#deps.journal.createConversation(row)
      : this.#loaded.create(row, first));
    if (!isNew) return null;
    if (input.secrets.mcp !== undefined) this.#prepare(input.id);
    else chosen.startAhead?.();
    const { lastMicros } = (await this.#loaded.find(input.id))?.state ?? initialState();
    const updatedAtMicros = Math.max(nowMicros, lastMicros);
    return await this.#descriptions.of({ ...row, updatedAtMicros, lastSeq: 0, marks: noMarks });
  }

  /** The caller's conversation as an actor, loaded on demand. */
  async open(asker: Asker, id: string): Promise<Conversation> {
    if (this.#loaded.isClosed) throw serverClosing();
    if (!(await this.exists(asker, id))) throw conversationMissing(id);
    return await this.#loaded.open(id);
  }

  /** The rules around a user's conversations. */
  rulesOf({ userId }: Asker): OwnedRules {
    return new OwnedRules({ ...this.#deps, sessions: this.#sessions }, userId);
  }

  /** See {@link LoadedConversations.shellsOf}. */
  shellsOf: LoadedConversations["shellsOf"] = (conversation) => this.#loaded.shellsOf(conversation);

  /** A reader of the caller's conversation, without lease and actor. */
  async watch(asker: Asker, id: string): Promise<Watch> {
    if (!(await this.exists(asker, id))) throw conversationMissing(id);
    return this.#watches.open(asker.userId, id);
  }

  /** See {@link Watches.forward}. */
  forward: Watches["forward"] = (id, onForward) => this.#watches.forward(id, onForward);

  /** See {@link Watches.receive}. */
  receive: Watches["receive"] = (id, signal, atSeq) => this.#watches.receive(id, signal, atSeq);

  /** Whether the caller owns such a conversation. */
  async exists(asker: Asker, id: string): Promise<boolean> {
    if (isOutsideScope(asker, id)) return false;
    const owner = this.#loaded.ownerOf(id);
    if (owner !== undefined) return owner === asker.userId;
    return (await this.#deps.journal.ownerOf(id)) === asker.userId;
  }

  /**
   * The end of the caller's conversation; null if the caller has none with this id. Synchronous if the store knows
   * it.
   */
  head(asker: Asker, id: string): Promise<LogHead | null> | LogHead | null {
    if (isOutsideScope(asker, id)) return null;
    const check = (head: LogHead | null): LogHead | null =>
      (this.#loaded.ownerOf(id) ?? head?.ownerId) === asker.userId ? head : null;
    const head = this.#deps.journal.head(id);
    return head instanceof Promise ? head.then(check) : check(head);
  }

  /** The public state of a conversation; needs no lease. Null if the caller has none with this id. */
  async describe(asker: Asker, id: string): Promise<ConversationInfoSource | null> {
    const [described] = await this.describeMany(asker, [id]);
    return described ?? null;
  }

  describeMany: Descriptions["many"] = (asker, ids) => this.#descriptions.many(asker, ids);

  async search(asker: Asker, query: Omit<ConversationQuery, "ownerId">): Promise<DescribedPage> {
    const whole = { ...query, ownerId: asker.userId };
    return await this.#descriptions.page(asker, whole, (asked) =>
      this.#deps.journal.searchConversations(asked),
    );
  }

  /** The caller's conversations that match a filter, last changed first. */
  async summaries(asker: Asker, query: Omit<SummaryQuery, "ownerId">): Promise<DescribedPage> {
    const whole = { ...query, ownerId: asker.userId };
    return await this.#descriptions.page(asker, whole, (asked) => this.#deps.journal.searchSummaries(asked));
  }

  /** The existing ones of the given conversations, of any owner. */
  describeAll: Descriptions["all"] = (ids) => this.#descriptions.all(ids);

  /** Stores the caller's marks of a conversation; needs no lease. */
  async mark(asker: Asker, id: string, marks: MarkChange): Promise<void> {
    const isThere = (await this.exists(asker, id)) && (await this.#deps.journal.markConversation(id, marks));
    if (!isThere) throw conversationMissing(id);
  }

  async count(asker: Asker, executionStatus?: string, sandboxId?: string): Promise<number> {
    if (asker.onlyConversation !== undefined) {
      const query = { sort: "CREATED_AT", limit: 1, executionStatus, sandboxId } as const;
      return (await this.search(asker, query)).items.length;
    }
    return await this.#deps.journal.countConversations({
      ownerId: asker.userId,
      executionStatus,
      sandboxId,
    });
  }

  /** Whether the conversation is in the memory of this process. */
  isLoaded: LoadedConversations["has"] = (id) => this.#loaded.has(id);

  /** See {@link LoadedConversations.requireFiles}. */
  requireFiles: LoadedConversations["requireFiles"] = (id, config) => this.#loaded.requireFiles(id, config);

  /** Copies the caller's conversation, see {@link forkConversation}; false if the new id is taken. */
  async fork(asker: Asker, sourceId: string, input: ForkInput): Promise<boolean> {
    const row = await this.#deps.journal.getConversation(sourceId);
    if (!isOwnedBy(asker, row)) throw conversationMissing(sourceId);
    using _admitted = await this.#deps.quotas.admit(asker.userId, input.id);
    const source = { ...row, ...this.#secrets.sealOlder(row) };
    const sealedSecrets = this.#secrets.sealForFork(source);
    using _copying = this.#copies.begin(input.id);
    return await forkConversation(this.#deps, { ...source, sealedSecrets }, input);
  }

  /** Stores a conversation with the log of another server, see {@link importLog}; false if the id is taken. */
  async importLog(asker: Asker, input: CreateInput, times: ImportTimes, log: ImportedLog): Promise<boolean> {
    const { id, config } = input;
    using _admitted = await this.#deps.quotas.admit(asker.userId, id);
    const chosen = await this.#deps.chooseHost({ id, ownerId: asker.userId, config });
    if (chosen.kind !== "sandbox") await this.#sessions.makeWorkspace(config);
    const stored = this.#storedForms(config, input.secrets);
    const row = {
      ...restingConversation,
      id,
      ownerId: asker.userId,
      title: input.title,
      ...times,
      ...stored,
    };
    using _copying = this.#copies.begin(id);
    return await importLog(this.#deps, row, log);
  }

  /** Rejects with `quota_reached` where the caller may not create this conversation. */
  async checkQuota({ userId }: Asker, id: string): Promise<void> {
    (await this.#deps.quotas.admit(userId, id))[Symbol.dispose]();
  }

  /** The caller's quotas of which at least 80 % are used. */
  async nearQuotas({ userId }: Asker): Promise<QuotaUse[]> {
    return (await this.#deps.quotas.of(userId)).filter(({ is_near: isNear }) => isNear);
  }

  /** Adds or replaces secrets of a loaded conversation. Fails for those that nothing could put into requests (422). */
  async addSecrets(
    asker: Asker,
    { id, configuration }: Pick<Conversation, "id" | "configuration">,
    secrets: Readonly<Record<string, SecretSource>>,
  ): Promise<void> {
    const { config } = configuration;
    const isAnyBound = Object.values(secrets).some(isBound);
    if (isAnyBound) checkWayOut(await this.#deps.chooseHost({ id, ownerId: asker.userId, config }), secrets);
    await configuration.addSecrets(secrets);
  }

  /** Stops the work, then removes the log and the private folder; the workspace stays. */
  async delete(asker: Asker, id: string): Promise<void> {
    if (isOutsideScope(asker, id)) throw conversationMissing(id);
    await this.#deletions.delete(asker, id);
  }

  /**
   * Resumes every run that the last process left; call once after startup. Resolves when all are resumed, except
   * suspects of a standstill, which follow one after another.
   */
  recover: Recovery["start"] = () => this.#recovery.start();

  /** Resumes runs of servers on the same store that have ended; call at intervals. */
  adoptOrphans: Recovery["poll"] = (options) => this.#recovery.poll(options);

  /** Ends every actor, in the background: the store has given their conversations to other nodes. */
  loseAll: LoadedConversations["loseAll"] = () => this.#loaded.loseAll();

  /**
   * The store was set back and some logs are shorter than their actors know: ends these actors; they are loaded
   * again.
   */
  onSetBack(ids: readonly string[]): void {
    this.#descriptions.forget();
    this.#loaded.lose(ids);
  }

  /** False while anything is in progress. */
  isAtRest: LoadedConversations["areAtRest"] = () => this.#loaded.areAtRest();

  /** The private folder of a conversation on this machine; deleted with it. */
  stateDir: ConversationSessions["stateDir"] = (id) => this.#sessions.stateDir(id);

  /** Evicts actors that were idle for `idleMs`; they are loaded again on demand (P5). Returns how many. */
  evictIdle: LoadedConversations["evictIdle"] = (idleMs) => this.#loaded.evictIdle(idleMs);

  /** Drops the caches of idle conversations. */
  releaseMemory: LoadedConversations["releaseMemory"] = () => this.#loaded.releaseMemory();

  async [Symbol.asyncDispose](): Promise<void> {
    this.#loaded.refuse();
    await this.#recovery[Symbol.asyncDispose]();
    await this.#loaded[Symbol.asyncDispose]();
  }

  /** As the journal keeps them. */
  #storedForms(
    config: ConversationConfig,
    secrets: CreateInput["secrets"],
  ): Pick<NewConversation, "config" | "sealedSecrets"> {
    const sealedSecrets = this.#deps.secretBox.seal(JSON.stringify(toStored(withPlaceholders(secrets))));
    return { config: JSON.stringify(config), sealedSecrets };
  }

  /** Starts its MCP servers while the user types; a failure is reported at first use. */
  #prepare(id: string): void {
    this.#loaded
      .open(id)
      .then((conversation) => conversation.session.open())
      .catch((error: unknown) => {
        this.#deps.logger.warn({ conversation: id, error: String(error) }, "tools could not be prepared");
      });
  }
}

/** Nothing else could replace a placeholder, and the tools must not get the value. */
function checkWayOut(
  { kind, putsSecretsIn }: Pick<ConversationHost, "kind" | "putsSecretsIn">,
  sources: Readonly<Record<string, SecretSource>>,
): void {
  const name = Object.keys(sources).find((key) => isBound(sources[key]!));
  if (name === undefined || putsSecretsIn) return;
  const why =
    kind === "wall"
      ? "This conversation has no network, so nothing can put the secret into requests. Allow a network"
      : "This conversation has no wall whose proxy could put the secret into requests. Give it one (wall.kind)";
  throw invalidField(
    ["body", "secrets", name, "hosts"],
    `${why}, or leave hosts out to hand the value to the tools.`,
  );
}

/** An unknown tool of a newer client is left out with a warning in the log; a typo is an error. */
function checkTools({ catalogue }: Pick<ConversationHost, "catalogue">, config: ConversationConfig): void {
  for (const name of missingTools(config.agent, catalogue)) {
    const meant = catalogue.find((known) => isTypoOf(name, known));
    if (meant === undefined) continue;
    const available = `Available tools: ${catalogue.join(", ")}.`;
    throw invalidField(
      ["body", "agent", "tools"],
      `There is no tool "${name}". Did you mean "${meant}"? ${available}`,
    );
  }
}
