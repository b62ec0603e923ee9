import { crc32 } from "node:zlib";
import type { RouteReply } from "./mount.ts";
import type { RouteRequest } from "./route-request.ts";

/**
 * A JSON text that will never be another. A browser may keep it, but asks each time whether it may show it: who asks may be somebody else
 * by then.
 */
export function settledReply(request: Pick<RouteRequest, "headers">, text: string): RouteReply {
  return taggedReply(request, etagOf(text), { text });
}

/** The same, for an answer whose tag is known. */
export function taggedReply(
  { headers }: Pick<RouteRequest, "headers">,
  etag: string,
  reply: Extract<RouteReply, { text: string } | { bytes: Uint8Array }>,
): RouteReply {
  const head = { etag, "cache-control": "private, no-cache" };
  const known = headers["if-none-match"]?.toString().split(/,\s*/) ?? [];
  return known.includes(etag) ? { status: 304, headers: head, text: "" } : { headers: head, ...reply };
}

/**
 * A weak tag, because the same text also goes out packed. What it names never changes: it only has to show that another release writes it
 * otherwise, or that a conversation was deleted and another one has its id, and a checksum costs half of what a hash does.
 */
export function etagOf(text: string | Uint8Array): string {
  return `W/"${text.length.toString(36)}-${crc32(text).toString(36)}"`;
}
