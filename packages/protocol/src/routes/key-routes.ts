import { Type, type Static } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { closedObject, nullable, object, orAbsent, ref } from "../schema.ts";
import { UserRole } from "../security/user-role.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

/** What a key is good for. */
export const KeyScope = closedObject("KeyScope", {
  /** The only conversation that there is for the key. */
  conversation: Type.Optional(Type.String({ format: "uuid" })),
  /** True: the key only reads, as one with the role `viewer`. */
  read_only: Type.Optional(Type.Literal(true)),
});
export type KeyScope = Static<typeof KeyScope>;

/** What an issued key is good for. */
export const IssuedKeyScope = object("IssuedKeyScope", {
  ...KeyScope.properties,
  /** That of a share link: it only reads the conversation's log, up to an event where one is named. */
  share: Type.Optional(
    Type.Object({ up_to_event_id: nullable(Type.String()), include_system_prompt: Type.Boolean() }),
  ),
});
export type IssuedKeyScope = Static<typeof IssuedKeyScope>;

/** An issued key, without the key itself. */
export const KeyInfo = object("KeyInfo", {
  id: Type.String(),
  user_id: Type.String(),
  label: Type.String(),
  /** What requests with the key may do: at most what its user may. */
  role: UserRole,
  /** Null: everything that its user may reach. */
  scope: nullable(ref(IssuedKeyScope)),
  created_at: Type.String({ format: "date-time" }),
  /** Rounded to the minute; null before the first use. */
  last_used_at: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
  /** From then on the key is refused; null: never. */
  expires_at: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
  /** True for the key of the request, or of its login. */
  is_current: Type.Boolean(),
});
export type KeyInfo = Static<typeof KeyInfo>;

export const KeyList = object("KeyList", { keys: Type.Array(ref(KeyInfo)) });
export type KeyList = Static<typeof KeyList>;

export const CreateKeyRequest = closedObject("CreateKeyRequest", {
  /** Purpose of the key. */
  label: Type.Optional(Type.String({ maxLength: 200, default: "" })),
  /** Owner of the key; the caller unless given. Only admins may name others. */
  user: orAbsent(Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$" })),
  /** Role of the key, at most that of the user and of the key that asks; the lesser of these unless given. */
  role: Type.Optional(UserRole),
  /** What the key is good for; everything that its user may reach unless given. */
  scope: orAbsent(ref(KeyScope)),
  /** End of the key, in the future; that of the key that asks, where it has one, and never later. */
  expires_at: orAbsent(Type.String({ format: "date-time" })),
});
export type CreateKeyRequest = Static<typeof CreateKeyRequest>;

/** The only reply that contains the key. */
export const CreatedKey = object("CreatedKey", { ...KeyInfo.properties, key: Type.String() });
export type CreatedKey = Static<typeof CreatedKey>;

const refused = {
  403: {
    description: "Only admins give keys to others, and no key makes one that may more than itself.",
    schema: ErrorReply,
  },
} as const;

const noKey = {
  404: { description: "There is no such key, or it is over already.", schema: ErrorReply },
} as const;

/** Our own: the users' keys, which `convoke keys` manages too. */
export const keyRoutes = routesOf("Keys", {
  listKeys: {
    method: "GET",
    path: "/api/keys",
    summary: "The caller's keys that can be used; for admins those of all users",
    auth: true,
    responses: ok("The keys, the oldest first.", KeyList),
  },
  getKey: {
    method: "GET",
    path: "/api/keys/{key_id}",
    summary: "One of the caller's keys that can be used",
    auth: true,
    params: Type.Object({ key_id: Type.String() }),
    responses: { ...ok("The key.", KeyInfo), ...noKey },
  },
  createKey: {
    method: "POST",
    path: "/api/keys",
    summary: "Make a key, which is told this once",
    auth: true,
    body: CreateKeyRequest,
    isBodyOptional: true,
    responses: { 201: { description: "The key.", schema: CreatedKey }, ...refused, ...invalid },
  },
  revokeKey: {
    method: "DELETE",
    path: "/api/keys/{key_id}",
    summary: "End a key, with the logins that it began and the sockets that it opened",
    auth: true,
    params: Type.Object({ key_id: Type.String({ pattern: "^[0-9a-f]{1,40}$" }) }),
    responses: {
      204: { description: "It is over." },
      ...noKey,
      ...invalid,
    },
  },
});
