import { Type, type Static } from "typebox";
import {
  choice,
  credential,
  flag,
  inputOfKind,
  mapOf,
  object,
  orNull,
  outputOfKind,
  ref,
  unionByKind,
} from "../schema.ts";

/** Lets an agent try again until a critic is satisfied. */
export const IterativeRefinementConfig = object("IterativeRefinementConfig", {
  success_threshold: Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: 0.6 })),
  max_iterations: Type.Optional(Type.Integer({ minimum: 1, default: 3 })),
});
export type IterativeRefinementConfig = Static<typeof IterativeRefinementConfig>;

const criticFields = {
  mode: Type.Optional(choice(["finish_and_message", "all_actions"], { default: "finish_and_message" })),
  iterative_refinement: orNull(ref(IterativeRefinementConfig)),
};

const labels = (...names: string[]) => Type.Optional(Type.Array(Type.String(), { default: names }));

const apiFields = {
  server_url: Type.Optional(
    Type.String({ default: "https://all-hands-ai--critic-qwen3-4b-serve.modal.run" }),
  ),
  api_key: credential(),
  model_name: Type.Optional(Type.String({ default: "critic-qwen3-4b" })),
  tokenizer_name: Type.Optional(Type.String({ default: "Qwen/Qwen3-4B-Instruct-2507" })),
  pass_tools_definitions: flag(true),
  timeout_seconds: Type.Optional(Type.Number({ default: 300 })),
  has_success_label: flag(true),
  sentiment_labels: labels("sentiment_positive", "sentiment_neutral", "sentiment_negative"),
  agent_issue_labels: labels(
    "misunderstood_intention",
    "did_not_follow_instruction",
    "insufficient_analysis",
    "insufficient_clarification",
    "improper_tool_use_or_setup",
    "loop_behavior",
    "insufficient_testing",
    "insufficient_debugging",
    "incomplete_implementation",
    "file_management_errors",
    "scope_creep",
    "risky_actions_or_permission",
    "other_agent_issue",
  ),
  infra_labels: labels("infrastructure_external_issue", "infrastructure_agent_caused_issue"),
  user_followup_labels: labels(
    "clarification_or_restatement",
    "correction",
    "direction_change",
    "vcs_update_requests",
    "progress_or_scope_concern",
    "frustration_or_complaint",
    "removal_or_reversion_request",
    "other_user_issue",
  ),
  sentiment_map: Type.Optional(
    mapOf(Type.String(), {
      default: {
        Positive: "sentiment_positive",
        Neutral: "sentiment_neutral",
        Negative: "sentiment_negative",
      },
    }),
  ),
  ...criticFields,
};

/** Satisfied when the agent called finish. */
export const AgentFinishedCritic = outputOfKind("AgentFinishedCritic", criticFields);
export type AgentFinishedCritic = Static<typeof AgentFinishedCritic>;
export const AgentFinishedCriticInput = inputOfKind("AgentFinishedCritic", criticFields);
export type AgentFinishedCriticInput = Static<typeof AgentFinishedCriticInput>;

/** Asks a critic model over HTTP. */
export const APIBasedCritic = outputOfKind("APIBasedCritic", apiFields);
export type APIBasedCritic = Static<typeof APIBasedCritic>;
export const APIBasedCriticInput = inputOfKind("APIBasedCritic", apiFields);
export type APIBasedCriticInput = Static<typeof APIBasedCriticInput>;

/** Satisfied when the work changed a file. */
export const EmptyPatchCritic = outputOfKind("EmptyPatchCritic", criticFields);
export type EmptyPatchCritic = Static<typeof EmptyPatchCritic>;
export const EmptyPatchCriticInput = inputOfKind("EmptyPatchCritic", criticFields);
export type EmptyPatchCriticInput = Static<typeof EmptyPatchCriticInput>;

/** Always satisfied. */
export const PassCritic = outputOfKind("PassCritic", criticFields);
export type PassCritic = Static<typeof PassCritic>;
export const PassCriticInput = inputOfKind("PassCritic", criticFields);
export type PassCriticInput = Static<typeof PassCriticInput>;

/** The critics that can judge an agent's work. */
export const Critic = unionByKind("CriticBase-Output", {
  "openhands__sdk__critic__impl__agent_finished__AgentFinishedCritic-Output__1": AgentFinishedCritic,
  "openhands__sdk__critic__impl__api__critic__APIBasedCritic-Output__1": APIBasedCritic,
  "openhands__sdk__critic__impl__empty_patch__EmptyPatchCritic-Output__1": EmptyPatchCritic,
  "openhands__sdk__critic__impl__pass_critic__PassCritic-Output__1": PassCritic,
});
export type Critic = Static<typeof Critic>;

export const CriticInput = unionByKind("CriticBase-Input", {
  "openhands__sdk__critic__impl__agent_finished__AgentFinishedCritic-Input__1": AgentFinishedCriticInput,
  "openhands__sdk__critic__impl__api__critic__APIBasedCritic-Input__1": APIBasedCriticInput,
  "openhands__sdk__critic__impl__empty_patch__EmptyPatchCritic-Input__1": EmptyPatchCriticInput,
  "openhands__sdk__critic__impl__pass_critic__PassCritic-Input__1": PassCriticInput,
});
export type CriticInput = Static<typeof CriticInput>;
