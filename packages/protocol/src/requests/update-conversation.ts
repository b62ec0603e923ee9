import { Type, type Static } from "typebox";
import { LLM } from "../agent/llm.ts";
import { updateConversationExtensions } from "../extensions/request-extensions.ts";
import { SecurityAnalyzerExtension } from "../extensions/security-analyzer-extensions.ts";
import { closedObject, mapOf, object, orNull, ref } from "../schema.ts";
import { ConfirmationPolicyInput } from "../security/confirmation-policy.ts";
import { SecretSourceInput } from "../security/secret-source.ts";
import { SecurityAnalyzerInput } from "../security/security-analyzer.ts";

/** Changes to a conversation; absent fields stay. */
export const UpdateConversationRequest = object("UpdateConversationRequest", {
  title: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  ...updateConversationExtensions,
});
export type UpdateConversationRequest = Static<typeof UpdateConversationRequest>;

/** Secrets to add or replace, by name. */
export const UpdateSecretsRequest = closedObject("UpdateSecretsRequest", {
  secrets: mapOf(ref(SecretSourceInput)),
});
export type UpdateSecretsRequest = Static<typeof UpdateSecretsRequest>;

export const SetConfirmationPolicyRequest = closedObject("SetConfirmationPolicyRequest", {
  policy: ref(ConfirmationPolicyInput),
});
export type SetConfirmationPolicyRequest = Static<typeof SetConfirmationPolicyRequest>;

/** Null switches the analysis off. */
export const SetSecurityAnalyzerRequest = closedObject("SetSecurityAnalyzerRequest", {
  security_analyzer: Type.Unsafe<SecurityAnalyzerInput | SecurityAnalyzerExtension | null>({
    anyOf: [ref(SecurityAnalyzerInput), SecurityAnalyzerExtension, Type.Null()],
  }),
});
export type SetSecurityAnalyzerRequest = Static<typeof SetSecurityAnalyzerRequest>;

export const GenerateTitleRequest = object("GenerateTitleRequest", {
  max_length: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 200, default: 50, description: "Characters." }),
  ),
  llm: orNull(ref(LLM)),
});
export type GenerateTitleRequest = Static<typeof GenerateTitleRequest>;

export const GenerateTitleResponse = object("GenerateTitleResponse", { title: Type.String() });
export type GenerateTitleResponse = Static<typeof GenerateTitleResponse>;

export const AskAgentRequest = object("AskAgentRequest", { question: Type.String() });
export type AskAgentRequest = Static<typeof AskAgentRequest>;

export const AskAgentResponse = object("AskAgentResponse", { response: Type.String() });
export type AskAgentResponse = Static<typeof AskAgentResponse>;
