import type { AssistantMessage, ModelMessage } from "../model.ts";
import type { AddressRules } from "./address-rules.ts";
import { CallIds, fitName } from "./fit-names.ts";
import { wellFormedJson } from "./well-formed.ts";

type OpenCall = { readonly loggedId: string; readonly id: string; readonly name: string };

/**
 * A history in which each call has an id of its own and exactly one result, with ids and names in the form of the address: every
 * provider refuses anything else. Results of no call are left out, and a stand-in is added for each one that is missing. What it
 * gives for the beginning of a history does not depend on the rest, so that prompt caches hold.
 */
export function fitCalls(messages: readonly ModelMessage[], { ids: form }: AddressRules): ModelMessage[] {
  const ids = new CallIds(form);
  const fitted: ModelMessage[] = [];
  let open: OpenCall[] = [];
  const close = (): void => {
    for (const { id, name } of open)
      fitted.push({ role: "tool", toolCallId: id, name, content: [{ type: "text", text: "(no result)" }] });
    open = [];
  };
  for (const message of messages) {
    if (message.role === "tool") {
      const index = open.findIndex(({ loggedId }) => loggedId === message.toolCallId);
      const [call] = index === -1 ? [] : open.splice(index, 1);
      if (call !== undefined) fitted.push({ ...message, toolCallId: call.id, name: call.name });
      continue;
    }
    close();
    if (message.role !== "assistant") {
      fitted.push(message);
      continue;
    }
    open = message.toolCalls.map(({ id, name }) => ({ loggedId: id, id: ids.next(id), name: fitName(name) }));
    fitted.push(withCalls(message, open));
  }
  close();
  return fitted;
}

function withCalls(message: AssistantMessage, calls: readonly OpenCall[]): AssistantMessage {
  if (calls.length === 0) return message;
  const toolCalls = message.toolCalls.map((call, index) => ({
    ...call,
    id: calls[index]!.id,
    name: calls[index]!.name,
    arguments: wellFormedJson(call.arguments),
  }));
  const { replay } = message;
  return replay === undefined
    ? { ...message, toolCalls }
    : { ...message, toolCalls, replay: { ...replay, items: fitItems(replay.items, calls) } };
}

/** A provider's own items have the ids and names of their calls once more. */
function fitItems(items: readonly unknown[], calls: readonly OpenCall[]): unknown[] {
  const left = [...calls];
  return items.map((item) => {
    const { call_id: id, name } = (item ?? {}) as { call_id?: unknown; name?: unknown };
    const index = typeof id === "string" ? left.findIndex(({ loggedId }) => loggedId === id) : -1;
    if (index === -1) return item;
    const [call] = left.splice(index, 1);
    return {
      ...(item as object),
      call_id: call!.id,
      ...(typeof name === "string" ? { name: call!.name } : {}),
    };
  });
}
