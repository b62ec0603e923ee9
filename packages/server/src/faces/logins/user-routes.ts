import type { ChangeUserRequest, UserEntry } from "@convoke/protocol";
import type { RouteHandler } from "../../http/mount.ts";
import { Fault } from "../../lib/fault.ts";
import type { KeyStore } from "../../settings/key-store.ts";
import { FixedRoleError, type UserEntry as StoredUser } from "../../settings/user-store.ts";

export type UserRouteDeps = { readonly keyStore: Pick<KeyStore, "users"> };

/** Users and their roles; the route table lets only admins in. */
export function userHandlers({ keyStore: { users } }: UserRouteDeps) {
  return {
    async listUsers() {
      return { json: { users: (await users.list()).map(toInfo) } };
    },
    async changeUser({ params, body }) {
      const id = params["user_id"]!;
      await setRole(id, (body as ChangeUserRequest).role);
      const found = (await users.list()).find((entry) => entry.id === id);
      if (found === undefined) throw noSuchUser(id);
      return { json: toInfo(found) };
    },
  } satisfies Record<string, RouteHandler>;

  async function setRole(id: string, role: ChangeUserRequest["role"]): Promise<void> {
    try {
      if (!(await users.setRole(id, role))) throw noSuchUser(id);
    } catch (error) {
      if (error instanceof FixedRoleError) throw new Fault("conflict", "fixed_role", error.message);
      throw error;
    }
  }
}

function noSuchUser(id: string): Fault {
  return new Fault(
    "missing",
    "user_not_found",
    `There is no user ${id}. A user comes into being with a key.`,
  );
}

function toInfo({ id, role, createdAtMs }: StoredUser): UserEntry {
  return { id, role, created_at: new Date(createdAtMs).toISOString() };
}
