import type { ContextShare, EventContext } from "@convoke/protocol";
import type { ModelMessage, ModelTool } from "../../models/model.ts";
import { blocksOf } from "../condense/blocks.ts";
import { TokenEstimate } from "../condense/token-estimate.ts";
import { renderView, showView, type ShownMessage } from "../history.ts";
import { condensedView, type ViewEvent } from "../history-view.ts";
import { RequestHash } from "../request-hash.ts";
import { summaryMessages } from "./replay-log.ts";
import { noSpend, type RequestSpend } from "./request-spend.ts";

type Source = ContextShare["source"];

/** The request that an event came of, shown for `eventId`; `seen` is the part of the log that led to it. */
export function toContext(
  eventId: string,
  origin: ViewEvent,
  seen: readonly ViewEvent[],
  tools: readonly ModelTool[],
  spent: RequestSpend = noSpend,
): EventContext {
  const record = origin.meta.request;
  const isSummary = sawSeqOf(origin) === undefined;
  const view = isSummary ? [] : condensedView(seen);
  const shown: readonly ShownMessage[] = isSummary
    ? summaryMessages(seen, origin).map((message) => ({ message, eventIds: [] }))
    : showView(view);
  const messages = shown.map(({ message }) => message);
  const estimate = new TokenEstimate(record?.model ?? "");
  const sizes = isSummary
    ? new Map<Source, number>([["environment", estimate.messages(messages)]])
    : sizesOf(view, tools, estimate);
  const estimated = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const tokens = record?.promptTokens ?? estimated;
  const inTokens = (size: number): number => Math.round((size / Math.max(1, estimated)) * tokens);
  return {
    event_id: eventId,
    request_event_id: origin.event.id!,
    model: record?.model ?? null,
    is_exact: record !== undefined && new RequestHash().messages(messages) === record.messages,
    tokens,
    is_counted: record?.promptTokens !== undefined,
    ...spent,
    shares: [...sizes].map(([source, size]) => ({
      source,
      tokens: inTokens(size),
      share: size / Math.max(1, estimated),
    })),
    messages: shown.map(({ message, eventIds }) => ({
      ...toShown(message),
      event_ids: eventIds,
      tokens: inTokens(estimate.message(message)),
    })),
    tools: tools.map((tool) => ({ ...tool })),
  };
}

/** The highest position that the request behind an event had seen; undefined for requests for summaries, and without any. */
export function sawSeqOf({ meta }: ViewEvent): number | undefined {
  return meta.request?.sawSeq ?? meta.sawSeq;
}

/** Whether something is known about the request that the event came of. */
export function isOrigin({ meta }: ViewEvent): boolean {
  return meta.request !== undefined || meta.sawSeq !== undefined;
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
  const { replay: _sealed, reasoningItem, thinkingBlocks, ...rest } = message;
  return {
    ...rest,
    content,
    thinkingBlocks: thinkingBlocks.flatMap((block) =>
      "thinking" in block ? [{ type: block.type, thinking: block.thinking }] : [],
    ),
    reasoningItem: reasoningItem === null ? null : { ...reasoningItem, encrypted_content: null },
  };
}
