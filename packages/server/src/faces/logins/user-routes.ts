import type { ChangeUserRequest, UserEntry, userRoutes } from "@convoke/protocol";
import type { Handlers } from "../../http/mount.ts";
import { Fault } from "../../lib/fault.ts";
import { isoOf } from "../../lib/instant.ts";
import { FixedRoleError, type UserEntry as StoredUser } from "../../settings/user-store.ts";
import type { FaceDeps } from "../face-deps.ts";

/** Users and their roles; the route table lets only admins in. */
export function userHandlers({ keyStore: { users }, clock }: FaceDeps) {
  return {
    async listUsers() {
      return { json: { users: (await users.list()).map(toInfo) } };
    },
    async changeUser({ params: { user_id: id }, body }) {
      await change(id, body);
      const found = (await users.list()).find((entry) => entry.id === id);
      if (found === undefined) throw noSuchUser(id);
      return { json: toInfo(found) };
    },
  } satisfies Handlers<typeof userRoutes>;

  async function change(id: string, { role, disabled }: ChangeUserRequest): Promise<void> {
    const isSet = (given: unknown): boolean => given !== undefined && given !== null;
    try {
      if (isSet(role) && !(await users.setRole(id, role!))) throw noSuchUser(id);
      if (disabled === true && !(await users.disable(id, clock.nowMs()))) throw noSuchUser(id);
      if (disabled === false && !(await users.enable(id))) throw noSuchUser(id);
    } catch (error) {
      if (error instanceof FixedRoleError) throw new Fault("conflict", "fixed_role", error.message);
      throw error;
    }
  }
}

export function noSuchUser(id: string): Fault {
  return new Fault(
    "missing",
    "user_not_found",
    `There is no user ${id}. A user comes into being with a key or a login.`,
  );
}

function toInfo({ id, role, createdAtMs, disabledAtMs }: StoredUser): UserEntry {
  const disabledAt = disabledAtMs === null ? null : isoOf(disabledAtMs);
  return { id, role, created_at: isoOf(createdAtMs), disabled_at: disabledAt };
}
