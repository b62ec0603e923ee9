import type { SettingsFieldSchema, SettingsSchema } from "@convoke/protocol";

type Field = Pick<SettingsFieldSchema, "key" | "label" | "value_type"> & Partial<SettingsFieldSchema>;

/** The fields of the agent settings that a form can offer. */
export function agentSettingsForm(): SettingsSchema {
  return {
    model_name: "AgentSettings",
    sections: [
      section("general", "General", [
        { key: "tools", label: "Tools", value_type: "array", default: null, prominence: "major" },
        { key: "enable_sub_agents", label: "Sub-agents", value_type: "boolean", default: false },
        { key: "tool_concurrency_limit", label: "Calls side by side", value_type: "integer", default: 1 },
      ]),
      section("llm", "Model", modelFields),
      section("agent_context", "Context", [
        {
          key: "agent_context.load_project_skills",
          label: "Skills of the project",
          value_type: "boolean",
          default: false,
          prominence: "major",
        },
        {
          key: "agent_context.load_user_skills",
          label: "Skills of your own",
          value_type: "boolean",
          default: false,
          prominence: "major",
        },
        {
          key: "agent_context.load_public_skills",
          label: "Public skills",
          value_type: "boolean",
          default: false,
        },
        {
          key: "agent_context.system_message_suffix",
          label: "Text after the system message",
          value_type: "string",
          default: null,
        },
        {
          key: "agent_context.load_memory",
          label: "Persistent memory",
          description: "Kept for other servers; this one has no memory between conversations.",
          value_type: "boolean",
          default: false,
        },
      ]),
      section("condenser", "Condenser", [
        {
          key: "condenser.enabled",
          label: "Condense long histories",
          value_type: "boolean",
          default: true,
          prominence: "critical",
        },
        {
          key: "condenser.max_size",
          label: "Maximum events before condensing",
          value_type: "integer",
          default: null,
          depends_on: ["condenser.enabled"],
        },
        {
          key: "condenser.max_tokens",
          label: "Maximum tokens before condensing",
          value_type: "integer",
          default: null,
          depends_on: ["condenser.enabled"],
        },
        {
          key: "condenser.keep_first",
          label: "First events that stay",
          value_type: "integer",
          default: 2,
          depends_on: ["condenser.enabled"],
        },
      ]),
      section("verification", "Verification", criticFields),
      section("mcp", "MCP servers", [
        { key: "mcp_config", label: "Servers by name", value_type: "object", default: {} },
      ]),
    ],
  };
}

const modelFields: readonly Field[] = [
  { key: "llm.model", label: "Model", value_type: "string", default: null, prominence: "critical" },
  { key: "llm.api_key", label: "API key", value_type: "string", secret: true, prominence: "critical" },
  { key: "llm.base_url", label: "Base URL", value_type: "string", default: null, prominence: "major" },
  {
    key: "llm.provider_connection_id",
    label: "Provider connection",
    value_type: "string",
    default: null,
    prominence: "major",
  },
  { key: "llm.api_version", label: "API version", value_type: "string", default: null },
  { key: "llm.aws_access_key_id", label: "AWS access key id", value_type: "string", secret: true },
  { key: "llm.aws_secret_access_key", label: "AWS secret access key", value_type: "string", secret: true },
  { key: "llm.aws_session_token", label: "AWS session token", value_type: "string", secret: true },
  { key: "llm.aws_region_name", label: "AWS region", value_type: "string", default: null },
  { key: "llm.num_retries", label: "Retries", value_type: "integer", default: 5 },
  {
    key: "llm.timeout",
    label: "Seconds before a silent model is given up",
    value_type: "integer",
    default: null,
  },
  { key: "llm.temperature", label: "Temperature", value_type: "number", default: null },
  { key: "llm.top_p", label: "Top p", value_type: "number", default: null },
  { key: "llm.max_input_tokens", label: "Maximum input tokens", value_type: "integer", default: null },
  { key: "llm.max_output_tokens", label: "Maximum output tokens", value_type: "integer", default: null },
  {
    key: "llm.api_mode",
    label: "Which API of the provider",
    value_type: "string",
    default: "auto",
    choices: [
      { value: "auto", label: "As the model prefers" },
      { value: "chat", label: "Chat" },
      { value: "responses", label: "Responses" },
    ],
  },
  { key: "llm.reasoning_effort", label: "Effort of reasoning", value_type: "string", default: "high" },
  { key: "llm.stream", label: "Show answers while they are written", value_type: "boolean", default: false },
  { key: "llm.disable_vision", label: "Send it no images", value_type: "boolean", default: null },
  { key: "llm.caching_prompt", label: "Cache prompts", value_type: "boolean", default: true },
  {
    key: "llm.input_cost_per_token",
    label: "Dollars for an input token",
    value_type: "number",
    default: null,
  },
  {
    key: "llm.output_cost_per_token",
    label: "Dollars for an output token",
    value_type: "number",
    default: null,
  },
];

const criticNote = "Kept for other servers; this one asks no critic of the settings.";

const criticFields: readonly Field[] = [
  {
    key: "verification.critic_enabled",
    label: "Ask a critic",
    description: criticNote,
    value_type: "boolean",
    default: false,
    prominence: "critical",
  },
  {
    key: "verification.critic_mode",
    label: "When it is asked",
    description: criticNote,
    value_type: "string",
    default: "finish_and_message",
    depends_on: ["verification.critic_enabled"],
    choices: [
      { value: "finish_and_message", label: "At the end" },
      { value: "all_actions", label: "After each action" },
    ],
  },
  {
    key: "verification.enable_iterative_refinement",
    label: "Continue until it approves",
    description: criticNote,
    value_type: "boolean",
    default: false,
    depends_on: ["verification.critic_enabled"],
  },
  {
    key: "verification.critic_threshold",
    label: "Sufficient score",
    description: criticNote,
    value_type: "number",
    default: 0.6,
    depends_on: ["verification.critic_enabled", "verification.enable_iterative_refinement"],
  },
  {
    key: "verification.max_refinement_iterations",
    label: "Most rounds",
    description: criticNote,
    value_type: "integer",
    default: 3,
    depends_on: ["verification.critic_enabled", "verification.enable_iterative_refinement"],
  },
];

/** The fields of the conversation settings. */
export function conversationSettingsForm(): SettingsSchema {
  return {
    model_name: "ConversationSettings",
    sections: [
      section("general", "General", [
        {
          key: "max_iterations",
          label: "Maximum steps of one run",
          value_type: "integer",
          default: 500,
          prominence: "major",
        },
        {
          key: "while_running",
          label: "A message while the agent works",
          value_type: "string",
          default: "steer",
          choices: [
            { value: "steer", label: "The agent reads it with its next step" },
            { value: "queue", label: "It waits until the run has ended" },
            { value: "interrupt", label: "It interrupts the agent" },
            { value: "reject", label: "It is rejected" },
            { value: "replace", label: "It replaces unread ones" },
          ],
        },
      ]),
      section("verification", "Verification", [
        {
          key: "confirmation_mode",
          label: "Ask before actions",
          value_type: "boolean",
          default: false,
          prominence: "critical",
        },
        {
          key: "security_analyzer",
          label: "Who rates the risk",
          value_type: "string",
          default: "llm",
          prominence: "major",
          depends_on: ["confirmation_mode"],
          choices: [
            { value: "llm", label: "The model" },
            { value: "none", label: "Nobody" },
          ],
        },
      ]),
    ],
  };
}

function section(key: string, label: string, fields: readonly Field[]): SettingsSchema["sections"][number] {
  return {
    key,
    label,
    fields: fields.map((field) => ({
      prominence: "minor",
      depends_on: [],
      secret: false,
      choices: [],
      ...field,
      section: key,
      section_label: label,
    })),
  };
}
