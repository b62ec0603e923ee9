import type { Static } from "typebox";
import { choice } from "../schema.ts";

/** What a user or a key may do: read; change what is the user's own; manage the keys and users of all. */
export const UserRole = choice(["viewer", "member", "admin"]);
export type UserRole = Static<typeof UserRole>;

/** Each may do what those before it may. */
export const userRoles = ["viewer", "member", "admin"] as const satisfies readonly UserRole[];
