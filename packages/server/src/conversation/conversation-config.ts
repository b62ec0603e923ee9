import type {
  Agent,
  ConfirmationPolicy,
  LLM,
  LocalWorkspace,
  SecretSource,
  SecurityAnalyzer,
} from "@convoke/protocol";

/** What a conversation was created with and what was changed since: one record, so that nothing can fall back (W1). */
export type ConversationConfig = {
  /** Its `llm` has no secrets; those are in {@link ConversationSecrets}. */
  readonly agent: Agent;
  readonly workspace: LocalWorkspace;
  readonly confirmation_policy: ConfirmationPolicy;
  readonly security_analyzer: SecurityAnalyzer | null;
  readonly max_iterations: number;
  readonly stuck_detection: boolean;
  readonly tags: Readonly<Record<string, string>>;
};

/** Sealed at rest as one text. */
export type ConversationSecrets = {
  readonly llm: Readonly<Partial<Record<LlmSecretField, string>>>;
  readonly sources: Readonly<Record<string, SecretSource>>;
};

const llmSecretFields = [
  "api_key",
  "aws_access_key_id",
  "aws_secret_access_key",
  "aws_session_token",
] as const satisfies readonly (keyof LLM)[];
export type LlmSecretField = (typeof llmSecretFields)[number];

/** Splits an LLM configuration into what may be shown and what must be sealed. */
export function splitLlmSecrets(llm: LLM): { shown: LLM; secrets: ConversationSecrets["llm"] } {
  const shown: LLM = { ...llm };
  const secrets: Partial<Record<LlmSecretField, string>> = {};
  for (const field of llmSecretFields) {
    const value = llm[field];
    if (typeof value === "string" && value !== "") secrets[field] = value;
    if (value !== undefined) shown[field] = null;
  }
  return { shown, secrets };
}

/** Every secret value of the conversation, for masking. */
export function secretValues(secrets: ConversationSecrets): string[] {
  const values: string[] = Object.values(secrets.llm);
  for (const source of Object.values(secrets.sources)) {
    if (source.kind === "StaticSecret" && typeof source.value === "string") values.push(source.value);
    if (source.kind === "LookupSecret") values.push(...Object.values(source.headers ?? {}));
  }
  return values.filter((value) => value !== "");
}
