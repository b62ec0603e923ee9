import type { MetaProfile } from "@convoke/protocol";
import { Fault, invalidField } from "../lib/fault.ts";
import type { StoredSettings } from "./stored-settings.ts";

const maxProfiles = 50;

/** Stores a meta profile under a name; one that could route nothing is refused. */
export function saveMetaProfile(
  settings: StoredSettings,
  name: string,
  profile: MetaProfile,
): StoredSettings {
  const { metaProfiles } = settings;
  if (!Object.hasOwn(metaProfiles, name) && Object.keys(metaProfiles).length >= maxProfiles) {
    throw new Fault("conflict", "too_many_profiles", `A user has at most ${maxProfiles} meta profiles.`);
  }
  if ((profile.classes ?? []).length === 0 && (profile.prompt_template ?? null) === null) {
    throw invalidField(["body", "classes"], "Send at least one class, or a prompt_template.");
  }
  const { classifier_model, classes = [], prompt_template = null, model_table = null } = profile;
  const stored = { classifier_model, classes, prompt_template, model_table };
  return { ...settings, metaProfiles: { ...metaProfiles, [name]: stored } };
}

/** The settings without the profile, whether or not it existed. */
export function deleteMetaProfile(settings: StoredSettings, name: string): StoredSettings {
  const { [name]: _, ...metaProfiles } = settings.metaProfiles;
  return { ...settings, metaProfiles };
}

export function requireMetaProfile({ metaProfiles }: StoredSettings, name: string): MetaProfile {
  if (Object.hasOwn(metaProfiles, name)) return metaProfiles[name]!;
  throw new Fault("missing", "profile_not_found", `There is no meta profile ${name}.`);
}
