import type { ApplicationDatabase } from "../database/application-database.ts";
import type { HoldStore } from "../settings/hold-store.ts";
import type { SecretBox } from "../security/seal.ts";
import { AppConversationStore, type AppConversationJournal } from "./app-conversation-store.ts";
import { AppConversations } from "./app-conversations.ts";
import { ConversationStarter, type StarterDeps } from "./conversation-starter.ts";
import { StartTaskStore } from "./start-task-store.ts";

export type OpenAppConversationsDeps = Omit<StarterDeps, "store" | "rows" | "conversations"> & {
  readonly database: ApplicationDatabase;
  readonly secretBox: SecretBox;
  readonly journal: AppConversationJournal;
  readonly holds: Pick<HoldStore, "requireFree">;
};

/** Conversations in sandboxes and their starts. Closing it lets go of starts that are under way; they are on disk. */
export type OpenAppConversations = AsyncDisposable & {
  readonly conversations: AppConversations;
  readonly starter: ConversationStarter;
  readonly tasks: StartTaskStore;
  /** Resumes unfinished starts of the last process; call once the directory has recovered. */
  recover(): Promise<void>;
  /** Resumes starts of servers that have ended; call at intervals. */
  resumeStarts(): Promise<void>;
};

export function openAppConversations(deps: OpenAppConversationsDeps): OpenAppConversations {
  const rows = new AppConversationStore(deps.journal);
  const tasks = new StartTaskStore(deps);
  const conversations = new AppConversations({ ...deps, rows, tasks });
  const starter = new ConversationStarter({ ...deps, store: tasks, rows, conversations });
  return {
    conversations,
    starter,
    tasks,
    resumeStarts: async () => {
      if (deps.hasMachines) await starter.resumeStarts();
    },
    recover: async () => {
      await conversations.recover();
      await starter.resumeStarts();
    },
    [Symbol.asyncDispose]: () => starter[Symbol.asyncDispose](),
  };
}
