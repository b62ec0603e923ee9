import type { Played } from "./script-player.ts";
import { openaiWire } from "./openai-wire.ts";
import { contentText, splitText, type Wire } from "./wire.ts";

type Item = Readonly<Record<string, unknown>>;
type Event = Readonly<Record<string, unknown>> & { readonly type: string };

/** OpenAI responses. Source of the shapes: OpenAI API reference, responses and their streaming events. */
export const openaiResponsesWire: Wire = {
  ...openaiWire,
  name: "openai-responses",
  readFacts: (body) => {
    const items = Array.isArray(body["input"]) ? (body["input"] as Item[]) : [];
    const isAssistantItem = (item: Item | undefined): boolean =>
      item !== undefined &&
      (item["type"] === "reasoning" || item["type"] === "function_call" || item["role"] === "assistant");
    // One answer is a sequence of items.
    const starts = [...items.entries()]
      .filter(([at, item]) => isAssistantItem(item) && !isAssistantItem(items[at - 1]))
      .map(([at]) => at);
    const lastUser = items.findLastIndex((item) => item["role"] === "user");
    const lastAssistantItem = items.findLastIndex(isAssistantItem);
    const tools = Array.isArray(body["tools"]) ? (body["tools"] as { name?: string }[]) : [];
    return {
      assistantMessages: starts.length,
      assistantMessagesSinceUser: starts.filter((at) => at > lastUser).length,
      lastUserText: contentText(items[lastUser]?.["content"]),
      lastToolOutput: items
        .slice(lastAssistantItem + 1)
        .filter((item) => item["type"] === "function_call_output")
        .map((item) => contentText(item["output"]))
        .join("\n"),
      toolNames: tools.flatMap((tool) => (tool.name === undefined ? [] : [tool.name])),
      fingerprint: JSON.stringify([body["instructions"] ?? null, ...items]),
    };
  },
  toEvents: (played, model) =>
    eventsOf(played, model).map(
      (event, at) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: at })}`,
    ),
  toJson: (played, model) => ended(played, model),
};

function eventsOf(played: Played, model: string): Event[] {
  const begun = { id: played.answer.id, object: "response", model, status: "in_progress", output: [] };
  const end = ended(played, model);
  return [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...itemsOf(played).flatMap((item, index) => itemEvents(item, index, played.turn.chunk_size)),
    { type: `response.${end["status"] === "incomplete" ? "incomplete" : "completed"}`, response: end },
  ];
}

function itemEvents(item: Item, output_index: number, size: number | undefined): Event[] {
  const at = { output_index, item_id: item["id"] };
  const opening = { ...item, status: "in_progress", ...emptied(item) };
  return [
    { type: "response.output_item.added", output_index, item: opening },
    ...deltasOf(item, size).map((delta) => ({ ...delta, ...at })),
    { type: "response.output_item.done", output_index, item },
  ];
}

function emptied(item: Item): Item {
  if (item["type"] === "function_call") return { arguments: "" };
  return item["type"] === "message" ? { content: [] } : { summary: [] };
}

function deltasOf(item: Item, size: number | undefined): Event[] {
  const [part] = (item["content"] ?? item["summary"] ?? []) as { text?: string; refusal?: string }[];
  const chunks = (text: string, type: string, more: object): Event[] =>
    splitText(text, size).map((delta) => ({ type, delta, ...more }));
  switch (item["type"]) {
    case "function_call":
      return chunks(item["arguments"] as string, "response.function_call_arguments.delta", {});
    case "reasoning":
      return [
        {
          type: "response.reasoning_summary_part.added",
          summary_index: 0,
          part: { type: "summary_text", text: "" },
        },
        ...chunks(part?.text ?? "", "response.reasoning_summary_text.delta", { summary_index: 0 }),
      ];
    default:
      return part?.refusal === undefined
        ? chunks(part?.text ?? "", "response.output_text.delta", { content_index: 0 })
        : chunks(part.refusal, "response.refusal.delta", { content_index: 0 });
  }
}

/** Reasoning, text and calls as output items; `signature` of the script is the encrypted content. */
function itemsOf({ answer, turn }: Played): Item[] {
  if (turn.empty === true) return [];
  const hasText = answer.text !== "" || (answer.reasoning === "" && answer.toolCalls.length === 0);
  const contentPart =
    turn.refusal === undefined
      ? { type: "output_text", text: answer.text, annotations: [] }
      : { type: "refusal", refusal: answer.text };
  return [
    ...(answer.reasoning === ""
      ? []
      : [
          {
            type: "reasoning",
            id: `rs_${answer.id}`,
            summary: [{ type: "summary_text", text: answer.reasoning }],
            encrypted_content: turn.signature ?? `sealed-${answer.id}`,
          },
        ]),
    ...(hasText
      ? [
          {
            type: "message",
            id: `msg_${answer.id}`,
            role: "assistant",
            status: "completed",
            content: [contentPart],
          },
        ]
      : []),
    ...answer.toolCalls.map((call) => ({
      type: "function_call",
      id: `fc_${call.id}`,
      call_id: call.id,
      name: call.name,
      arguments: call.arguments,
      status: "completed",
    })),
  ];
}

function ended(played: Played, model: string): Item {
  const { answer, turn } = played;
  const reasons: Readonly<Record<string, string>> = {
    length: "max_output_tokens",
    content_filter: "content_filter",
  };
  const reason = reasons[turn.finish_reason ?? ""];
  const { usage } = answer;
  return {
    id: answer.id,
    object: "response",
    model,
    status: reason === undefined ? "completed" : "incomplete",
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    output: itemsOf(played),
    usage: {
      input_tokens: usage.prompt_tokens,
      input_tokens_details: { cached_tokens: usage.cache_read_tokens },
      output_tokens: usage.completion_tokens,
      output_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
      total_tokens: usage.prompt_tokens + usage.completion_tokens,
    },
  };
}
