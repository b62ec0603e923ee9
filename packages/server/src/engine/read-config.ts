import type { ConversationRow } from "../journal/journal.ts";
import { clearSecrets } from "./clear-secrets.ts";
import type { ConversationConfig } from "./conversation-config.ts";
import { conversationDamaged } from "./refusals.ts";
import { isObject } from "../lib/json-object.ts";

/** The stored configuration, without secrets that an earlier version left in it; null if it is damaged. */
export function readConfig(row: Pick<ConversationRow, "config">): ConversationConfig | null {
  const stored = readStoredConfig(row);
  return stored === null ? null : (clearSecrets(stored)?.config ?? stored);
}

/** The same as stored; for sealing, never shown. */
export function readStoredConfig({ config }: Pick<ConversationRow, "config">): ConversationConfig | null {
  try {
    const parsed = JSON.parse(config) as ConversationConfig | null;
    const isUsable = isObject(parsed) && isObject(parsed.workspace) && isObject(parsed.agent?.llm);
    return isUsable ? parsed : null;
  } catch {
    // Not JSON: damaged, see above.
    return null;
  }
}

/** The same; throws `conversation_damaged` instead. */
export function configOf(row: ConversationRow): ConversationConfig {
  const config = readConfig(row);
  if (config === null) throw conversationDamaged(row.id);
  return config;
}

/**
 * Placeholder for an unreadable configuration, so that its conversation can be listed and deleted; nothing runs with
 * it.
 */
export const unreadableConfig: ConversationConfig = {
  agent: { kind: "Agent", llm: { model: "" }, tools: [] },
  workspace: { kind: "LocalWorkspace", working_dir: "" },
  confirmation_policy: { kind: "AlwaysConfirm" },
  security_analyzer: null,
  max_iterations: 1,
  stuck_detection: true,
  tags: {},
};
