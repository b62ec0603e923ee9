/** A difference between our document and that of agent server 0.1.0, with its reason. `docs/compatibility-tables.md` lists the same. */
export type AllowedDifference = {
  /** A component or an operation. */
  readonly where: string;
  /** Its properties, parameters or statuses; `(added)` and `(absent)` mean all of it. */
  readonly what: readonly string[];
  readonly reason: string;
};

/** The same difference at several places. */
function each(
  what: readonly string[],
  reason: string,
  places: readonly string[],
): readonly AllowedDifference[] {
  return places.map((where) => ({ where, what, reason }));
}

/** One list, in the order of the document: it is read beside that, and a test compares it with the tables of the compatibility page. */
export const allowedDifferences: readonly AllowedDifference[] = [
  {
    where: "Agent-Input",
    what: ["system_prompt", "tool_concurrency_limit"],
    reason: "Newer clients send them; optional.",
  },
  {
    where: "Agent-Output",
    what: ["system_prompt", "tool_concurrency_limit"],
    reason: "Returned where they were sent.",
  },
  ...each(["response_schema"], "Ours: the form of answers; a reply has it on the conversation.", [
    "Agent-Input",
    "Agent-Output",
  ]),
  { where: "HookType", what: ["(form)"], reason: "Newer clients send agent; it comes back to who sent it." },
  ...each(["(form)"], "What loosens or tightens safety refuses fields that it does not know.", [
    "AlwaysConfirm-Input",
    "ConfirmRisky-Input",
    "NeverConfirm-Input",
    "ConfirmationResponseRequest",
    "SetConfirmationPolicyRequest",
    "LLMSecurityAnalyzer-Input",
    "GraySwanAnalyzer-Input",
    "LookupSecret-Input",
    "StaticSecret-Input",
    "UpdateSecretsRequest",
  ]),
  ...each(
    ["hosts", "as", "shape"],
    "Ours: the only hosts that get the secret; optional, and in replies of bound secrets only.",
    ["LookupSecret-Input", "LookupSecret-Output", "StaticSecret-Input", "StaticSecret-Output"],
  ),
  { where: "AgentContext-Input", what: ["load_project_skills"], reason: "Newer clients send it; optional." },
  { where: "AgentContext-Output", what: ["load_project_skills"], reason: "Returned where it was sent." },
  {
    where: "LLM",
    what: [
      "api_mode",
      "auth_type",
      "is_subscription",
      "provider_connection_id",
      "aws_session_token",
      "aws_profile_name",
    ],
    reason:
      "Newer clients send them; optional, and returned where they were sent. Of a conversation, is_subscription is told always.",
  },
  {
    where: "LLM",
    what: [
      "aws_role_name",
      "aws_session_name",
      "aws_bedrock_runtime_endpoint",
      "inline_image_urls",
      "fallback_strategy",
      "router",
      "capability_overrides",
    ],
    reason:
      "Newer clients send them; optional, and returned where they were sent. Of a conversation, is_subscription is told always.",
  },
  {
    where: "ConversationInfo",
    what: [
      "tags",
      "invoked_skills",
      "last_user_message_id",
      "leaf_event_id",
      "hook_config",
      "forked_from_conversation_id",
    ],
    reason: "Newer clients read them; each appears only where it says something.",
  },
  {
    where: "ConversationInfo",
    what: [
      "forked_from_event_id",
      "parent_conversation_id",
      "sub_conversation_ids",
      "client_tools",
      "worktree",
      "tool_module_qualnames",
    ],
    reason: "Newer clients read them; each appears only where it says something.",
  },
  {
    where: "ConversationInfo",
    what: [
      "max_budget_per_task",
      "max_run_seconds",
      "max_conversation_seconds",
      "approval_policy",
      "wall",
      "autotitle",
      "agent_definitions",
      "agent_launch_additions",
      "plugins",
    ],
    reason: "Newer clients read them; each appears only where it says something.",
  },
  {
    where: "ConversationInfo",
    what: ["share"],
    reason: "Ours: what a visitor with a share link is told about the link; present for nobody else.",
  },
  {
    where: "SetSecurityAnalyzerRequest",
    what: ["security_analyzer", "(form)"],
    reason: "Newer clients send analyzers that the contract does not name; other fields are refused.",
  },
  {
    where: "StartConversationRequest",
    what: [
      "title",
      "tags",
      "autotitle",
      "title_llm_profile",
      "agent_definitions",
      "security_analyzer",
      "agent_settings",
      "agent_profile_id",
    ],
    reason: "Newer clients send them; optional.",
  },
  {
    where: "StartConversationRequest",
    what: [
      "parent_conversation_id",
      "client_tools",
      "worktree",
      "worktree_options",
      "conversation_runtime",
      "container",
      "agent_launch_additions",
    ],
    reason: "Newer clients send them; optional.",
  },
  {
    where: "StartConversationRequest",
    what: [
      "agent_type",
      "approval_policy",
      "max_budget_per_task",
      "max_run_seconds",
      "max_conversation_seconds",
      "wall",
    ],
    reason:
      "Ours: what happens to actions that nobody answers, what a conversation may cost and how long it may run, and what its tools can reach; optional.",
  },
  ...each(["(added)"], "A part of that request.", [
    "ApprovalPolicy",
    "ReviewerPolicy",
    "WallRequest",
    "WallInfo",
    "NetworkRules",
    "AgentDefinition",
    "SubAgentCondenser",
    "ClientToolSpec",
    "ConversationWorktreeOptions",
    "AgentLaunchAdditions",
  ]),
  {
    where: "SendMessageRequest",
    what: ["client_message_id"],
    reason: "Ours: lets a client send a message again without doubling it.",
  },
  ...each(["response_schema"], "Ours: the form of the agent's answers; optional.", [
    "StartConversationRequest",
    "SendMessageRequest",
  ]),
  {
    where: "StartConversationRequest",
    what: ["agent_profile_revision", "profile_name", "profile_revision"],
    reason: "Ours: the stored profile, and the revision of one, that a conversation begins with; optional.",
  },
  {
    where: "ConversationInfo",
    what: ["settings_used"],
    reason: "Ours: the revisions of stored profiles that it works with; only where there are some.",
  },
  ...each(["(added)"], "A part of that field.", ["SettingsUsed", "UsedProfile"]),
  {
    where: "ConversationInfo",
    what: ["response_schema", "structured_output"],
    reason: "Ours: the form of the agent's answers, and the last one; each only with a value.",
  },
  ...each(["while_running"], "Ours: what a message does while the agent works; optional.", [
    "StartConversationRequest",
    "SendMessageRequest",
    "UpdateConversationRequest",
    "ConversationInfo",
  ]),
  {
    where: "ConversationInfo",
    what: ["pending_tool_calls"],
    reason: "Ours: the calls of client tools that wait for a result; only with a value.",
  },
  ...each(["(added)"], "Part of those fields.", ["WhileRunning", "PendingToolCall"]),
  { where: "SendMessageRequest", what: ["sender"], reason: "Newer clients send it; it is on the event." },
  {
    where: "UpdateConversationRequest",
    what: ["title"],
    reason: "Optional, because newer clients change the tags alone.",
  },
  { where: "UpdateConversationRequest", what: ["tags"], reason: "Newer clients send them; optional." },
  {
    where: "ServerInfo",
    what: ["title", "version"],
    reason:
      "The contract names the interface `agent server` 0.1.0; the document carries another product's name and version as defaults.",
  },
  {
    where: "ServerInfo",
    what: ["sdk_version", "tools_version", "workspace_version", "server_version", "usable_tools"],
    reason: "Newer clients read them; server_version is ours.",
  },
  {
    where: "ServerInfo",
    what: [
      "runtime_idle_timeout_seconds",
      "conversation_runtime",
      "available_conversation_runtimes",
      "capabilities",
    ],
    reason: "Newer clients read them; server_version is ours.",
  },
  { where: "HealthStatus", what: ["(added)"], reason: "The answer of the two routes below." },
  {
    where: "ConversationResponse",
    what: ["(added)"],
    reason: "The stop route of the contract answers with it; its schema is in the older document.",
  },
  { where: "ConversationStatus", what: ["(added)"], reason: "Part of ConversationResponse." },
  { where: "ErrorReply", what: ["(added)"], reason: "The body of refusals, which the document leaves open." },
  {
    where: "GET /alive",
    what: ["200"],
    reason: "The document leaves the body open; ours is an object with `status`.",
  },
  {
    where: "GET /health",
    what: ["200"],
    reason:
      "Newer clients read an object with `status`; the string of the document is the answer to `Accept: text/plain`.",
  },
  { where: "GET /ready", what: ["503"], reason: "Answered until everything that requests need is there." },
  {
    where: "GET /api/conversations/{conversation_id}/events/search",
    what: ["query limit"],
    reason:
      "The contract's upper bound of 100, which the document states in a keyword that JSON Schema does not have.",
  },
  {
    where: "GET /api/conversations/search",
    what: ["query limit"],
    reason: "The same upper bound for the same reason.",
  },
  {
    where: "GET /api/conversations/{conversation_id}/events",
    what: ["body", "query ids"],
    reason: "Browsers cannot send a body with GET: the ids may come in the query instead.",
  },
  {
    where: "GET /api/conversations/{conversation_id}/events",
    what: ["404"],
    reason: "The conversation may not exist.",
  },
  ...each(["query trim"], "Ours: shortens large events for who asks.", [
    "GET /api/conversations/{conversation_id}/events/search",
    "GET /api/conversations/{conversation_id}/events",
    "GET /api/conversations/{conversation_id}/events/{event_id}",
  ]),
  {
    where: "POST /api/conversations/{conversation_id}/events",
    what: ["404", "409"],
    reason: "The conversation may not exist, or may be about to be deleted.",
  },
  {
    where: "GET /api/conversations",
    what: ["query ids"],
    reason: "At most 100 ids, so that one request cannot ask for everything.",
  },
  {
    where: "POST /api/conversations",
    what: ["201", "403", "502", "503", "504"],
    reason: "201 for a new conversation, 200 for one that was there before; plugins may be fetched from git.",
  },
  {
    where: "POST /api/conversations/{conversation_id}/stop",
    what: ["(added)"],
    reason: "In the contract, absent from the document.",
  },
  {
    where: "POST /api/conversations/{conversation_id}/interrupt",
    what: ["(added)"],
    reason: "Newer clients call it.",
  },
  {
    where: "POST /api/conversations/{conversation_id}/generate_title",
    what: ["409", "503"],
    reason: "A conversation without a message has nothing to make a title from; a model may not answer.",
  },
  {
    where: "POST /api/conversations/{conversation_id}/ask_agent",
    what: ["503"],
    reason: "A model may not answer.",
  },
  {
    where: "POST /api/conversations/{conversation_id}/events/respond_to_confirmation",
    what: ["409"],
    reason: "During a run nothing waits: a rejection that changed nothing would look like one.",
  },
  {
    where: "POST /api/conversations/{conversation_id}/condense",
    what: ["409"],
    reason: "There may be no condenser, or nothing to shorten.",
  },
  {
    where: "GET /api/conversations/{conversation_id}/events/{event_id}/context",
    what: ["(added)"],
    reason: "Ours: what a model was asked.",
  },
  { where: "EventContext", what: ["(added)"], reason: "The reply of our route." },
  { where: "ExtraFolder", what: ["(added)"], reason: "A folder that a wall shows as well." },
  { where: "ContextShare", what: ["(added)"], reason: "A part of that reply." },
  {
    where: "GET /api/bash/bash_events/search",
    what: ["query limit"],
    reason: "The same upper bound for the same reason.",
  },
  ...each(["403"], "The caller may not be let onto the machine.", [
    "GET /api/bash/bash_events/search",
    "GET /api/bash/bash_events/{event_id}",
  ]),
  {
    where: "GET /api/bash/bash_events/",
    what: ["body", "query ids"],
    reason: "Browsers cannot send a body with GET: the ids may come in the query instead.",
  },
  {
    where: "GET /api/bash/bash_events/",
    what: ["403"],
    reason: "The caller may not be let onto the machine.",
  },
  ...each(["403", "429"], "The caller may not be let onto the machine, or too many commands run.", [
    "POST /api/bash/start_bash_command",
    "POST /api/bash/execute_bash_command",
  ]),
  {
    where: "DELETE /api/bash/bash_events",
    what: ["403"],
    reason: "The caller may not be let onto the machine.",
  },
  ...each(["400", "403", "404"], "What can be wrong with a path is told by status.", [
    "GET /api/git/changes/{path}",
    "GET /api/git/diff/{path}",
  ]),
  {
    where: "POST /api/file/upload/{path}",
    what: ["400", "403", "404", "413"],
    reason: "What can be wrong with a path is told by status.",
  },
  {
    where: "GET /api/file/download/{path}",
    what: ["200", "206", "304", "400", "403", "404", "416"],
    reason:
      "The answer is the file, no JSON; parts of it can be asked for. What can be wrong with a path is told by status.",
  },
  {
    where: "GET /api/file/download-trajectory/{conversation_id}",
    what: ["200", "404"],
    reason: "The answer is a zip file, no JSON; the conversation may not exist.",
  },
  {
    where: "GET /api/vscode/url",
    what: ["query base_url", "503"],
    reason: "There is no editor, so no address stands for a missing one.",
  },
  {
    where: "GET /api/desktop/url",
    what: ["query base_url", "503"],
    reason: "There is no desktop, so no address stands for a missing one.",
  },
  ...each(["(added)"], "Newer clients call it.", [
    "GET /api/git/changes",
    "GET /api/git/diff",
    "POST /api/bash/bash_commands/{command_id}/stop",
    "GET /api/git/commits",
    "GET /api/git/commits/{sha}/changes",
    "POST /api/file/upload",
    "GET /api/file/download",
    "POST /api/file/create_directory",
    "GET /api/file/home",
    "GET /api/file/search_subdirs",
    "GET /api/file/archive",
    "GET /api/workspaces",
    "POST /api/workspaces",
    "DELETE /api/workspaces",
    "POST /api/workspaces/parents",
    "DELETE /api/workspaces/parents",
    "POST /api/auth/workspace-session",
    "DELETE /api/auth/workspace-session",
    "GET /api/conversations/{conversation_id}/workspace",
    "GET /api/conversations/{conversation_id}/workspace/{file_path}",
  ]),
  ...each(["(added)"], "Part of the newer routes of files, git and workspaces.", [
    "GitCommit",
    "GitCommitsPage",
    "FileBrowserEntry",
    "FileUploadResult",
    "HomeResponse",
    "SubdirectoryEntry",
    "SubdirectoryPage",
    "WorkspaceItem",
    "WorkspaceParentItem",
    "WorkspacesListResponse",
    "AddWorkspacesRequest",
    "AddWorkspaceParentsRequest",
    "DeleteResponse",
  ]),
  ...each(["(added)"], "Other agents, as newer servers have them.", [
    "ACPAgent-Input",
    "ACPAgent-Output",
    "ACPModelInfo",
  ]),
  {
    where: "AgentBase-Input",
    what: [
      "(form)",
      "openhands__sdk__agent__acp_agent__ACPAgent-Input__1",
      "openhands__sdk__agent__agent__Agent-Input__1",
    ],
    reason: "A choice of two, with its names, as newer servers have it.",
  },
  {
    where: "AgentBase-Output",
    what: [
      "(form)",
      "openhands__sdk__agent__acp_agent__ACPAgent-Output__1",
      "openhands__sdk__agent__agent__Agent-Output__1",
    ],
    reason: "A choice of two, with its names, as newer servers have it.",
  },
  {
    where: "ConversationInfo",
    what: ["current_model_id", "available_models", "supports_runtime_model_switch"],
    reason: "Of a conversation with another agent, where that has told its models.",
  },
];
