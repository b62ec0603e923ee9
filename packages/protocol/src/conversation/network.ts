import { Type, type Static } from "typebox";
import { list, object, ref } from "../schema.ts";

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
});
export type ConversationNetwork = Static<typeof ConversationNetwork>;
