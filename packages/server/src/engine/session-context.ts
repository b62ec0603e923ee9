import type { LLM, MetricsSnapshot } from "@convoke/protocol";
import type { EventDraft } from "../events/event-draft.ts";
import type { McpServers } from "../extensions/mcp/mcp-status.ts";
import type { Model } from "../models/model.ts";
import type { OwnBudget } from "../spending/own-budget.ts";
import type { ConversationConfig, ConversationSecrets } from "./conversation-config.ts";

/** What a session of tools may know and do of its conversation. */
export interface SessionContext {
  /** Fields are as the conversation is at this moment. */
  readonly config: ConversationConfig;
  readonly secrets: ConversationSecrets;
  readonly budget: OwnBudget;
  /** The log has a call for the browser's tools. */
  readonly hasAskedForBrowser: boolean;
  /** Totals of model calls by usage id. */
  readonly stats: Readonly<Record<string, unknown>>;
  /** Aborts when the conversation leaves this process. */
  readonly closing: AbortSignal;
  /** Aborts first when another process takes over: what outlives this process is not stopped. */
  readonly handedOver: AbortSignal;
  /** A stop or an interrupt is answered when this has settled, within two seconds; to be called while the signal of the call aborts. */
  stopping(others: Promise<unknown>): void;
  /** Shows the MCP servers of a new session; null where there are none. */
  showMcpServers(servers: McpServers | null): void;
  /** Adds to the log when the conversation comes to it. */
  notify(draft: EventDraft): void;
  /** A stored model for a call beside the run, recorded under a name of its own. */
  openHelper(usageId: string, other: LLM): Model;
  /** Replaces the total of one usage id; durable when it resolves. */
  putStats(usageId: string, total: MetricsSnapshot): Promise<void>;
}
