import { createHash } from "node:crypto";
import type { RouteReply } from "./mount.ts";
import type { RouteRequest } from "./route-request.ts";

/**
 * A JSON text that will never be another. A browser may keep it, but asks each time whether it may show it: who asks may be somebody else
 * by then. The tag is a weak one, because the same text also goes out packed.
 */
export function settledReply({ headers }: Pick<RouteRequest, "headers">, text: string): RouteReply {
  const etag = `W/"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"`;
  const head = { etag, "cache-control": "private, no-cache" };
  const known = headers["if-none-match"]?.toString().split(/,\s*/) ?? [];
  return known.includes(etag) ? { status: 304, headers: head, text: "" } : { headers: head, text };
}
