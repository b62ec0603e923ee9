import type { UserPolicyEntry, policyRoutes } from "@convoke/protocol";
import { compilePolicy } from "../../egress/policy/compiled-policy.ts";
import type { Handlers } from "../../http/mount.ts";
import { everyUser, type PolicyEntry } from "../../settings/policy-store.ts";
import type { FaceDeps } from "../face-deps.ts";
import { noSuchUser } from "./user-routes.ts";

/** What users may have at most; the route table lets only admins read and set it. */
export function policyHandlers({ keyStore: { users }, policies, quotas }: FaceDeps) {
  return {
    async listPolicies() {
      return { json: { policies: (await policies.list()).map(toInfo) } };
    },
    async setPolicy({ params: { user_id: userId }, body }) {
      const policy = body;
      if (userId !== everyUser && !(await users.list()).some(({ id }) => id === userId))
        throw noSuchUser(userId);
      if (policy.max_network != null) compilePolicy(policy.max_network, [], ["body", "max_network"]);
      return { json: toInfo({ userId, policy: await policies.change(userId, () => policy) }) };
    },
    async getQuotas({ caller: { userId } }) {
      return { json: { quotas: await quotas.of(userId), policy: policies.of(userId) } };
    },
  } satisfies Handlers<typeof policyRoutes>;
}

function toInfo({ userId, policy }: PolicyEntry): UserPolicyEntry {
  return { user_id: userId, policy };
}
