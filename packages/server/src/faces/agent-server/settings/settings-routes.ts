import type {
  MCPServerPatch,
  MCPServerSettings,
  SecretCreateRequest,
  Settings,
  SettingsPatch,
} from "@convoke/protocol";
import type { RouteHandler, RouteReply, RouteRequest } from "../../../http/mount.ts";
import { Fault } from "../../../lib/fault.ts";
import {
  addServer,
  isPatch,
  patchServer,
  patchSettings,
  removeServer,
} from "../../../settings/patch-settings.ts";
import type { SealedValues } from "../../../settings/sealed-values.ts";
import { maxSecrets, type SecretStore } from "../../../settings/secret-store.ts";
import { agentSettingsForm, conversationSettingsForm } from "../../../settings/settings-forms.ts";
import type { SettingsStore } from "../../../settings/settings-store.ts";
import { toSettings } from "../../../settings/settings-views.ts";
import { withoutUndefined } from "../../../lib/without-undefined.ts";
import type { StoredSettings } from "../../../settings/stored-settings.ts";
import { badExposure, notStored, readExposure } from "./expose-secrets.ts";
import { originOf } from "../../../settings/profile-history.ts";

export type AgentSettingsRouteDeps = {
  readonly settings: SettingsStore;
  readonly secrets: SecretStore;
  readonly sealedValues: SealedValues;
};

/** Settings and secrets as newer agent servers have them. */
export function agentSettingsHandlers({ settings, secrets, sealedValues }: AgentSettingsRouteDeps) {
  /** A change answers with the settings after it, and says from when on they count (P34). */
  async function change(
    { caller }: RouteRequest,
    apply: (stored: StoredSettings) => StoredSettings,
    status = 200,
  ): Promise<RouteReply> {
    const { version, settings: after } = await settings.change(caller.userId, apply, originOf(caller));
    return { status, json: { ...toSettings(after), applies_from: "new conversations", version } };
  }

  const opened = ({ caller, body }: RouteRequest): unknown =>
    sealedValues.openIn(caller.userId, body, ["body"]);

  return {
    patchSettings: async (request) => {
      const patch = opened(request) as SettingsPatch;
      if (!isPatch(patch)) {
        return { status: 400, json: { detail: "Name at least one setting to change.", code: "bad_request" } };
      }
      return await change(request, (stored) => patchSettings(stored, patch));
    },

    getAgentSchema: () => ({ json: agentSettingsForm() }),

    getConversationSchema: () => ({ json: conversationSettingsForm() }),

    createMcpServer: async (request) => {
      const server = opened(request) as MCPServerSettings;
      return await change(request, (stored) => addServer(stored, serverName(request), server), 201);
    },

    patchMcpServer: async (request) => {
      const patch = opened(request) as MCPServerPatch;
      return await change(request, (stored) => patchServer(stored, serverName(request), patch));
    },

    deleteMcpServer: async (request) =>
      await change(request, (stored) => removeServer(stored, serverName(request))),

    listSettingsSecrets: async ({ caller }) => {
      const { items } = await secrets.search(caller.userId, { limit: maxSecrets });
      return { json: { secrets: items } };
    },

    putSettingsSecret: async (request) => {
      const { name, description = null, value, hosts, as, shape } = opened(request) as SecretCreateRequest;
      const binding = withoutUndefined({ hosts, as, shape });
      await secrets.store(request.caller.userId, { name, description, value, ...binding }, "replace");
      return { json: { name, description, ...binding } };
    },

    readSettingsSecret: async ({ caller, params }) => {
      const secret = await secrets.read(caller.userId, params["name"]!);
      if (secret === null) throw secretMissing(params["name"]!);
      const bytes = new TextEncoder().encode(secret.value);
      return { bytes, contentType: "text/plain; charset=utf-8", headers: notStored };
    },

    deleteSettingsSecret: async ({ caller, params }) => {
      const isRemoved = await secrets.remove(caller.userId, params["name"]!);
      if (!isRemoved) throw secretMissing(params["name"]!);
      return { json: { deleted: true } };
    },
  } satisfies Record<string, RouteHandler>;
}

/** Both forms of the settings; secrets as the header asks. */
export function loadSettingsHandler(settings: SettingsStore, sealedValues: SealedValues): RouteHandler {
  return async (request) => {
    const exposure = readExposure(request, sealedValues);
    if (exposure === null) return badExposure;
    const { settings: stored } = await settings.load(request.caller.userId);
    const json: Settings = toSettings(stored, exposure.shownAs);
    return { json, ...(exposure.isExposed ? { headers: notStored } : {}) };
  };
}

function serverName({ params }: RouteRequest): string {
  return params["settings_key"]!;
}

function secretMissing(name: string): Fault {
  return new Fault("missing", "secret_not_found", `There is no secret ${name}.`);
}
