import { Type, type Static } from "typebox";
import { list, object, orNull, ref } from "../schema.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

/** A server process on the same store; `address` is where the other nodes reach it. */
export const ServerNode = object("ServerNode", {
  id: Type.String(),
  is_self: Type.Boolean(),
  address: orNull(Type.String()),
  release: orNull(Type.String()),
  started_at: orNull(Type.String()),
});
export type ServerNode = Static<typeof ServerNode>;

export const ServerNodeList = object("ServerNodeList", { nodes: list(ref(ServerNode)) });
export type ServerNodeList = Static<typeof ServerNodeList>;

/** Our own: the nodes that share a store. */
export const nodeRoutes = routesOf("Server", {
  listNodes: {
    method: "GET",
    path: "/api/nodes",
    summary: "The servers that share this one's store, itself among them",
    auth: true,
    responses: ok("The servers that live.", ServerNodeList),
  },
});
