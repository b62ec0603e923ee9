import { Type, type Static } from "typebox";
import { NetworkPolicy } from "../extensions/network-policy.ts";
import { choice, closedObject, object, orAbsent, ref } from "../schema.ts";

/** What has to stand around a user's agents on the server's machine: nothing, any wall, or one whose process is not root. */
export const LeastWall = choice(["none", "as_root", "bubblewrap"]);
export type LeastWall = Static<typeof LeastWall>;

/** What a user may have at most. What is left out is not limited; a policy never gives what the server refuses. */
export const UserPolicy = closedObject("UserPolicy", {
  conversations: orAbsent(
    Type.Integer({
      minimum: 0,
      description: "How many conversations may exist, those of sub-agents included.",
    }),
  ),
  running_walls: orAbsent(
    Type.Integer({ minimum: 1, description: "How many walls may run at one time, on all nodes together." }),
  ),
  least_wall: orAbsent(LeastWall),
  max_network: orAbsent(NetworkPolicy),
  may_turn_off: orAbsent(
    Type.Boolean({ description: "False: conversations of the user cannot do without their wall." }),
  ),
});
export type UserPolicy = Static<typeof UserPolicy>;

export const UserPolicyEntry = object("UserPolicyEntry", {
  user_id: Type.String({ description: "`*` stands for all users." }),
  policy: ref(UserPolicy),
});
export type UserPolicyEntry = Static<typeof UserPolicyEntry>;

export const UserPolicyList = object("UserPolicyList", { policies: Type.Array(ref(UserPolicyEntry)) });
export type UserPolicyList = Static<typeof UserPolicyList>;

export const QuotaName = choice(["conversations", "running_walls"]);
export type QuotaName = Static<typeof QuotaName>;

/** How much of a quota is used. */
export const QuotaUse = object("QuotaUse", {
  name: QuotaName,
  used: Type.Integer(),
  max: Type.Integer(),
  is_near: Type.Boolean({ description: "At least 80 % is used." }),
});
export type QuotaUse = Static<typeof QuotaUse>;

/** The quotas that limit the caller, and the policy that they come from. */
export const OwnQuotas = object("OwnQuotas", { quotas: Type.Array(ref(QuotaUse)), policy: ref(UserPolicy) });
export type OwnQuotas = Static<typeof OwnQuotas>;

export const ReachedQuota = object("ReachedQuota", {
  name: QuotaName,
  used: Type.Integer(),
  max: Type.Integer(),
  ends: Type.String({ description: "What has to happen before the same request succeeds." }),
});
export type ReachedQuota = Static<typeof ReachedQuota>;

/** The reply to a request that would exceed a quota (429, code `quota_reached`). */
export const QuotaReply = object("QuotaReply", {
  detail: Type.String(),
  code: Type.Literal("quota_reached"),
  quota: ref(ReachedQuota),
});
export type QuotaReply = Static<typeof QuotaReply>;
