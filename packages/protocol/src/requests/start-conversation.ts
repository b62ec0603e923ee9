import { Type, type Static } from "typebox";
import { AgentBaseInput } from "../agent/agent.ts";
import { HookConfigInput } from "../conversation/hook-config.ts";
import { LocalWorkspaceInput } from "../conversation/workspace.ts";
import { startConversationExtensions } from "../extensions/request-extensions.ts";
import { flag, mapOf, object, orNull, ref } from "../schema.ts";
import { ConfirmationPolicyInput } from "../security/confirmation-policy.ts";
import { SecretSourceInput } from "../security/secret-source.ts";
import { SendMessageRequest } from "./send-message.ts";

/** Source of a plugin: a repository or path, optionally with a revision and a subfolder. */
export const PluginSource = object("PluginSource", {
  source: Type.String(),
  ref: orNull(Type.String()),
  repo_path: orNull(Type.String()),
});
export type PluginSource = Static<typeof PluginSource>;

/** Options for a new conversation. An existing `conversation_id` returns that conversation instead. */
export const StartConversationRequest = object("StartConversationRequest", {
  agent: ref(AgentBaseInput),
  workspace: ref(LocalWorkspaceInput),
  conversation_id: orNull(Type.String({ format: "uuid" })),
  confirmation_policy: Type.Optional(ref(ConfirmationPolicyInput, { default: { kind: "NeverConfirm" } })),
  initial_message: orNull(ref(SendMessageRequest)),
  max_iterations: Type.Optional(Type.Integer({ minimum: 1, default: 500 })),
  stuck_detection: flag(true),
  secrets: Type.Optional(mapOf(ref(SecretSourceInput), { impliedDefault: {} })),
  tool_module_qualnames: Type.Optional(mapOf(Type.String(), { impliedDefault: {} })),
  plugins: orNull(Type.Array(ref(PluginSource))),
  hook_config: orNull(ref(HookConfigInput)),
  ...startConversationExtensions,
});
export type StartConversationRequest = Static<typeof StartConversationRequest>;
