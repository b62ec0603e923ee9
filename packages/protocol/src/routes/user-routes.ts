import { Type, type Static } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { closedObject, object, ref } from "../schema.ts";
import { UserRole } from "../security/user-role.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

/** A user who has had a key. */
export const UserEntry = object("UserEntry", {
  id: Type.String(),
  role: UserRole,
  created_at: Type.String({ format: "date-time" }),
});
export type UserEntry = Static<typeof UserEntry>;

export const UserList = object("UserList", { users: Type.Array(ref(UserEntry)) });
export type UserList = Static<typeof UserList>;

export const ChangeUserRequest = closedObject("ChangeUserRequest", { role: UserRole });
export type ChangeUserRequest = Static<typeof ChangeUserRequest>;

/** Our own: users and their roles. */
export const userRoutes = routesOf("Users", {
  listUsers: {
    method: "GET",
    path: "/api/users",
    summary: "The users who have had a key, with their roles; for admins",
    auth: true,
    role: "admin",
    responses: ok("The users, by name.", UserList),
  },
  changeUser: {
    method: "PATCH",
    path: "/api/users/{user_id}",
    summary: "Give a user another role; for admins",
    auth: true,
    role: "admin",
    params: Type.Object({ user_id: Type.String() }),
    body: ChangeUserRequest,
    responses: {
      ...ok("The user.", UserEntry),
      404: { description: "There is no such user.", schema: ErrorReply },
      409: { description: "The role of this user is fixed.", schema: ErrorReply },
      ...invalid,
    },
  },
});
