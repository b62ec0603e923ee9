import type { Agent } from "@convoke/protocol";
import { secretMask } from "../settings/secret-fields.ts";
import {
  splitCondenserSecrets,
  splitLlmSecrets,
  type ConversationConfig,
  type ConversationSecrets,
  type LlmSecrets,
} from "./conversation-config.ts";

/** A configuration without secrets, and the secrets removed from it. */
export type Cleared = {
  readonly config: ConversationConfig;
  readonly secrets: Required<Pick<ConversationSecrets, "llm" | "condenser">>;
};

/** Removes the secrets that an earlier version stored in a configuration; null if there are none. */
export function clearSecrets(config: ConversationConfig): Cleared | null {
  const llm = splitLlmSecrets(config.agent.llm);
  const { condenser: given } = config.agent;
  const condenser = splitCondenserSecrets(given ?? null);
  const found = { llm: clearOnly(llm.secrets) as LlmSecrets, condenser: clearOnly(condenser.secrets) };
  if (Object.keys(found.llm).length === 0 && Object.keys(found.condenser).length === 0) return null;
  const agent = {
    ...config.agent,
    llm: llm.shown,
    ...(given === undefined ? {} : { condenser: condenser.shown }),
  } as Agent;
  return { config: { ...config, agent }, secrets: found };
}

/** Merges the found secrets. */
export function addCleared(
  secrets: ConversationSecrets,
  { llm, condenser }: Cleared["secrets"],
): ConversationSecrets {
  const headers = { ...secrets.llm.extra_headers, ...llm.extra_headers };
  return {
    ...secrets,
    llm: { ...secrets.llm, ...llm, ...(Object.keys(headers).length === 0 ? {} : { extra_headers: headers }) },
    condenser: { ...secrets.condenser, ...condenser },
  };
}

type Field = string | Readonly<Record<string, string>>;

/** Masks stand for values that are sealed already. */
function clearOnly(fields: Readonly<Record<string, Field | undefined>>): Record<string, Field> {
  const clear: Record<string, Field> = {};
  for (const [name, field] of Object.entries(fields)) {
    if (field === undefined || field === secretMask) continue;
    if (typeof field === "string") {
      clear[name] = field;
      continue;
    }
    const values = Object.entries(field).filter(([, value]) => value !== "" && value !== secretMask);
    if (values.length > 0) clear[name] = Object.fromEntries(values);
  }
  return clear;
}
