import { Type } from "typebox";
import { ApprovalPolicy } from "../conversation/approval-policy.ts";
import { conversationSeconds, runSeconds } from "../conversation/time-limits.ts";
import { WallRequest } from "../conversation/wall.ts";
import { WhileRunning } from "../conversation/while-running.ts";
import { AgentDefinition } from "./agent-definition.ts";
import { ClientToolSpec } from "./client-tool-spec.ts";
import { ConversationWorktreeOptions } from "./worktree-options.ts";
import { anyObject, choice, closedObject, mapOf, orAbsent, ref } from "../schema.ts";

const tags = Type.Optional(mapOf(Type.String({ maxLength: 256 })));

/** Fields on messages. `client_message_id` is ours: a repeated id adds nothing and returns the first result. */
export const sendMessageExtensions = {
  sender: orAbsent(
    Type.String({ maxLength: 256, description: "Which agent sends it, where there are several." }),
  ),
  client_message_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: "Makes sending the message again harmless." }),
  ),
  response_schema: orAbsent(
    anyObject({
      description:
        "JSON Schema of the answer to this message, of the type object; it counts before that of the conversation.",
    }),
  ),
  while_running: orAbsent(ref(WhileRunning)),
};

/** Additional tools of one conversation's agent, however the agent was chosen. */
export const AgentLaunchAdditions = closedObject("AgentLaunchAdditions", {
  system_message_suffix_append: orAbsent(Type.String({ maxLength: 32_768 })),
});

/** Start options of newer clients. Unknown ones are ignored. */
export const startConversationExtensions = {
  title: orAbsent(Type.String({ minLength: 1, maxLength: 200 })),
  tags,
  autotitle: Type.Optional(
    Type.Boolean({ description: "False keeps the title empty until someone sets it." }),
  ),
  title_llm_profile: orAbsent(
    Type.String({ maxLength: 200, description: "The stored model profile that writes the title." }),
  ),
  agent_definitions: Type.Optional(Type.Array(ref(AgentDefinition), { maxItems: 100 })),
  security_analyzer: orAbsent(anyObject()),
  agent_settings: orAbsent(anyObject()),
  agent_profile_id: orAbsent(Type.String({ format: "uuid" })),
  agent_profile_revision: orAbsent(
    Type.Integer({
      minimum: 0,
      description:
        "The revision of the agent profile that `agent_profile_id` names; the newest one unless given.",
    }),
  ),
  profile_name: orAbsent(
    Type.String({
      maxLength: 64,
      description: "The stored model profile of the agent, where the request has no agent of its own.",
    }),
  ),
  profile_revision: orAbsent(
    Type.Integer({
      minimum: 0,
      description: "The revision of the profile that `profile_name` names; the newest one unless given.",
    }),
  ),
  parent_conversation_id: orAbsent(Type.String({ format: "uuid" })),
  client_tools: Type.Optional(Type.Array(ref(ClientToolSpec))),
  worktree: Type.Optional(
    Type.Boolean({ description: "Work in a git worktree of its own of the repository of `working_dir`." }),
  ),
  worktree_options: orAbsent(ref(ConversationWorktreeOptions)),
  agent_type: Type.Optional(
    choice(["default", "plan"], {
      description: "With plan the agent plans first, wherever it comes from; see POST .../plan/approve.",
    }),
  ),
  conversation_runtime: orAbsent(choice(["local", "docker"])),
  container: orAbsent(anyObject({ description: "What a container may have; read with `docker` alone." })),
  agent_launch_additions: orAbsent(ref(AgentLaunchAdditions)),
  max_budget_per_task: orAbsent(
    Type.Number({
      minimum: 0,
      description: "US dollars for all model calls of the conversation; null: no limit.",
    }),
  ),
  max_run_seconds: orAbsent(runSeconds),
  max_conversation_seconds: orAbsent(conversationSeconds),
  approval_policy: orAbsent(ref(ApprovalPolicy)),
  wall: orAbsent(ref(WallRequest)),
  response_schema: orAbsent(
    anyObject({
      description:
        "JSON Schema of the agent's answers, of the type object; `structured_output` is the newest valid one.",
    }),
  ),
  while_running: orAbsent(ref(WhileRunning)),
};

/** Newer clients may change tags as well; they replace the old ones. */
export const updateConversationExtensions = {
  tags: orAbsent(mapOf(Type.String({ maxLength: 256 }))),
  while_running: orAbsent(ref(WhileRunning)),
};
