import { crc32 } from "node:zlib";
import type { RouteReply } from "./mount.ts";
import type { RouteRequest } from "./route-request.ts";

/**
 * An immutable JSON text. A browser may cache it but must revalidate each time: another user may be logged in by then.
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
 * A weak tag, because the same text is also sent compressed. The text is immutable: the tag only changes when another
 * release writes it differently, or when a deleted conversation's id is reused. So a checksum is enough, at half the
 * cost of a hash.
 */
export function etagOf(text: string | Uint8Array): string {
  return `W/"${text.length.toString(36)}-${crc32(text).toString(36)}"`;
}
