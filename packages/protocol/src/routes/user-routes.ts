import { Type, type Static } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { closedObject, object, orAbsent, ref } from "../schema.ts";
import { UserRole } from "../security/user-role.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

/** A user who has had a key or has logged in. */
export const UserEntry = object("UserEntry", {
  id: Type.String(),
  role: UserRole,
  created_at: Type.String({ format: "date-time" }),
  /** From then on the user has neither keys nor logins; null: not disabled. */
  disabled_at: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
});
export type UserEntry = Static<typeof UserEntry>;

export const UserList = object("UserList", { users: Type.Array(ref(UserEntry)) });
export type UserList = Static<typeof UserList>;

/** What is left out stays as it is. */
export const ChangeUserRequest = closedObject("ChangeUserRequest", {
  role: orAbsent(UserRole),
  /** True ends all keys and logins of the user, and no further ones begin; false lets new ones begin. */
  disabled: orAbsent(Type.Boolean()),
});
export type ChangeUserRequest = Static<typeof ChangeUserRequest>;

/** Our own: users and their roles. */
export const userRoutes = routesOf("Users", {
  listUsers: {
    method: "GET",
    path: "/api/users",
    summary: "The users who have had a key or have logged in, with their roles; for admins",
    auth: true,
    role: "admin",
    responses: ok("The users, by name.", UserList),
  },
  changeUser: {
    method: "PATCH",
    path: "/api/users/{user_id}",
    summary: "Give a user another role, disable or enable the user; for admins",
    auth: true,
    role: "admin",
    params: Type.Object({ user_id: Type.String() }),
    body: ChangeUserRequest,
    responses: {
      ...ok("The user.", UserEntry),
      404: { description: "There is no such user.", schema: ErrorReply },
      409: { description: "This user cannot be changed.", schema: ErrorReply },
      ...invalid,
    },
  },
});
