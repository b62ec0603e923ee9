import { auditRoutes } from "@convoke/protocol";
import { face, type Face } from "../../http/mount.ts";
import { invalidField } from "../../lib/fault.ts";
import { parseInstant } from "../../lib/instant.ts";
import { readAuditPage, type AuditPlaces } from "../../observability/read-audit-page.ts";

/** The audit log in `directory`. It is about all users, so its route is for admins. */
export function auditFace(directory: string): Face {
  return face(auditRoutes, {
    readAuditLog: async ({ query }) => {
      const { kind = "calls", user = null, path = null, since, page_id: pageId, limit = 100 } = query;
      const sinceMicros = typeof since === "string" ? parseInstant(since) : null;
      const { items, places } = await readAuditPage(directory, {
        kind,
        user,
        path,
        sinceMs: sinceMicros === null ? null : sinceMicros / 1000,
        limit,
        places: typeof pageId === "string" ? parsePageId(pageId) : null,
      });
      return { json: { items: [...items], next_page_id: places === null ? null : toPageId(places) } };
    },
  });
}

function toPageId(places: AuditPlaces): string {
  const pairs = Object.entries(places).map(([stream, { inode, end }]) => [stream, inode, end]);
  return Buffer.from(JSON.stringify(pairs)).toString("base64url");
}

function parsePageId(pageId: string): AuditPlaces {
  try {
    const pairs = JSON.parse(Buffer.from(pageId, "base64url").toString()) as unknown[];
    return Object.fromEntries(pairs.map(parsePair));
  } catch (cause) {
    const fault = invalidField(["query", "page_id"], "It must be the next_page_id of a page before.");
    throw Object.assign(fault, { cause });
  }
}

function parsePair(pair: unknown): [string, AuditPlaces[string]] {
  const [stream, inode, end] = pair as unknown[];
  const isPlace = typeof stream === "string" && isCount(inode) && isCount(end);
  if (!isPlace) throw new TypeError("not a place in a stream");
  return [stream, { inode, end }];
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
