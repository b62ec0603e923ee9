import { Type } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { OwnQuotas, UserPolicy, UserPolicyEntry, UserPolicyList } from "../security/user-policy.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

/** Our own: what users may have at most. */
export const policyRoutes = routesOf("Users", {
  listPolicies: {
    method: "GET",
    path: "/api/policies",
    summary: "The policies of users, `*` for all of them; for admins",
    auth: true,
    role: "admin",
    responses: ok("The policies, by user.", UserPolicyList),
  },
  setPolicy: {
    method: "PUT",
    path: "/api/policies/{user_id}",
    summary: "Replace the policy of a user, or of `*` for all users; an empty one limits nothing; for admins",
    auth: true,
    role: "admin",
    params: Type.Object({ user_id: Type.String() }),
    body: UserPolicy,
    responses: {
      ...ok("The policy.", UserPolicyEntry),
      404: { description: "There is no such user.", schema: ErrorReply },
      ...invalid,
    },
  },
  getQuotas: {
    method: "GET",
    path: "/api/quotas",
    summary: "The caller's quotas, and how much of them is used",
    auth: true,
    responses: ok("The quotas.", OwnQuotas),
  },
});
