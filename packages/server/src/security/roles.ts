import { userRoles, type UserRole } from "@convoke/protocol";
import { Fault } from "../lib/fault.ts";
import { localUser, type Caller } from "./caller.ts";

/** The role of a caller. Those of a sandbox's key, a page or another release say none: they are members. */
export function roleOf({ role, userId }: Pick<Caller, "role" | "userId">): UserRole {
  return role ?? (userId === localUser.userId ? "admin" : "member");
}

export function isAtLeast(role: UserRole, least: UserRole): boolean {
  return userRoles.indexOf(role) >= userRoles.indexOf(least);
}

export function lesserRole(one: UserRole, other: UserRole): UserRole {
  return isAtLeast(one, other) ? other : one;
}

/** Who runs the server: sees its nodes, its webhooks and the metrics of all users. */
export function isOperator(caller: Pick<Caller, "role" | "userId">): boolean {
  return roleOf(caller) === "admin";
}

/** Throws a Fault that names the role that is needed. */
export function requireRole(caller: Caller, least: UserRole): void {
  const role = roleOf(caller);
  if (isAtLeast(role, least)) return;
  throw new Fault("refused", "role_refused", roleSentence(role, least));
}

export function roleSentence(role: UserRole, least: UserRole): string {
  return `This needs the role ${least}. Yours is ${role}: ask an admin, or use another key.`;
}

/** What the store says; a role of a newer release may least. */
export function parseRole(text: string): UserRole {
  return userRoles.find((role) => role === text) ?? "viewer";
}
