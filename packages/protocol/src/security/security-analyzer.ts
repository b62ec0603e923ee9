import { Type, type Static } from "typebox";
import { closedInputOfKind, orNull, outputOfKind, unionByKind } from "../schema.ts";

const graySwanFields = {
  history_limit: Type.Optional(Type.Integer({ default: 20 })),
  max_message_chars: Type.Optional(Type.Integer({ default: 30000 })),
  timeout: Type.Optional(Type.Number({ default: 30, description: "Seconds." })),
  low_threshold: Type.Optional(Type.Number({ default: 0.3 })),
  medium_threshold: Type.Optional(Type.Number({ default: 0.7 })),
  api_url: Type.Optional(Type.String({ default: "https://api.grayswan.ai/cygnal/monitor" })),
  api_key: orNull(Type.String({ format: "password", writeOnly: true })),
  policy_id: orNull(Type.String()),
};

/** Asks an external service for the risk of an action. */
export const GraySwanAnalyzer = outputOfKind("GraySwanAnalyzer", graySwanFields);
export type GraySwanAnalyzer = Static<typeof GraySwanAnalyzer>;
export const GraySwanAnalyzerInput = closedInputOfKind("GraySwanAnalyzer", graySwanFields);
export type GraySwanAnalyzerInput = Static<typeof GraySwanAnalyzerInput>;

/** Uses the risk that the model states with each call. */
export const LLMSecurityAnalyzer = outputOfKind("LLMSecurityAnalyzer", {});
export type LLMSecurityAnalyzer = Static<typeof LLMSecurityAnalyzer>;
export const LLMSecurityAnalyzerInput = closedInputOfKind("LLMSecurityAnalyzer", {});
export type LLMSecurityAnalyzerInput = Static<typeof LLMSecurityAnalyzerInput>;

/** The analyzers that rate the risk of actions. */
export const SecurityAnalyzer = unionByKind("SecurityAnalyzerBase-Output", {
  "openhands__sdk__security__grayswan__analyzer__GraySwanAnalyzer-Output__1": GraySwanAnalyzer,
  "openhands__sdk__security__llm_analyzer__LLMSecurityAnalyzer-Output__1": LLMSecurityAnalyzer,
});
export type SecurityAnalyzer = Static<typeof SecurityAnalyzer>;

export const SecurityAnalyzerInput = unionByKind("SecurityAnalyzerBase-Input", {
  "openhands__sdk__security__grayswan__analyzer__GraySwanAnalyzer-Input__1": GraySwanAnalyzerInput,
  "openhands__sdk__security__llm_analyzer__LLMSecurityAnalyzer-Input__1": LLMSecurityAnalyzerInput,
});
export type SecurityAnalyzerInput = Static<typeof SecurityAnalyzerInput>;
