import { storedEvents, type MemoryConversation } from "../memory-conversation.ts";

type AnyEvent = Readonly<Record<string, unknown>> & {
  readonly llm_message?: { readonly content: readonly { readonly text?: string }[] };
};

/** The log of a conversation in short, from its first message on: one line for each event. */
export function logLines(opened: MemoryConversation): string[] {
  return storedEvents(opened).flatMap(({ event }) => {
    const line = lineOf(event as unknown as AnyEvent);
    return line === null ? [] : [line];
  });
}

function lineOf(event: AnyEvent): string | null {
  const { code, key, kind, llm_message: message, status, tool_call_id: call, tool_name: tool, value } = event;
  switch (kind) {
    case "MessageEvent":
      return `${String(event["source"])}: ${message!.content.map(({ text }) => text).join("")}`;
    case "ACPToolCallEvent":
      return `call ${String(call)} ${String(status)}`;
    case "ActionEvent":
      return `action ${String(tool)} ${String(call)}`;
    case "ConversationErrorEvent":
      return `error ${String(code)}`;
    case "ConversationStateUpdateEvent":
      if (key === "execution_status") return `is ${String(value)}`;
      if (key === "acp_prompt") return `prompt ${statusOf(value)}`;
      if (key === "warning") return `warning ${(value as { code: string }).code}`;
      return key === "last_user_message_id" ? null : `state ${String(key)}`;
    case "SystemPromptEvent":
      return null;
    default:
      return typeof call === "string" ? `${String(kind)} ${call}` : String(kind);
  }
}

function statusOf(value: unknown): string {
  const { status, reason } = value as { status: string; reason?: string };
  return reason === undefined ? status : `${status} ${reason}`;
}
