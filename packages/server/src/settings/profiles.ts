import { randomUUID } from "node:crypto";
import type { SaveProfileRequest } from "@convoke/protocol";
import { Fault, invalidField } from "../lib/fault.ts";
import { checkModelAddress } from "../models/model-address.ts";
import { mergeChange } from "./secret-fields.ts";
import type { JsonObject, StoredSettings } from "./stored-settings.ts";

const maxProfiles = 50;
const credentialFields = ["api_key", "aws_access_key_id", "aws_secret_access_key", "aws_session_token"];

/** Stores a model under a name. A secret that the request leaves out stays as it is in a profile of this name. */
export function saveProfile(
  settings: StoredSettings,
  name: string,
  { llm, include_secrets: hasSecrets = true }: SaveProfileRequest,
): StoredSettings {
  checkProfileName(name, ["path", "name"]);
  const before = profileOf(settings, name);
  if (before === null && Object.keys(settings.profiles).length >= maxProfiles) {
    throw new Fault("conflict", "too_many_profiles", `A user has at most ${maxProfiles} profiles.`);
  }
  checkModelAddress(llm ?? {}, ["body", "llm"]);
  const stored = before === null ? {} : onlySecrets(before);
  const given = llm === undefined || llm === null ? settings.llm : mergeChange(stored, llm, ["body", "llm"]);
  if (typeof given["model"] !== "string" || given["model"] === "") {
    throw invalidField(["body", "llm", "model"], "Name a model, such as openai/gpt-5.", "missing");
  }
  const profile = hasSecrets ? given : withoutSecrets(given);
  return withProfile(settings, name, profile);
}

/** The settings with a stored model as it is in a revision, secrets included. */
export function restoreProfile(settings: StoredSettings, name: string, content: JsonObject): StoredSettings {
  requireProfile(settings, name);
  return withProfile(settings, name, content);
}

function withProfile(settings: StoredSettings, name: string, profile: JsonObject): StoredSettings {
  const isNew = profileOf(settings, name) === null;
  return {
    ...settings,
    profiles: { ...settings.profiles, [name]: profile },
    profileIds: isNew ? { ...settings.profileIds, [name]: randomUUID() } : settings.profileIds,
  };
}

/** What the revisions of a stored model are found by; it stays when the model gets another name. */
export function profileIdOf({ profileIds }: StoredSettings, name: string): string {
  return Object.hasOwn(profileIds, name) ? profileIds[name]! : name;
}

/** The settings without the profile, whether or not it existed. Refused while an agent profile refers to it. */
export function deleteProfile(settings: StoredSettings, name: string): StoredSettings {
  checkProfileName(name, ["path", "name"]);
  const users = Object.entries(settings.agentProfiles).filter(
    ([, agent]) => agent["llm_profile_ref"] === name,
  );
  if (users.length > 0) {
    const names = users.map(([user]) => user).join(", ");
    throw new Fault(
      "conflict",
      "profile_in_use",
      `The agent profiles ${names} refer to the profile ${name}.`,
    );
  }
  const { [name]: _, ...profiles } = settings.profiles;
  const { [name]: __, ...profileIds } = settings.profileIds;
  return {
    ...settings,
    profiles,
    profileIds,
    activeProfile: settings.activeProfile === name ? null : settings.activeProfile,
  };
}

/** The settings with the profile's model as their own. */
export function activateProfile(settings: StoredSettings, name: string): StoredSettings {
  return { ...settings, llm: requireProfile(settings, name), activeProfile: name };
}

/** The settings with the profile under another name. */
export function renameProfile(settings: StoredSettings, name: string, newName: string): StoredSettings {
  const profile = requireProfile(settings, name);
  checkProfileName(newName, ["body", "new_name"]);
  if (newName === name) return settings;
  if (profileOf(settings, newName) !== null) {
    throw new Fault("conflict", "profile_exists", `There is a profile ${newName} already.`);
  }
  const { [name]: _, ...others } = settings.profiles;
  const { [name]: __, ...otherIds } = settings.profileIds;
  const agentProfiles = Object.entries(settings.agentProfiles).map(([agent, fields]) => [
    agent,
    fields["llm_profile_ref"] === name ? { ...fields, llm_profile_ref: newName } : fields,
  ]);
  return {
    ...settings,
    profiles: { ...others, [newName]: profile },
    profileIds: { ...otherIds, [newName]: profileIdOf(settings, name) },
    agentProfiles: Object.fromEntries(agentProfiles) as StoredSettings["agentProfiles"],
    activeProfile: settings.activeProfile === name ? newName : settings.activeProfile,
  };
}

export function requireProfile(
  settings: StoredSettings,
  name: string,
  loc: string[] = ["path", "name"],
): JsonObject {
  checkProfileName(name, loc);
  const profile = profileOf(settings, name);
  if (profile === null) throw new Fault("missing", "profile_not_found", `There is no profile ${name}.`);
  return profile;
}

/** The stored model of this name; null when there is none. */
export function profileOf({ profiles }: StoredSettings, name: string): JsonObject | null {
  return Object.hasOwn(profiles, name) ? profiles[name]! : null;
}

function checkProfileName(name: string, loc: string[]): void {
  if (/^[A-Za-z0-9._-]{1,64}$/.test(name)) return;
  throw invalidField(loc, "A name has 1 to 64 letters, digits, dots, dashes and underscores.");
}

function onlySecrets(llm: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(llm).filter(([field]) => credentialFields.includes(field)));
}

function withoutSecrets(llm: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(llm).filter(([field]) => !credentialFields.includes(field)));
}
