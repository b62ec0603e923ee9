import type { UnknownRecord } from "../view/unknown-record.ts";

/** The nth timestamp and id of a log; both increase, as on a server. */
function placeOf(index: number): { id: string; timestamp: string } {
  const number = String(index).padStart(6, "0");
  return { id: `0193-${number}`, timestamp: `2026-01-31T12:00:00.${number}Z` };
}

/** Builds logs from events; ids and times are generated. */
export class SampleLog {
  readonly events: UnknownRecord[] = [];

  get lastId(): string {
    return String(this.events.at(-1)?.["id"]);
  }

  add(event: UnknownRecord): string {
    const whole = { ...placeOf(this.events.length), ...event };
    this.events.push(whole);
    return whole.id;
  }

  message(text: string, source: "user" | "agent" | "environment" = "user", more: UnknownRecord = {}): string {
    const role = source === "agent" ? "assistant" : "user";
    return this.add({
      kind: "MessageEvent",
      source,
      llm_message: { role, content: [{ type: "text", text }] },
      ...more,
    });
  }

  action(tool: string, action: UnknownRecord | null, more: UnknownRecord = {}): string {
    return this.add({
      kind: "ActionEvent",
      source: "agent",
      tool_name: tool,
      tool_call_id: `call-${this.events.length}`,
      tool_call: { id: "call", name: tool, arguments: JSON.stringify(action), origin: "completion" },
      thought: [],
      action,
      llm_response_id: `resp-${this.events.length}`,
      ...more,
    });
  }

  result(actionId: string, observation: UnknownRecord, tool = "terminal"): string {
    return this.add({
      kind: "ObservationEvent",
      source: "environment",
      tool_name: tool,
      tool_call_id: "call",
      action_id: actionId,
      observation,
    });
  }

  state(key: string, value: unknown): string {
    return this.add({ kind: "ConversationStateUpdateEvent", source: "environment", key, value });
  }

  command(command: string, output: string, exitCode = 0): string {
    const id = this.action("terminal", { kind: "TerminalAction", command });
    this.result(id, {
      kind: "TerminalObservation",
      content: [{ type: "text", text: output }],
      command,
      exit_code: exitCode,
    });
    return id;
  }
}
