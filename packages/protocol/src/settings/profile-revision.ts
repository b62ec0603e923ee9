import { Type, type Static } from "typebox";
import { anyObject, choice, nullable, object, ref } from "../schema.ts";

/** Who changed a profile: a user, by an issued key or a browser login where there was one. */
export const RevisionAuthor = object("RevisionAuthor", {
  user_id: Type.String(),
  key_id: nullable(Type.String()),
  login_id: nullable(Type.String()),
});
export type RevisionAuthor = Static<typeof RevisionAuthor>;

/** One state of a model profile or an agent profile; it never changes. */
export const ProfileRevision = object("ProfileRevision", {
  /** That of an agent profile is its `revision`; model profiles begin at 1. */
  number: Type.Integer({ minimum: 0 }),
  /** The name of the profile at that time. */
  name: Type.String(),
  created_at: Type.String({ format: "date-time" }),
  /** Null where it was not recorded. */
  created_by: nullable(ref(RevisionAuthor)),
  change: choice(["found", "saved", "renamed", "restored"], {
    description: "How it came about; `found`: it was there before revisions were recorded.",
  }),
  /** With `restored`: the revision that it is a copy of. */
  restored_from: nullable(Type.Integer({ minimum: 0 })),
  digest: Type.String({ description: "SHA-256 of the content with its secrets masked, in hex." }),
  is_current: Type.Boolean(),
  is_pinned: Type.Boolean({ description: "A conversation names this revision: it is not removed." }),
});
export type ProfileRevision = Static<typeof ProfileRevision>;

export const ProfileRevisionPage = object("ProfileRevisionPage", {
  items: Type.Array(ref(ProfileRevision)),
  next_page_id: nullable(Type.String()),
});
export type ProfileRevisionPage = Static<typeof ProfileRevisionPage>;

export const ProfileRevisionDetail = object("ProfileRevisionDetail", {
  ...ProfileRevision.properties,
  content: anyObject({ description: "The profile as it was; secrets are masked." }),
});
export type ProfileRevisionDetail = Static<typeof ProfileRevisionDetail>;

/** A field that two revisions have differently. */
export const ProfileDifference = object("ProfileDifference", {
  path: Type.Array(Type.String()),
  change: choice(["added", "removed", "changed"]),
  /** True: the values are not shown. */
  is_secret: Type.Boolean(),
  from: Type.Optional(Type.Unknown()),
  to: Type.Optional(Type.Unknown()),
});
export type ProfileDifference = Static<typeof ProfileDifference>;

export const ProfileComparison = object("ProfileComparison", {
  from: Type.Integer(),
  to: Type.Integer(),
  differences: Type.Array(ref(ProfileDifference)),
});
export type ProfileComparison = Static<typeof ProfileComparison>;

/** Which revision of a profile a conversation works with. */
export const UsedProfile = object("UsedProfile", {
  /** Stays the same when the profile gets another name. */
  id: Type.String(),
  name: Type.String(),
  revision: Type.Integer({ minimum: 0 }),
  digest: Type.String(),
  /** True: the revision was named; false: it was the newest one. */
  is_pinned: Type.Boolean(),
});
export type UsedProfile = Static<typeof UsedProfile>;

/** The stored profiles that a conversation's settings were taken from; null: not from a profile. */
export const SettingsUsed = object("SettingsUsed", {
  settings_version: Type.Integer({ description: "Version of the user's settings when they were read." }),
  agent_profile: nullable(ref(UsedProfile)),
  model_profile: nullable(ref(UsedProfile)),
});
export type SettingsUsed = Static<typeof SettingsUsed>;
