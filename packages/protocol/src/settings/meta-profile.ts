import { Type, type Static } from "typebox";
import { list, object, orNull, ref } from "../schema.ts";

export const MetaProfileClass = object("MetaProfileClass", {
  description: Type.String(),
  model: Type.String({ description: "Name of a stored model." }),
});

/** Assignment of stored models to kinds of work. Stored for clients; this server does not route by it. */
export const MetaProfile = object("MetaProfile", {
  classifier_model: Type.String(),
  classes: list(ref(MetaProfileClass)),
  prompt_template: orNull(Type.String()),
  model_table: orNull(Type.String()),
});
export type MetaProfile = Static<typeof MetaProfile>;

/** Summary of a meta profile. */
export const MetaProfileInfo = object("MetaProfileInfo", {
  name: Type.String(),
  classifier_model: orNull(Type.String()),
  num_classes: Type.Optional(Type.Integer({ default: 0 })),
});

export const MetaProfileListResponse = object("MetaProfileListResponse", {
  meta_profiles: Type.Array(ref(MetaProfileInfo)),
  active_meta_profile: orNull(Type.String()),
});
export type MetaProfileListResponse = Static<typeof MetaProfileListResponse>;

export const MetaProfileDetailResponse = object("MetaProfileDetailResponse", {
  name: Type.String(),
  config: ref(MetaProfile),
});

export const MetaProfileMutationResponse = object("MetaProfileMutationResponse", {
  name: Type.String(),
  message: Type.String(),
});

/** `applied` is false when nothing routes by it. */
export const ActivateMetaProfileResponse = object("ActivateMetaProfileResponse", {
  name: Type.String(),
  message: Type.String(),
  applied: Type.Optional(Type.Boolean({ default: true })),
});
