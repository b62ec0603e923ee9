import { Fault } from "../../lib/fault.ts";
import { normalizeUuid } from "../../lib/uuid7.ts";

/** Where a response is: a conversation, the end of its log before the request, and the tokens that were spent until then. */
export type ResponsePlace = {
  readonly conversationId: string;
  readonly afterSeq: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
};

/** The place as an id, so that every node finds a response without a table. */
export function toResponseId(place: ResponsePlace): string {
  const { conversationId, afterSeq, promptTokens, completionTokens } = place;
  const numbers = [afterSeq, promptTokens, completionTokens].map((number) => number.toString(36));
  return `resp_${conversationId.replaceAll("-", "")}_${numbers.join("_")}`;
}

/** Throws a fault for an id that is not of a response of this server. */
export function parseResponseId(id: string): ResponsePlace {
  const [, hex = "", ...numbers] =
    /^resp_([0-9a-f]{32})_([0-9a-z]{1,10})_([0-9a-z]{1,10})_([0-9a-z]{1,10})$/.exec(id) ?? [];
  const conversationId = normalizeUuid(hex);
  const [afterSeq, promptTokens, completionTokens] = numbers.map((text) => Number.parseInt(text, 36));
  if (conversationId === null || afterSeq === undefined)
    throw new Fault("missing", "response_not_found", "There is no response with this id.");
  return {
    conversationId,
    afterSeq,
    promptTokens: promptTokens ?? 0,
    completionTokens: completionTokens ?? 0,
  };
}
