const text = { type: "string" };
const object = { type: "object" };
const count = { type: "integer", minimum: 0 };
const closed = (required: readonly string[], properties: object): object => ({
  type: "object",
  additionalProperties: false,
  required,
  properties,
});
const listOf = (items: object): object => ({ type: "array", items });

const part = {
  anyOf: [
    closed(["type", "text"], { type: { const: "text" }, text }),
    closed(["type", "source"], {
      type: { const: "image" },
      source: closed(["media_type", "path"], {
        media_type: { enum: ["image/jpeg", "image/png", "image/gif", "image/webp"] },
        path: text,
      }),
    }),
  ],
};
const content = { anyOf: [text, listOf(part)] };

const shared = {
  step_id: { type: "integer", minimum: 1 },
  timestamp: { ...text, pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}" },
  message: content,
  observation: closed(["results"], {
    results: listOf(closed([], { source_call_id: text, content, extra: object })),
  }),
  llm_call_count: count,
  extra: object,
};
const ofAgent = {
  model_name: text,
  reasoning_content: text,
  tool_calls: listOf(
    closed(["tool_call_id", "function_name", "arguments"], {
      tool_call_id: text,
      function_name: text,
      arguments: object,
      extra: object,
    }),
  ),
  metrics: closed([], {
    prompt_tokens: count,
    completion_tokens: count,
    cached_tokens: count,
    cost_usd: { type: "number" },
    extra: object,
  }),
};
const required = ["step_id", "source", "message"];

/** The Agent Trajectory Interchange Format, as far as this server writes it; unknown fields are wrong in it. Source: RFC 0001, v1.7. */
export const atifSchema = closed(["schema_version", "agent", "steps"], {
  schema_version: { const: "ATIF-v1.7" },
  session_id: text,
  trajectory_id: text,
  agent: closed(["name", "version"], { name: text, version: text, model_name: text, extra: object }),
  steps: {
    type: "array",
    minItems: 1,
    items: {
      anyOf: [
        closed(required, { source: { const: "agent" }, ...shared, ...ofAgent }),
        closed(required, { source: { enum: ["system", "user"] }, ...shared }),
      ],
    },
  },
  final_metrics: closed([], {
    total_prompt_tokens: count,
    total_completion_tokens: count,
    total_cached_tokens: count,
    total_cost_usd: { type: "number" },
    total_steps: count,
    extra: object,
  }),
  extra: object,
});
