import { posix } from "node:path";
import type { SandboxAccess } from "../../app-conversations/sandbox-service.ts";
import type { Conversation } from "../../engine/conversation.ts";
import type { SendInput } from "../../engine/conversation-deps.ts";
import type { ConversationInfoSource } from "../../engine/state/conversation-info.ts";
import type { ConversationDirectory } from "../../directory/conversation-directory.ts";
import type { Asker, CreateInput, Directory } from "../../directory/directory.ts";
import type { Watch } from "../../directory/watch.ts";
import { conversationMissing } from "../../engine/refusals.ts";
import type { ConversationQuery, Journal, LogHead } from "../../journal/journal.ts";

export type ScopedDirectoryDeps = {
  readonly directory: Directory;
  readonly journal: Journal;
  readonly sandboxes: SandboxAccess;
  readonly sandboxId: string;
};

/** The conversations of one sandbox; all others are hidden. */
export class ScopedDirectory implements ConversationDirectory {
  readonly #deps: ScopedDirectoryDeps;

  constructor(deps: ScopedDirectoryDeps) {
    this.#deps = deps;
  }

  /** A relative working directory is below the sandbox's own. */
  async create(
    asker: Asker,
    input: CreateInput,
    first: SendInput | null = null,
  ): Promise<ConversationInfoSource | null> {
    const { directory, sandboxes, sandboxId } = this.#deps;
    const { workspaceDir } = await sandboxes.openHost(sandboxId);
    const { workspace } = input.config;
    const config = {
      ...input.config,
      workspace: { ...workspace, working_dir: posix.resolve(workspaceDir, workspace.working_dir) },
      sandbox_id: sandboxId,
    };
    const created = await directory.create(asker, { ...input, config }, first);
    if (created === null && !(await this.exists(asker, input.id))) throw conversationMissing(input.id);
    return created;
  }

  /** For a conversation that was opened here. */
  readonly addSecrets: ConversationDirectory["addSecrets"] = (...given) =>
    this.#deps.directory.addSecrets(...given);

  readonly nearQuotas: ConversationDirectory["nearQuotas"] = (asker) =>
    this.#deps.directory.nearQuotas(asker);

  async open(asker: Asker, id: string): Promise<Conversation> {
    if (!(await this.exists(asker, id))) throw conversationMissing(id);
    return await this.#deps.directory.open(asker, id);
  }

  async watch(asker: Asker, id: string): Promise<Watch> {
    if (!(await this.exists(asker, id))) throw conversationMissing(id);
    return await this.#deps.directory.watch(asker, id);
  }

  async exists({ userId }: Asker, id: string): Promise<boolean> {
    const row = await this.#deps.journal.getConversation(id);
    return row?.ownerId === userId && !row.isCopying && row.sandboxId === this.#deps.sandboxId;
  }

  async head(asker: Asker, id: string): Promise<LogHead | null> {
    return (await this.exists(asker, id)) ? await this.#deps.directory.head(asker, id) : null;
  }

  async describe(asker: Asker, id: string): Promise<ConversationInfoSource | null> {
    const [described] = await this.describeMany(asker, [id]);
    return described ?? null;
  }

  async describeMany(asker: Asker, ids: readonly string[]): Promise<(ConversationInfoSource | null)[]> {
    const found = await this.#deps.directory.describeMany(asker, ids);
    return found.map((item) => (item?.config.sandbox_id === this.#deps.sandboxId ? item : null));
  }

  async search(
    asker: Asker,
    query: Omit<ConversationQuery, "ownerId">,
  ): Promise<{ items: ConversationInfoSource[]; nextPageId: string | null }> {
    return await this.#deps.directory.search(asker, { ...query, sandboxId: this.#deps.sandboxId });
  }

  async count(asker: Asker, executionStatus?: string): Promise<number> {
    return await this.#deps.directory.count(asker, executionStatus, this.#deps.sandboxId);
  }

  async delete(asker: Asker, id: string): Promise<void> {
    if (!(await this.exists(asker, id))) throw conversationMissing(id);
    await this.#deps.directory.delete(asker, id);
  }
}
