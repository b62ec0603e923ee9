import type { Static } from "typebox";
import { choice } from "../schema.ts";
import { userRoles } from "./user-roles.ts";

export { userRoles };

/** What a user or a key may do: read; change what is the user's own; manage the keys and users of all. */
export const UserRole = choice([...userRoles]);
export type UserRole = Static<typeof UserRole>;
