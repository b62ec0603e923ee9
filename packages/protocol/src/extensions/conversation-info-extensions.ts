import { Type } from "typebox";
import { anyObject, mapOf, nullable, orAbsent, ref } from "../schema.ts";
import { ApprovalPolicy } from "../conversation/approval-policy.ts";
import { PendingToolCall } from "../conversation/tool-results.ts";
import { WallInfo } from "../conversation/wall.ts";
import { WhileRunning } from "../conversation/while-running.ts";
import { SettingsUsed } from "../settings/profile-revision.ts";
import { ACPModelInfo } from "../workspace/acp-models.ts";
import { ClientToolSpec } from "./client-tool-spec.ts";

const id = Type.String({ format: "uuid" });

/** Conversation fields of newer clients; present in a reply only with a value. */
export const conversationInfoExtensions = {
  tags: Type.Optional(mapOf(Type.String())),
  invoked_skills: Type.Optional(Type.Array(Type.String())),
  last_user_message_id: orAbsent(Type.String()),
  leaf_event_id: orAbsent(Type.String()),
  hook_config: orAbsent(anyObject()),
  forked_from_conversation_id: orAbsent(id),
  forked_from_event_id: orAbsent(Type.String()),
  parent_conversation_id: orAbsent(id),
  sub_conversation_ids: Type.Optional(Type.Array(id)),
  client_tools: Type.Optional(Type.Array(ref(ClientToolSpec))),
  worktree: orAbsent(anyObject()),
  tool_module_qualnames: Type.Optional(mapOf(Type.String())),
  // Values that were given at the start or changed later; otherwise absent.
  max_budget_per_task: orAbsent(Type.Number()),
  max_run_seconds: orAbsent(Type.Number()),
  max_conversation_seconds: orAbsent(Type.Number()),
  approval_policy: orAbsent(ref(ApprovalPolicy)),
  wall: Type.Optional(ref(WallInfo)),
  while_running: orAbsent(ref(WhileRunning)),
  pending_tool_calls: Type.Optional(
    Type.Array(ref(PendingToolCall), { description: "Calls of client tools that wait for a result." }),
  ),
  response_schema: orAbsent(anyObject()),
  settings_used: Type.Optional(ref(SettingsUsed)),
  structured_output: Type.Optional(
    anyObject({
      description:
        "The agent's last answer, where a `response_schema` counted and the answer is valid by it.",
    }),
  ),
  /** Only for the link of a shared conversation, whose other fields are those that a reader needs. */
  share: Type.Optional(
    Type.Object({
      expires_at: Type.String({ format: "date-time" }),
      /** The last event that the link shows; null: the whole conversation. */
      up_to_event_id: nullable(Type.String()),
    }),
  ),
  autotitle: Type.Optional(Type.Boolean()),
  agent_definitions: Type.Optional(Type.Array(anyObject())),
  agent_launch_additions: orAbsent(anyObject()),
  plugins: Type.Optional(Type.Array(anyObject())),
  // Of a conversation with another agent, once that has told its models.
  current_model_id: orAbsent(Type.String()),
  available_models: Type.Optional(Type.Array(ref(ACPModelInfo))),
  supports_runtime_model_switch: Type.Optional(Type.Boolean()),
};
