import type { SettingsFieldSchema, SettingsSchema } from "@convoke/protocol";

type Field = Pick<SettingsFieldSchema, "key" | "label" | "value_type"> & Partial<SettingsFieldSchema>;

/** The fields of the agent settings that a form can offer. */
export function agentSettingsForm(): SettingsSchema {
  return {
    model_name: "AgentSettings",
    sections: [
      section("llm", "Model", [
        { key: "llm.model", label: "Model", value_type: "string", default: null, prominence: "critical" },
        { key: "llm.api_key", label: "API key", value_type: "string", secret: true, prominence: "critical" },
        { key: "llm.base_url", label: "Base URL", value_type: "string", default: null, prominence: "major" },
        { key: "llm.temperature", label: "Temperature", value_type: "number", default: null },
        { key: "llm.max_output_tokens", label: "Most output tokens", value_type: "integer", default: null },
      ]),
      section("condenser", "Condenser", [
        {
          key: "condenser.enabled",
          label: "Condense long histories",
          value_type: "boolean",
          default: true,
          prominence: "major",
        },
        {
          key: "condenser.max_size",
          label: "Most events before condensing",
          value_type: "integer",
          default: null,
          depends_on: ["condenser.enabled"],
        },
      ]),
      section("mcp", "MCP servers", [
        { key: "mcp_config", label: "Servers by name", value_type: "object", default: {} },
      ]),
    ],
  };
}

/** The fields of the conversation settings. */
export function conversationSettingsForm(): SettingsSchema {
  return {
    model_name: "ConversationSettings",
    sections: [
      section("general", "General", [
        {
          key: "max_iterations",
          label: "Most steps of one run",
          value_type: "integer",
          default: 500,
          prominence: "major",
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
          label: "Who judges the risk",
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
