import { isDeepStrictEqual } from "node:util";
import { profileIdOf } from "./profiles.ts";
import { connectionContent, settingsContent } from "./settings-content.ts";
import type { JsonObject, StoredSettings } from "./stored-settings.ts";

/** What has revisions. A connection is named by its id; of `settings` there is one, of that name. */
export type ProfileKind = "model" | "agent" | "meta" | "connection" | "settings";

/** A stored profile of any kind. */
export type NamedProfile = {
  readonly kind: ProfileKind;
  /** Stays the same when the profile gets another name. */
  readonly id: string;
  readonly name: string;
  readonly content: JsonObject;
};

/** A profile before and after a change of the settings; null where there is none. */
export type ProfileChange = {
  readonly kind: ProfileKind;
  readonly id: string;
  readonly before: NamedProfile | null;
  readonly after: NamedProfile | null;
};

/** The profiles that a change of the settings has changed, by what they are found by. */
export function profileChanges(before: StoredSettings, after: StoredSettings): ProfileChange[] {
  return kinds.flatMap((kind) => {
    const [old, now] = [byId(before, kind), byId(after, kind)];
    return [...new Set([...old.keys(), ...now.keys()])].flatMap((id) => {
      const change = { kind, id, before: old.get(id) ?? null, after: now.get(id) ?? null };
      return isSame(change.before, change.after) ? [] : [change];
    });
  });
}

/** The stored profile of a name; null when there is none. */
export function findProfile(settings: StoredSettings, kind: ProfileKind, name: string): NamedProfile | null {
  const all = contentsOf(settings, kind);
  return Object.hasOwn(all, name) ? toNamed(settings, kind, name, all[name]!) : null;
}

const kinds = ["model", "agent", "meta", "connection", "settings"] as const satisfies readonly ProfileKind[];

function byId(settings: StoredSettings, kind: ProfileKind): Map<string, NamedProfile> {
  const named = Object.entries(contentsOf(settings, kind)).map(([name, content]) =>
    toNamed(settings, kind, name, content),
  );
  return new Map(named.map((profile) => [profile.id, profile]));
}

function contentsOf(settings: StoredSettings, kind: ProfileKind): Readonly<Record<string, JsonObject>> {
  switch (kind) {
    case "model":
      return settings.profiles;
    case "agent":
      return settings.agentProfiles;
    case "meta":
      return settings.metaProfiles;
    case "connection":
      return Object.fromEntries(
        Object.entries(settings.providerConnections).map(([id, each]) => [id, connectionContent(each)]),
      );
    case "settings":
      return { settings: settingsContent(settings) };
  }
}

function toNamed(
  settings: StoredSettings,
  kind: ProfileKind,
  name: string,
  content: JsonObject,
): NamedProfile {
  const id = kind === "model" ? profileIdOf(settings, name) : kind === "agent" ? String(content["id"]) : name;
  return { kind, id, name, content };
}

function isSame(before: NamedProfile | null, after: NamedProfile | null): boolean {
  if (before === null || after === null) return before === after;
  return (
    before.name === after.name &&
    (before.content === after.content || isDeepStrictEqual(before.content, after.content))
  );
}
