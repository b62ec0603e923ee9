import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import type { Configuration } from "./configuration.ts";
import type { ConversationLog } from "./conversation-log.ts";
import type { ConversationModels } from "./conversation-models.ts";
import type { WorkQueue } from "./work-queue.ts";

/** Dependencies of every part of a conversation. */
export type SharedParts = {
  /** Id of the conversation. */
  readonly id: string;
  readonly log: ConversationLog;
  /** The mailbox: every read or write of the log is a job in it. */
  readonly queue: WorkQueue;
  readonly configuration: Configuration;
  readonly models: ConversationModels;
  readonly clock: Clock;
  readonly logger: Logger;
};
