import type { SettingsFieldSchema, SettingsSchema } from "@convoke/protocol";

type Field = Pick<SettingsFieldSchema, "key" | "label" | "value_type"> & Partial<SettingsFieldSchema>;
type More = Partial<SettingsFieldSchema>;

/** A field of one type, with what it is where nobody sets it. */
const fieldOf =
  (type: Field["value_type"]) =>
  (key: string, label: string, usual: Field["default"], more: More = {}): Field => ({
    key,
    label,
    value_type: type,
    default: usual,
    ...more,
  });

const text = fieldOf("string");
const flag = fieldOf("boolean");
const integer = fieldOf("integer");
const number = fieldOf("number");

function secret(key: string, label: string, more: More = {}): Field {
  return { key, label, value_type: "string", secret: true, ...more };
}

const major = { prominence: "major" } as const;
const critical = { prominence: "critical" } as const;

/** The fields of the agent settings that a form can offer. */
export function agentSettingsForm(): SettingsSchema {
  return {
    model_name: "AgentSettings",
    sections: [
      section("general", "General", [
        fieldOf("array")("tools", "Tools", null, major),
        flag("enable_sub_agents", "Sub-agents", false),
        integer("tool_concurrency_limit", "Calls side by side", 1),
      ]),
      section("llm", "Model", modelFields),
      section("agent_context", "Context", [
        flag("agent_context.load_project_skills", "Skills of the project", false, major),
        flag("agent_context.load_user_skills", "Skills of your own", false, major),
        flag("agent_context.load_public_skills", "Public skills", false),
        text("agent_context.system_message_suffix", "Text after the system message", null),
        flag("agent_context.load_memory", "Persistent memory", false, {
          description: "Kept for other servers; this one has no memory between conversations.",
        }),
      ]),
      section("condenser", "Condenser", [
        flag("condenser.enabled", "Condense long histories", true, critical),
        integer("condenser.max_size", "Maximum events before condensing", null, whenCondensing),
        integer("condenser.max_tokens", "Maximum tokens before condensing", null, whenCondensing),
        integer("condenser.keep_first", "First events that stay", 2, whenCondensing),
      ]),
      section("verification", "Verification", criticFields),
      section("mcp", "MCP servers", [fieldOf("object")("mcp_config", "Servers by name", {})]),
    ],
  };
}

const whenCondensing = { depends_on: ["condenser.enabled"] };

const modelFields: readonly Field[] = [
  text("llm.model", "Model", null, critical),
  secret("llm.api_key", "API key", critical),
  text("llm.base_url", "Base URL", null, major),
  text("llm.provider_connection_id", "Provider connection", null, major),
  text("llm.api_version", "API version", null),
  secret("llm.aws_access_key_id", "AWS access key id"),
  secret("llm.aws_secret_access_key", "AWS secret access key"),
  secret("llm.aws_session_token", "AWS session token"),
  text("llm.aws_region_name", "AWS region", null),
  integer("llm.num_retries", "Retries", 5),
  integer("llm.timeout", "Seconds before a silent model is given up", null),
  number("llm.temperature", "Temperature", null),
  number("llm.top_p", "Top p", null),
  integer("llm.max_input_tokens", "Maximum input tokens", null),
  integer("llm.max_output_tokens", "Maximum output tokens", null),
  text("llm.api_mode", "Which API of the provider", "auto", {
    choices: [
      { value: "auto", label: "As the model prefers" },
      { value: "chat", label: "Chat" },
      { value: "responses", label: "Responses" },
    ],
  }),
  text("llm.reasoning_effort", "Effort of reasoning", "high"),
  flag("llm.stream", "Show answers while they are written", false),
  flag("llm.disable_vision", "Send it no images", null),
  flag("llm.caching_prompt", "Cache prompts", true),
  number("llm.input_cost_per_token", "Dollars for an input token", null),
  number("llm.output_cost_per_token", "Dollars for an output token", null),
];

const aboutCritic = { description: "Kept for other servers; this one asks no critic of the settings." };
const withCritic = { ...aboutCritic, depends_on: ["verification.critic_enabled"] };
const whenRefining = {
  ...aboutCritic,
  depends_on: ["verification.critic_enabled", "verification.enable_iterative_refinement"],
};

const criticFields: readonly Field[] = [
  flag("verification.critic_enabled", "Ask a critic", false, { ...aboutCritic, ...critical }),
  text("verification.critic_mode", "When it is asked", "finish_and_message", {
    ...withCritic,
    choices: [
      { value: "finish_and_message", label: "At the end" },
      { value: "all_actions", label: "After each action" },
    ],
  }),
  flag("verification.enable_iterative_refinement", "Continue until it approves", false, withCritic),
  number("verification.critic_threshold", "Sufficient score", 0.6, whenRefining),
  integer("verification.max_refinement_iterations", "Most rounds", 3, whenRefining),
];

/** The fields of the conversation settings. */
export function conversationSettingsForm(): SettingsSchema {
  return {
    model_name: "ConversationSettings",
    sections: [
      section("general", "General", [
        integer("max_iterations", "Maximum steps of one run", 500, major),
        text("while_running", "A message while the agent works", "steer", {
          choices: [
            { value: "steer", label: "The agent reads it with its next step" },
            { value: "queue", label: "It waits until the run has ended" },
            { value: "interrupt", label: "It interrupts the agent" },
            { value: "reject", label: "It is rejected" },
            { value: "replace", label: "It replaces unread ones" },
          ],
        }),
      ]),
      section("verification", "Verification", [
        flag("confirmation_mode", "Ask before actions", false, critical),
        text("security_analyzer", "Who rates the risk", "llm", {
          ...major,
          depends_on: ["confirmation_mode"],
          choices: [
            { value: "llm", label: "The model" },
            { value: "none", label: "Nobody" },
          ],
        }),
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
