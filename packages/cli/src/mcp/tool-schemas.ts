/** JSON Schemas of what tools take and give: models read them. */
const text = (description: string): object => ({ type: "string", description });
const id = text("The id of the conversation.");

function object(properties: Readonly<Record<string, object>>, required: readonly string[] = []) {
  return { type: "object", properties, required, additionalProperties: false };
}

const waiting = {
  type: "array",
  description: "Actions that a person has to approve before the agent goes on.",
  items: object(
    {
      action_id: text("For answer_approval."),
      tool: text("The tool."),
      risk: text("LOW, MEDIUM, HIGH or UNKNOWN."),
      summary: text("What the action does."),
    },
    ["action_id", "tool", "risk", "summary"],
  ),
};

const state = {
  id,
  status: text("idle, running, paused, waiting_for_confirmation, finished, error or stuck."),
  answer: text("What the agent said last; empty before it has said anything."),
  waiting,
};
const stateRequired = ["id", "status", "answer", "waiting"];

export const schemas = {
  start_conversation: {
    input: object(
      {
        task: text("What the agent is to do, in full: it knows nothing of this conversation."),
        working_dir: text("Absolute path of the folder to work in; that of this server when left out."),
      },
      ["task"],
    ),
    output: object({ id, status: state.status }, ["id", "status"]),
  },
  send_message: {
    input: object({ id, message: text("The message. It is read with the agent's next step.") }, [
      "id",
      "message",
    ]),
    output: object({ id, event_id: text("The stored message.") }, ["id", "event_id"]),
  },
  wait_for_conversation: {
    input: object(
      {
        id,
        timeout_s: {
          type: "number",
          exclusiveMinimum: 0,
          maximum: 50,
          default: 30,
          description: "Seconds to wait at most. Call it again while the status is running.",
        },
      },
      ["id"],
    ),
    output: object(state, stateRequired),
  },
  read_conversation: {
    input: object(
      {
        id,
        after_event_id: text("Only events behind this one, such as the cursor of the call before."),
        limit: { type: "integer", minimum: 1, maximum: 100, default: 30, description: "Events at most." },
      },
      ["id"],
    ),
    output: object(
      {
        ...state,
        cursor: text("The last event that was given; empty where there was none."),
        events: {
          type: "array",
          items: object(
            {
              id: text("The event."),
              kind: text("Its kind."),
              source: text("Whose it is."),
              text: text("Its text."),
            },
            ["id", "kind", "source", "text"],
          ),
        },
      },
      [...stateRequired, "cursor", "events"],
    ),
  },
  answer_approval: {
    input: object(
      {
        id,
        action_id: text("The action that waits."),
        accept: { type: "boolean", description: "Whether it may run." },
        reason: text("Why not."),
      },
      ["id", "action_id", "accept"],
    ),
    output: object({ id, status: state.status }, ["id", "status"]),
  },
  stop_conversation: {
    input: object({ id }, ["id"]),
    output: object({ id, status: state.status }, ["id", "status"]),
  },
  search: {
    input: object(
      {
        query: text('Words and "phrases" that an event must all have.'),
        limit: { type: "integer", minimum: 1, maximum: 50, default: 20, description: "Hits at most." },
      },
      ["query"],
    ),
    output: object(
      {
        hits: {
          type: "array",
          items: object(
            {
              conversation_id: id,
              event_id: text("The event."),
              kind: text("Its kind."),
              title: text("The title of the conversation."),
              text: text("The text around the match."),
            },
            ["conversation_id", "event_id", "kind", "title", "text"],
          ),
        },
      },
      ["hits"],
    ),
  },
} as const;

export type ToolName = keyof typeof schemas;

export const descriptions: Readonly<Record<ToolName, string>> = {
  start_conversation:
    "Start an agent on a task of its own. It works until it is done or needs an approval; wait_for_conversation waits for that.",
  send_message: "Send an agent a message: a correction, an answer, or the next task.",
  wait_for_conversation: "Wait until an agent is at rest, and read what it said last.",
  read_conversation: "Read how a conversation stands and its events, oldest first.",
  answer_approval:
    "Answer an action that waits for approval. Only where the person who started this server allows it.",
  stop_conversation: "Interrupt an agent. A message lets it go on.",
  search: "Search the texts of all conversations.",
};
