import type { ContextShare, EventContext } from "@convoke/protocol";
import type { ModelMessage, ModelTool } from "../../models/model.ts";
import { isOnPath, navigationsIn, pathTo } from "../branches.ts";
import { blocksOf } from "../condense/blocks.ts";
import { TokenEstimate } from "../condense/token-estimate.ts";
import { renderView } from "../history.ts";
import type { ViewEvent } from "../history-view.ts";
import { RequestHash } from "../request-hash.ts";
import { condensedAt, summaryMessages } from "./replay-log.ts";

type Source = ContextShare["source"];

/** What the model was asked that led to an event, or that first had the event before it; null when none has read it yet. */
export function contextOf(log: readonly ViewEvent[], eventId: string): EventContext | null {
  const item = log.find(({ event }) => event.id === eventId);
  const origin = item === undefined ? undefined : originOf(log, item);
  if (origin === undefined) return null;
  const record = origin.meta.request;
  const sawSeq = record?.sawSeq ?? origin.meta.sawSeq;
  const path = pathTo(navigationsIn(log), origin.seq);
  const branch = log.filter(({ seq }) => isOnPath(path, seq));
  const before = branch.filter(({ seq }) => seq < origin.seq);
  const view = sawSeq === undefined ? [] : condensedAt(before, sawSeq);
  const messages = sawSeq === undefined ? summaryMessages(before, origin) : renderView(view);
  const tools = sawSeq === undefined ? [] : toolsAt(branch, origin);
  const estimate = new TokenEstimate(record?.model ?? "");
  const sizes =
    sawSeq === undefined
      ? new Map<Source, number>([["environment", estimate.messages(messages)]])
      : sizesOf(view, tools, estimate);
  const estimated = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const tokens = record?.promptTokens ?? estimated;
  return {
    event_id: eventId,
    request_event_id: origin.event.id!,
    model: record?.model ?? null,
    is_exact: record !== undefined && new RequestHash().messages(messages) === record.messages,
    tokens,
    is_counted: record?.promptTokens !== undefined,
    shares: [...sizes].map(([source, size]) => ({
      source,
      tokens: Math.round((size / Math.max(1, estimated)) * tokens),
      share: size / Math.max(1, estimated),
    })),
    messages: messages.map(toShown),
    tools: tools.map((tool) => ({ ...tool })),
  };
}

/** The event that carries what is known about the request in question. */
function originOf(log: readonly ViewEvent[], item: ViewEvent): ViewEvent | undefined {
  const { event, meta } = item;
  if (meta.request !== undefined || meta.sawSeq !== undefined) return item;
  if (event.kind === "ActionEvent") {
    const { llm_response_id: id } = event;
    return log.find(
      (other) => other.event.kind === "ActionEvent" && other.event.llm_response_id === id && isOrigin(other),
    );
  }
  const navigations = navigationsIn(log);
  return log.find((other) => {
    const sawSeq = other.meta.request?.sawSeq ?? other.meta.sawSeq;
    if (sawSeq === undefined || sawSeq < item.seq) return false;
    return isOnPath(pathTo(navigations, other.seq), item.seq);
  });
}

function isOrigin({ meta }: ViewEvent): boolean {
  return meta.request !== undefined || meta.sawSeq !== undefined;
}

/** The tool list is stored where it changed. */
function toolsAt(log: readonly ViewEvent[], origin: ViewEvent): readonly ModelTool[] {
  return log.findLast(({ seq, meta }) => seq <= origin.seq && meta.tools !== undefined)?.meta.tools ?? [];
}

function sizesOf(
  view: readonly ViewEvent[],
  tools: readonly ModelTool[],
  estimate: TokenEstimate,
): Map<Source, number> {
  const sizes = new Map<Source, number>();
  const add = (source: Source, tokens: number): void => {
    if (tokens > 0) sizes.set(source, (sizes.get(source) ?? 0) + tokens);
  };
  add("tools", estimate.tools(tools));
  for (const { events } of blocksOf(view)) {
    for (const message of renderView(events)) add(sourceOf(message, events[0]!), estimate.message(message));
  }
  return sizes;
}

function sourceOf(message: ModelMessage, { event }: ViewEvent): Source {
  switch (message.role) {
    case "system":
      return "system_prompt";
    case "assistant":
      return "agent";
    case "tool":
      return "tool_results";
    case "user":
      if (event.kind === "CondensationSummaryEvent") return "summaries";
      return event.source === "user" ? "user" : "environment";
  }
}

const longestUrl = 200;

/** Without sealed reasoning, which is for the provider alone, and without the bytes of images. */
function toShown(message: ModelMessage): Record<string, unknown> {
  const content = message.content.map((part) =>
    "image_urls" in part
      ? {
          ...part,
          image_urls: part.image_urls.map((url) =>
            url.length > longestUrl ? url.slice(0, longestUrl) : url,
          ),
        }
      : part,
  );
  if (message.role !== "assistant") return { ...message, content };
  const { replay: _sealed, reasoningItem, thinkingBlocks, ...said } = message;
  return {
    ...said,
    content,
    thinkingBlocks: thinkingBlocks.flatMap((block) =>
      "thinking" in block ? [{ type: block.type, thinking: block.thinking }] : [],
    ),
    reasoningItem: reasoningItem === null ? null : { ...reasoningItem, encrypted_content: null },
  };
}
