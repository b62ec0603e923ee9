import type {
  ProfileComparison,
  ProfileRevision,
  ProfileRevisionDetail,
  UsedProfile,
} from "@convoke/protocol";
import { Fault, invalidField } from "../lib/fault.ts";
import type { Caller } from "../security/caller.ts";
import { restoreAgentProfile } from "./agent-profiles.ts";
import { differencesOf } from "./profile-content.ts";
import { findProfile, type NamedProfile, type ProfileKind } from "./profile-changes.ts";
import { restoreProfile } from "./profiles.ts";
import { copyPins, putPin, removePins } from "./revision-pins.ts";
import type { ProfileKey, Revision, RevisionOrigin } from "./revision-store.ts";
import { hideSecrets } from "./secret-fields.ts";
import { restoreConnection, restoreMetaProfile, restoreSettings } from "./settings-content.ts";
import type { SettingsStore, VersionedSettings } from "./settings-store.ts";
import type { JsonObject, StoredSettings } from "./stored-settings.ts";
import type { StoreDeps } from "./store-deps.ts";

export type ProfileHistoryDeps = StoreDeps & { readonly settings: SettingsStore };

/** A profile by its name, of one user. */
type ProfileName = { readonly userId: string; readonly kind: ProfileKind; readonly name: string };

/** The newest number is null for the revisions of a deleted profile that conversations name. */
type Found = { readonly key: ProfileKey; readonly newest: number | null };

type Restore = (
  settings: StoredSettings,
  name: string,
  content: JsonObject,
  nowSeconds: number,
) => StoredSettings;

const restore: Readonly<Record<ProfileKind, Restore>> = {
  model: restoreProfile,
  agent: restoreAgentProfile,
  meta: restoreMetaProfile,
  connection: restoreConnection,
  settings: (stored, _name, content) => restoreSettings(stored, content),
};

/** The revisions of stored profiles as callers read, restore and pin them. */
export class ProfileHistory {
  readonly #deps: ProfileHistoryDeps;

  constructor(deps: ProfileHistoryDeps) {
    this.#deps = deps;
  }

  async list(
    profile: ProfileName,
    limit: number,
    below: number | null,
  ): Promise<{ items: ProfileRevision[]; next_page_id: string | null }> {
    const { key, newest } = await this.#find(profile);
    const found = await this.#deps.settings.revisions.list(key, limit + 1, below);
    const shown = found.slice(0, limit);
    return {
      items: shown.map((revision) => toShown(revision, newest)),
      next_page_id: found.length > limit ? String(shown.at(-1)!.number) : null,
    };
  }

  async get(profile: ProfileName, number: number): Promise<ProfileRevisionDetail> {
    const { key, newest } = await this.#find(profile);
    const revision = await this.#require(key, number);
    return { ...toShown(revision, newest), content: hideSecrets(revision.content) };
  }

  async compare(profile: ProfileName, from: number, to: number): Promise<ProfileComparison> {
    const { key } = await this.#find(profile);
    const [before, after] = [await this.#require(key, from), await this.#require(key, to)];
    return { from, to, differences: differencesOf(before.content, after.content) };
  }

  /** Makes a copy of an old revision the newest one; nothing changes when it has the content of the newest one. */
  async restore(caller: Caller, kind: ProfileKind, name: string, number: number): Promise<ProfileRevision> {
    const profile = { userId: caller.userId, kind, name };
    const { key, newest } = await this.#find(profile);
    const { content } = await this.#require(key, number);
    if (newest === null) throw profileMissing(name);
    if (number !== newest) {
      const origin = { ...originOf(caller), restoredFrom: number };
      const nowSeconds = Math.floor(this.#deps.clock.nowMs() / 1_000);
      const restored = (stored: StoredSettings): StoredSettings => {
        if (findProfile(stored, kind, name) === null) throw profileMissing(name);
        return restore[kind](stored, name, content, nowSeconds);
      };
      await this.#deps.settings.change(caller.userId, restored, origin);
    }
    const now = await this.#find(profile);
    return toShown(await this.#require(key, now.newest ?? number), now.newest);
  }

  /** The named revision of a stored profile, or its newest one; a fault at `loc` where there is no such revision. */
  async use(
    userId: string,
    { settings }: VersionedSettings,
    { kind, name }: Pick<NamedProfile, "kind" | "name">,
    number: number | null,
    loc: string[],
  ): Promise<{ readonly profile: NamedProfile; readonly used: UsedProfile }> {
    const { revisions } = this.#deps.settings;
    const profile = findProfile(settings, kind, name);
    if (profile === null) throw profileMissing(name);
    const newest = await revisions.current(userId, profile);
    const facts = { id: profile.id, is_pinned: number !== null };
    if (number === null || number === newest.number)
      return { profile, used: { ...facts, name, revision: newest.number, digest: newest.digest } };
    const found = await revisions.find({ userId, kind, id: profile.id }, number);
    if (found === null) throw invalidField(loc, `The profile ${name} has no revision ${number}.`);
    return {
      profile: { ...profile, content: found.content },
      used: { ...facts, name: found.name, revision: number, digest: found.digest },
    };
  }

  /** From now on the revision is not removed as long as there is the conversation, or until it names another one. */
  async pin(userId: string, conversationId: string, kind: ProfileKind, used: UsedProfile): Promise<void> {
    const { database, clock } = this.#deps;
    await this.#find({ userId, kind, name: used.name });
    await database.transaction((tables) =>
      putPin(tables, { userId, conversationId, kind, used }, clock.nowMs()),
    );
    await this.#require({ userId, kind, id: used.id }, used.revision);
  }

  /** For a copy of a conversation. */
  async copyPins(userId: string, from: string, to: string): Promise<void> {
    const { database, clock } = this.#deps;
    await database.transaction((tables) => copyPins(tables, userId, from, to, clock.nowMs()));
  }

  /** Of one kind, or of both. */
  async unpin(userId: string, conversationId: string, kind: ProfileKind | null): Promise<void> {
    await this.#deps.database.transaction((tables) => removePins(tables, { userId, conversationId }, kind));
  }

  /** What the revisions of a name are found by; the newest one is written where it is missing. */
  async #find({ userId, kind, name }: ProfileName): Promise<Found> {
    const { settings } = this.#deps;
    for (;;) {
      const { version, settings: stored } = await settings.load(userId);
      // Nothing was ever stored, so there is no row that could be locked.
      const profile = version === 0 ? null : findProfile(stored, kind, name);
      if (profile === null) {
        const id = await settings.revisions.findDeleted(userId, kind, name);
        if (id === null) throw profileMissing(name);
        return { key: { userId, kind, id }, newest: null };
      }
      const [written] = await settings.revisions.list({ userId, kind, id: profile.id }, 1, null);
      const { number } = await settings.revisions.current(userId, profile);
      const key = { userId, kind, id: profile.id };
      if (written?.number === number || (await settings.ensureRevision(userId, version, profile)))
        return { key, newest: number };
    }
  }

  async #require(key: ProfileKey, number: number): Promise<Revision> {
    const found = await this.#deps.settings.revisions.find(key, number);
    if (found !== null) return found;
    throw new Fault("missing", "revision_not_found", `This profile has no revision ${number}.`);
  }
}

/** Who changes a profile with a request. */
export function originOf({ userId, keyId, loginId }: Caller): RevisionOrigin {
  return { author: { user_id: userId, key_id: keyId ?? null, login_id: loginId ?? null } };
}

function toShown(revision: Revision, newest: number | null): ProfileRevision {
  const { number, name, author, change, restoredFrom, digest, createdAtMs, isPinned } = revision;
  return {
    number,
    name,
    created_at: new Date(createdAtMs).toISOString(),
    created_by: author,
    change,
    restored_from: restoredFrom,
    digest,
    is_current: number === newest,
    is_pinned: isPinned,
  };
}

function profileMissing(name: string): Fault {
  return new Fault("missing", "profile_not_found", `There is no profile ${name}.`);
}
