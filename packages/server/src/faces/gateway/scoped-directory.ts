import { posix } from "node:path";
import type { SandboxAccess } from "../../app-conversations/sandbox-service.ts";
import type { Conversation } from "../../conversation/conversation.ts";
import type { Described } from "../../conversation/state/describe.ts";
import type { ConversationDirectory } from "../../conversation/conversation-directory.ts";
import type { Asker, CreateInput, Directory } from "../../conversation/directory.ts";
import type { Watch } from "../../conversation/watch.ts";
import { readConfig } from "../../conversation/read-config.ts";
import { conversationMissing } from "../../conversation/refusals.ts";
import { UnknownPageError, type ConversationQuery, type Journal } from "../../journal/journal.ts";

export type ScopedDirectoryDeps = {
  readonly directory: Directory;
  readonly journal: Journal;
  readonly sandboxes: SandboxAccess;
  readonly sandboxId: string;
};

/** The conversations of one sandbox; all others are not there. */
export class ScopedDirectory implements ConversationDirectory {
  readonly #deps: ScopedDirectoryDeps;

  constructor(deps: ScopedDirectoryDeps) {
    this.#deps = deps;
  }

  /** A relative working directory is below the sandbox's own. */
  async create(asker: Asker, input: CreateInput): Promise<boolean> {
    const { directory, sandboxes, sandboxId } = this.#deps;
    const { workspaceDir } = await sandboxes.openHost(sandboxId);
    const { workspace } = input.config;
    const config = {
      ...input.config,
      workspace: { ...workspace, working_dir: posix.resolve(workspaceDir, workspace.working_dir) },
      sandbox_id: sandboxId,
    };
    const isNew = await directory.create(asker, { ...input, config });
    if (!isNew && !(await this.exists(asker, input.id))) throw conversationMissing(input.id);
    return isNew;
  }

  async open(asker: Asker, id: string): Promise<Conversation> {
    if (!(await this.exists(asker, id))) throw conversationMissing(id);
    return await this.#deps.directory.open(asker, id);
  }

  async watch(asker: Asker, id: string): Promise<Watch> {
    if (!(await this.exists(asker, id))) throw conversationMissing(id);
    return await this.#deps.directory.watch(asker, id);
  }

  async exists(asker: Asker, id: string): Promise<boolean> {
    return (await this.describe(asker, id)) !== null;
  }

  async describe(asker: Asker, id: string): Promise<Described | null> {
    const [described] = await this.describeMany(asker, [id]);
    return described ?? null;
  }

  async describeMany(asker: Asker, ids: readonly string[]): Promise<(Described | null)[]> {
    const found = await this.#deps.directory.describeMany(asker, ids);
    return found.map((item) => (item?.config.sandbox_id === this.#deps.sandboxId ? item : null));
  }

  async search(
    asker: Asker,
    { pageId, limit, ...query }: Omit<ConversationQuery, "ownerId">,
  ): Promise<{ items: Described[]; nextPageId: string | null }> {
    const ids = await this.#list(asker, query);
    const start = pageId === undefined ? 0 : ids.indexOf(pageId);
    if (start === -1) throw new UnknownPageError(`There is no conversation ${pageId} to start the page at`);
    const items = await this.describeMany(asker, ids.slice(start, start + limit));
    return { items: items.filter((item) => item !== null), nextPageId: ids[start + limit] ?? null };
  }

  async count(asker: Asker, executionStatus?: string): Promise<number> {
    const query = {
      sort: "CREATED_AT",
      ...(executionStatus === undefined ? {} : { executionStatus }),
    } as const;
    return (await this.#list(asker, query)).length;
  }

  async delete(asker: Asker, id: string): Promise<void> {
    if (!(await this.exists(asker, id))) throw conversationMissing(id);
    await this.#deps.directory.delete(asker, id);
  }

  /** Which sandbox a conversation is in is written in it alone, so all of the asker's are looked at. */
  async #list(
    { userId }: Asker,
    query: Omit<ConversationQuery, "ownerId" | "pageId" | "limit">,
  ): Promise<string[]> {
    const mark = `"sandbox_id":${JSON.stringify(this.#deps.sandboxId)}`;
    const ids: string[] = [];
    for (let pageId: string | null | undefined; pageId !== null;) {
      const page = await this.#deps.journal.searchConversations({
        ...query,
        ownerId: userId,
        limit: pageLength,
        ...(pageId === undefined ? {} : { pageId }),
      });
      for (const { id, config } of page.items) {
        if (!config.includes(mark)) continue;
        const sandboxId = readConfig({ config })?.sandbox_id;
        if (sandboxId === this.#deps.sandboxId) ids.push(id);
      }
      pageId = page.nextPageId;
    }
    return ids;
  }
}

const pageLength = 1_000;
