import type { Cluster } from "../cluster/cluster.ts";
import type { Directory } from "../directory/directory.ts";
import type { ApplicationDatabase } from "../database/application-database.ts";
import type { Logger } from "../lib/logger.ts";
import type { SecretBox } from "../security/seal.ts";
import { AppConversationStore, type AppConversationJournal } from "./app-conversation-store.ts";
import { AppConversations } from "./app-conversations.ts";
import { ConversationStarter, type StarterTimes } from "./conversation-starter.ts";
import type { Sandboxes } from "./sandbox-service.ts";
import { StartTaskStore } from "./start-task-store.ts";
import type { Clock } from "../lib/clock.ts";

export type OpenAppConversationsDeps = {
  readonly database: ApplicationDatabase;
  readonly secretBox: SecretBox;
  readonly directory: Directory;
  readonly journal: AppConversationJournal;
  /** Null where none are served: then conversations can be read, and none can be started. */
  readonly sandboxes: Sandboxes | null;
  /** The servers that share the store. */
  readonly cluster: Pick<Cluster, "nodeId" | "nodes">;
  /** Whether sandboxes of other servers are reached from here, so that this one can resume their starts. */
  readonly hasMachines: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly times?: Partial<StarterTimes>;
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
