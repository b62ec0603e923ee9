import { Type } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import {
  ActivateMetaProfileResponse,
  MetaProfile,
  MetaProfileDetailResponse,
  MetaProfileListResponse,
  MetaProfileMutationResponse,
} from "../settings/meta-profile.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const named = {
  params: Type.Object({ name: Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" }) }),
};
const missing = { 404: { description: "There is no such meta profile.", schema: ErrorReply } } as const;

/** Stored and listed, but without effect. Source: agent server 1.58. */
export const metaProfileRoutes = routesOf("Meta profiles", {
  listMetaProfiles: {
    method: "GET",
    path: "/api/meta-profiles",
    summary: "The meta profiles of the caller",
    auth: true,
    responses: ok("The meta profiles.", MetaProfileListResponse),
  },
  getMetaProfile: {
    method: "GET",
    path: "/api/meta-profiles/{name}",
    summary: "One meta profile",
    auth: true,
    ...named,
    responses: { ...ok("The meta profile.", MetaProfileDetailResponse), ...missing, ...invalid },
  },
  saveMetaProfile: {
    method: "POST",
    path: "/api/meta-profiles/{name}",
    summary: "Store a meta profile under a name",
    auth: true,
    ...named,
    body: MetaProfile,
    responses: {
      201: { description: "Stored.", schema: MetaProfileMutationResponse },
      409: { description: "There are too many.", schema: ErrorReply },
      ...invalid,
    },
  },
  deleteMetaProfile: {
    method: "DELETE",
    path: "/api/meta-profiles/{name}",
    summary: "Remove a meta profile",
    auth: true,
    ...named,
    responses: { ...ok("It is not there any more.", MetaProfileMutationResponse), ...invalid },
  },
  activateMetaProfile: {
    method: "POST",
    path: "/api/meta-profiles/{name}/activate",
    summary: "Answer that nothing routes by meta profiles here",
    auth: true,
    ...named,
    responses: { ...ok("Not applied.", ActivateMetaProfileResponse), ...missing, ...invalid },
  },
});
