import type { Message, WhileRunning } from "@convoke/protocol";
import type { Validator } from "@convoke/protocol/validate";
import type { Journal } from "../journal/journal.ts";
import type { Clock } from "../lib/clock.ts";
import type { Fetch } from "../lib/filtered-fetch.ts";
import type { Logger } from "../lib/logger.ts";
import type { Activity } from "../lib/watchdog.ts";
import type { Observer } from "../observability/observer.ts";
import type { SecretBox } from "../security/seal.ts";
import type { ConversationConfig, ConversationSecrets } from "./conversation-config.ts";
import type { ConversationLog } from "./conversation-log.ts";
import type { ViewCache } from "./view-cache.ts";
import type { BoundSecretSink, Budget, Holder, Models, People, Rules, Tools } from "./ports.ts";
import type { Signals } from "./signals.ts";

export type ConversationDeps = {
  readonly id: string;
  /** The row when it was loaded. */
  readonly title: string | null;
  readonly config: ConversationConfig;
  readonly secrets: ConversationSecrets;
  /** Runs that start here belong to this process and are not resumed without it (P64). */
  readonly isAttended: boolean;
  readonly journal: Pick<Journal, "getInboxEntry" | "release">;
  readonly log: ConversationLog;
  /** The cache of views between runs. */
  readonly viewCache: ViewCache;
  /** Signals to all followers of the conversation. */
  readonly signals: Signals;
  readonly models: Models;
  readonly tools: Tools;
  readonly people: People;
  readonly budget: Budget;
  readonly rules: Rules;
  readonly holder: Holder;
  readonly secretBox: SecretBox;
  readonly boundSecrets: BoundSecretSink;
  readonly validator: Validator;
  /** For URLs that users choose. */
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: Observer;
  /** Notified of running work. */
  readonly activity: Activity;
};

export type SendInput = {
  readonly message: Message;
  readonly wantsRun: boolean;
  /** Sets a goal: a judge checks the result after each run, for at most this many rounds. */
  readonly goal?: { readonly objective: string; readonly maxIterations: number } | undefined;
  readonly sender?: string | undefined;
  /** What it does while the agent works; null for the default of the conversation, `steer` if absent. */
  readonly whileRunning?: WhileRunning | null | undefined;
  /** JSON Schema of the answer to it. */
  readonly responseSchema?: Readonly<Record<string, unknown>> | undefined;
  /** Idempotency key: the same id with the same content is the same message, however often it is sent (P18). */
  readonly clientMessageId?: string | undefined;
};
