import { Type, type Static } from "typebox";
import { LLMChange } from "../agent/llm-change.ts";
import { anyObject, flag, nullable, object, orAbsent, orNull, ref } from "../schema.ts";

/** Summary of a stored model. */
export const ProfileInfo = object("ProfileInfo", {
  name: Type.String(),
  model: orNull(Type.String()),
  base_url: orNull(Type.String()),
  api_key_set: flag(false),
});
export type ProfileInfo = Static<typeof ProfileInfo>;

/** All stored models. */
export const ProfileListResponse = object("ProfileListResponse", {
  profiles: Type.Array(ref(ProfileInfo)),
  active_profile: orNull(Type.String()),
});
export type ProfileListResponse = Static<typeof ProfileListResponse>;

/** A stored model; its secrets are null. */
export const ProfileDetailResponse = object("ProfileDetailResponse", {
  name: Type.String(),
  config: anyObject(),
  api_key_set: flag(false),
});
export type ProfileDetailResponse = Static<typeof ProfileDetailResponse>;

/** A model to store; without `llm` that of the settings. Absent or masked secrets stay as stored. */
export const SaveProfileRequest = object("SaveProfileRequest", {
  include_secrets: flag(true),
  llm: orAbsent(ref(LLMChange)),
  preserve_existing_api_key: flag(false),
});
export type SaveProfileRequest = Static<typeof SaveProfileRequest>;

/** A profile was changed. */
export const ProfileMutationResponse = object("ProfileMutationResponse", {
  name: Type.String(),
  message: Type.String(),
});
export type ProfileMutationResponse = Static<typeof ProfileMutationResponse>;

/** The profile in use was changed. */
export const ActivateProfileResponse = object("ActivateProfileResponse", {
  name: Type.String(),
  message: Type.String(),
  model: nullable(Type.String()),
});
export type ActivateProfileResponse = Static<typeof ActivateProfileResponse>;

/** The new name of a profile. */
export const RenameProfileRequest = object("RenameProfileRequest", { new_name: Type.String() });
export type RenameProfileRequest = Static<typeof RenameProfileRequest>;
