import type { LLM, MetricsSnapshot } from "@convoke/protocol";
import type { ToolSecret } from "@convoke/tool-host";
import type { EventDraft } from "../events/event-draft.ts";
import type { McpServers } from "../extensions/mcp/mcp-status.ts";
import type { Model } from "../models/model.ts";
import type { OwnBudget } from "../spending/own-budget.ts";
import type { ConversationConfig, ConversationSecrets } from "./conversation-config.ts";

/** The conversation as a session of tools may use it. */
export interface SessionContext {
  /** Fields reflect the current state of the conversation. */
  readonly config: ConversationConfig;
  readonly secrets: ConversationSecrets;
  /** What tools get of resolved secrets; see `Configuration.forTools`. */
  secretsForTools(resolved: readonly ToolSecret[]): readonly ToolSecret[];
  readonly budget: OwnBudget;
  /** True if the log has a call of a browser tool. */
  readonly hasAskedForBrowser: boolean;
  /** Totals of model calls by usage id. */
  readonly stats: Readonly<Record<string, unknown>>;
  /** Aborts when the conversation leaves this process. */
  readonly closing: AbortSignal;
  /** Aborts first when another process takes over: what outlives this process is not stopped. */
  readonly handedOver: AbortSignal;
  /** A stop or interrupt waits for this promise, up to two seconds; call while the signal of the call aborts. */
  stopping(others: Promise<unknown>): void;
  /** Publishes the MCP servers of a new session; null if there are none. */
  showMcpServers(servers: McpServers | null): void;
  /** Appends to the log through the mailbox. */
  notify(draft: EventDraft): void;
  /** A stored model for a call outside the run, recorded under its own usage id. */
  openHelper(usageId: string, other: LLM): Model;
  /** Adds hosts that the conversation may reach, written as in `allow` of a network policy; durable when it resolves. */
  grantHosts(hosts: readonly string[]): Promise<void>;
  /** Masks values of the working folder from now on, in the place of those of before. */
  maskFolder(values: readonly string[]): void;
  /** Replaces the total of one usage id; durable when it resolves. */
  putStats(usageId: string, total: MetricsSnapshot): Promise<void>;
}
