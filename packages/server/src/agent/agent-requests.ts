import type { ToolListing } from "@convoke/tool-host";
import type { EventDraft, EventMeta, RequestRecord } from "../events/event-draft.ts";
import type { ModelRequest, ModelTool } from "../models/model.ts";
import { calibrationOf, TokenMeter } from "./condense/token-meter.ts";
import type { TokenEstimate } from "./condense/token-estimate.ts";
import { GrowingHistory } from "./growing-history.ts";
import type { ViewEvent } from "./history-view.ts";
import { RequestHash } from "./request-hash.ts";
import { toModelTool } from "./tool-schema.ts";

/** A request to the agent's model, and what is stored about it. */
export type PreparedRequest = {
  readonly request: ModelRequest;
  /** For the meta of the first event that comes of it. */
  readonly meta: Pick<EventMeta, "request" | "tools" | "shownTools">;
  /** The events behind the messages. */
  readonly condensed: readonly ViewEvent[];
  /** Ids of answers that are in them; until the next request is prepared. */
  readonly usedIds: ReadonlySet<string>;
  /** Estimated, corrected by what the provider counted in earlier requests. */
  readonly tokens: number;
  readonly calibration: number;
  readonly estimate: TokenEstimate;
};

export type RequestInput = {
  readonly view: readonly ViewEvent[];
  readonly sawSeq: number;
  readonly tools: readonly ToolListing[];
  /** Whether the model is asked how risky its calls are. */
  readonly asksForRisk: boolean;
  /** As configured. */
  readonly model: string;
  readonly cacheKey: string;
};

/** Builds the successive requests of one run; the cost of each depends on the events since the previous one (P59). */
export class AgentRequests {
  readonly #history = new GrowingHistory();
  readonly #hash = new RequestHash();
  #meter: TokenMeter | null = null;
  #meteredModel = "";
  #listings: readonly ToolListing[] | null = null;
  #asksForRisk = false;
  #tools: readonly ModelTool[] = [];

  prepare({ view, sawSeq, tools: listings, asksForRisk, model, cacheKey }: RequestInput): PreparedRequest {
    const messages = this.#history.build(view, sawSeq);
    const tools = this.#toolsOf(listings, asksForRisk);
    const meter = this.#meterFor(model);
    const estimatedTokens = meter.count(messages, tools);
    const calibration = calibrationOf(view, model);
    const record: RequestRecord = {
      model,
      sawSeq,
      messages: this.#hash.messages(messages),
      tools: this.#hash.tools(tools),
      estimatedTokens,
    };
    const known = lastTools(view);
    const meta =
      known?.digest === record.tools
        ? { request: { ...record, toolsSeq: known.seq } }
        : { request: record, tools };
    return {
      request: { messages, tools, cacheKey },
      meta,
      condensed: this.#history.condensed,
      usedIds: this.#history.usedIds,
      tokens: estimatedTokens * calibration,
      calibration,
      estimate: meter.estimate,
    };
  }

  #toolsOf(listings: readonly ToolListing[], asksForRisk: boolean): readonly ModelTool[] {
    if (listings !== this.#listings || asksForRisk !== this.#asksForRisk) {
      this.#listings = listings;
      this.#asksForRisk = asksForRisk;
      this.#tools = listings.map((listing) => toModelTool(listing, asksForRisk));
    }
    return this.#tools;
  }

  #meterFor(model: string): TokenMeter {
    if (this.#meter === null || model !== this.#meteredModel) this.#meter = new TokenMeter(model);
    this.#meteredModel = model;
    return this.#meter;
  }
}

/** Puts what is stored about a request beside the first of the events that came of it; `promptTokens` is 0 when nobody counted. */
export function withRequestMeta(
  drafts: readonly EventDraft[],
  { request, ...rest }: PreparedRequest["meta"],
  promptTokens = 0,
): EventDraft[] {
  const [first, ...others] = drafts;
  if (first === undefined || request === undefined) return [...drafts];
  const counted = promptTokens > 0 ? { ...request, promptTokens } : request;
  return [{ ...first, meta: { ...first.meta, ...rest, request: counted } }, ...others];
}

/** How far back a stored tool list is searched; when it is further away, it is stored again. */
const furthestTools = 500;

/** The list of the newest request and where it is stored; null where the log does not say it, as in older logs. */
function lastTools(view: readonly ViewEvent[]): { readonly digest: string; readonly seq: number } | null {
  const oldest = Math.max(0, view.length - furthestTools);
  for (let index = view.length - 1; index >= oldest; index--) {
    const { event, meta, seq } = view[index]!;
    if (meta.request === undefined || event.kind === "Condensation") continue;
    const toolsSeq = meta.tools === undefined ? meta.request.toolsSeq : seq;
    return toolsSeq === undefined ? null : { digest: meta.request.tools, seq: toolsSeq };
  }
  return null;
}
