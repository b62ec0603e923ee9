import type { UserPolicy, UserPolicyEntry } from "@convoke/protocol";
import { compilePolicy } from "../../egress/policy/compiled-policy.ts";
import type { Quotas } from "../../directory/quotas.ts";
import type { RouteHandler } from "../../http/mount.ts";
import type { KeyStore } from "../../settings/key-store.ts";
import { everyUser, type PolicyEntry, type PolicyStore } from "../../settings/policy-store.ts";
import { noSuchUser } from "./user-routes.ts";

export type PolicyRouteDeps = {
  readonly keyStore: Pick<KeyStore, "users">;
  readonly policies: PolicyStore;
  readonly quotas: Pick<Quotas, "of">;
};

/** What users may have at most; the route table lets only admins read and set it. */
export function policyHandlers({ keyStore: { users }, policies, quotas }: PolicyRouteDeps) {
  return {
    async listPolicies() {
      return { json: { policies: (await policies.list()).map(toInfo) } };
    },
    async setPolicy({ params, body }) {
      const userId = params["user_id"]!;
      const policy = body as UserPolicy;
      if (userId !== everyUser && !(await users.list()).some(({ id }) => id === userId))
        throw noSuchUser(userId);
      if (policy.max_network != null) compilePolicy(policy.max_network, [], ["body", "max_network"]);
      return { json: toInfo({ userId, policy: await policies.change(userId, () => policy) }) };
    },
    async getQuotas({ caller: { userId } }) {
      return { json: { quotas: await quotas.of(userId), policy: policies.of(userId) } };
    },
  } satisfies Record<string, RouteHandler>;
}

function toInfo({ userId, policy }: PolicyEntry): UserPolicyEntry {
  return { user_id: userId, policy };
}
