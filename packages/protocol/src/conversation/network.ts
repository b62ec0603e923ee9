import { Type, type Static } from "typebox";
import { closedObject, flag, list, object, ref } from "../schema.ts";

/** What went to one host and port through the server's proxy, or was refused. */
export const HostTraffic = object("HostTraffic", {
  host: Type.String(),
  port: Type.Integer(),
  requests: Type.Integer({ description: "Requests that the proxy read, and connections that it copied." }),
  refusals: Type.Integer(),
  sent_bytes: Type.Integer({ description: "Towards the host." }),
  received_bytes: Type.Integer(),
});
export type HostTraffic = Static<typeof HostTraffic>;

/** The way out of a conversation's wall or sandbox. */
export const ConversationNetwork = object("ConversationNetwork", {
  hosts: list(ref(HostTraffic)),
  granted: list(Type.String(), { description: "Hosts that were granted to the conversation." }),
  can_grant: flag(false, { description: "Whether more hosts may be granted." }),
});
export type ConversationNetwork = Static<typeof ConversationNetwork>;

export const GrantHostsRequest = closedObject("GrantHostsRequest", {
  hosts: Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
    minItems: 1,
    maxItems: 20,
    description: "Such as `example.com` (ports 80 and 443), `*.example.com`, `db.example.com:5432`.",
  }),
});
export type GrantHostsRequest = Static<typeof GrantHostsRequest>;
