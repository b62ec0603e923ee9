import type { Attempt } from "./attempt.ts";
import type { ModelMessage } from "./model.ts";

/** An attempt whose history has exactly one result for each call: every provider refuses anything else. */
export function withPairedResults(attempt: Attempt): Attempt {
  return (request, context) => attempt({ ...request, messages: pairResults(request.messages) }, context);
}

/** Adds a stand-in for each result that is missing, and leaves out results of no call. Returns what it got where all is well. */
function pairResults(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const paired: ModelMessage[] = [];
  let open = new Map<string, string>();
  let isChanged = false;
  const close = (): void => {
    for (const [toolCallId, name] of open) {
      isChanged = true;
      paired.push({ role: "tool", toolCallId, name, content: [{ type: "text", text: "(no result)" }] });
    }
    open = new Map();
  };
  for (const message of messages) {
    if (message.role === "tool") {
      if (open.delete(message.toolCallId)) paired.push(message);
      else isChanged = true;
      continue;
    }
    close();
    paired.push(message);
    if (message.role === "assistant") open = new Map(message.toolCalls.map(({ id, name }) => [id, name]));
  }
  close();
  return isChanged ? paired : messages;
}
