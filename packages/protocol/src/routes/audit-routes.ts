import { Type, type Static } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { list, object, orAbsent, orNull, ref } from "../schema.ts";
import { ok } from "./ok.ts";
import { invalid } from "./responses.ts";
import { routesOf } from "./route.ts";

/** A line of the audit log with its stream; the other fields are those of the line, see docs/guides/observability.md. */
export const AuditLine = object("AuditLine", { stream: Type.String(), at: Type.String() });
export type AuditLine = Static<typeof AuditLine>;

export const AuditPage = object("AuditPage", {
  items: list(ref(AuditLine)),
  next_page_id: orNull(Type.String()),
});
export type AuditPage = Static<typeof AuditPage>;

/** Our own: the audit log of a server. */
export const auditRoutes = routesOf("Server", {
  readAuditLog: {
    method: "GET",
    path: "/api/audit",
    summary: "Page through the audit log of this server's data folder, the newest line first",
    auth: true,
    role: "admin",
    query: Type.Object({
      kind: Type.Optional(
        Type.Union([Type.Literal("calls"), Type.Literal("refusals"), Type.Literal("network")], {
          default: "calls",
          description:
            "Calls of users, refused calls of strangers, or what left a wall or was refused there.",
        }),
      ),
      user: orAbsent(Type.String({ maxLength: 200 }), { description: "Only calls of this user." }),
      path: orAbsent(Type.String({ maxLength: 1_000 }), {
        description: "Only lines whose path or route begins with this text.",
      }),
      since: orAbsent(Type.String({ format: "date-time" }), { description: "At or after this instant." }),
      page_id: orAbsent(Type.String({ maxLength: 50_000 }), {
        description:
          "The next_page_id of the page before. A page may have fewer lines than asked for, also none.",
      }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
    }),
    responses: {
      ...ok("A page of lines.", AuditPage),
      ...invalid,
      403: { description: "Only admins read the audit log.", schema: ErrorReply },
    },
  },
});
