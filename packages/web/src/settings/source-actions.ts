import type { ConvokeClient } from "@convoke/client";
import type {
  FetchPluginResponse,
  FetchSkillResponse,
  InstallPluginRequest,
  SourceChanges,
} from "@convoke/protocol";

/** What may be brought by a preview; a skill has only its text. */
export type Preview = FetchSkillResponse | FetchPluginResponse;

/** What can be done with skills, and with plugins, in one form. */
export type SourceActions = {
  readonly fetch: (source: InstallPluginRequest) => Promise<Preview>;
  readonly install: (source: InstallPluginRequest) => Promise<unknown>;
  readonly enable: (name: string, enabled: boolean) => Promise<unknown>;
  readonly remove: (name: string) => Promise<unknown>;
  /** With a commit, or an empty text for a directory, what is there is used from then on; without one nothing changes. */
  readonly refresh: (name: string, commit: string | null) => Promise<SourceChanges | null>;
};

export function skillActions(client: ConvokeClient): SourceActions {
  const params = (name: string) => ({ skill_name: name });
  return {
    fetch: (body) => client.call("POST /api/skills/fetch", { body }),
    install: (body) => client.call("POST /api/skills/install", { body }),
    enable: (name, enabled) =>
      client.call("PATCH /api/skills/installed/{skill_name}", { params: params(name), body: { enabled } }),
    remove: (name) => client.call("DELETE /api/skills/installed/{skill_name}", { params: params(name) }),
    refresh: async (name, commit) => {
      const body = commit === null ? { dry_run: true } : commit === "" ? {} : { commit };
      const input = { params: params(name), body };
      return (await client.call("POST /api/skills/installed/{skill_name}/refresh", input)).changes ?? null;
    },
  };
}

export function pluginActions(client: ConvokeClient): SourceActions {
  const params = (name: string) => ({ plugin_name: name });
  return {
    fetch: (body) => client.call("POST /api/plugins/fetch", { body }),
    install: (body) => client.call("POST /api/plugins/install", { body }),
    enable: (name, enabled) =>
      client.call("PATCH /api/plugins/installed/{plugin_name}", { params: params(name), body: { enabled } }),
    remove: (name) => client.call("DELETE /api/plugins/installed/{plugin_name}", { params: params(name) }),
    refresh: async (name, commit) => {
      const body = commit === null ? { dry_run: true } : commit === "" ? {} : { commit };
      const input = { params: params(name), body };
      return (await client.call("POST /api/plugins/installed/{plugin_name}/refresh", input)).changes ?? null;
    },
  };
}
