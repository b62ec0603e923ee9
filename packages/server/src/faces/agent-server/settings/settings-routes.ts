import type { Settings, agentSettingsRoutes } from "@convoke/protocol";
import type { RouteHandler, RouteReply, RouteRequest, Handlers } from "../../../http/mount.ts";
import { notStored } from "../../../http/route-reply.ts";
import { Fault } from "../../../lib/fault.ts";
import {
  addServer,
  isPatch,
  patchServer,
  patchSettings,
  removeServer,
} from "../../../settings/patch-settings.ts";
import type { SealedValues } from "../../../settings/sealed-values.ts";
import { maxSecrets } from "../../../settings/secret-store.ts";
import { agentSettingsForm, conversationSettingsForm } from "../../../settings/settings-forms.ts";
import type { SettingsStore } from "../../../settings/settings-store.ts";
import { toSettings } from "../../../settings/settings-views.ts";
import { withoutUndefined } from "../../../lib/without-undefined.ts";
import type { StoredSettings } from "../../../settings/stored-settings.ts";
import { badExposure, readExposure } from "./expose-secrets.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { changeSettings } from "./change-settings.ts";

type Asked = Pick<RouteRequest, "caller">;

/** Settings and secrets as newer agent servers have them. */
export function agentSettingsHandlers({ settings, secrets, sealedValues }: FaceDeps) {
  /** A change answers with the settings after it, and says from when on they count (P34). */
  async function change(
    { caller }: Asked,
    apply: (stored: StoredSettings) => StoredSettings,
    status = 200,
  ): Promise<RouteReply> {
    const { version, settings: after } = await changeSettings(settings, caller, apply);
    return { status, json: { ...toSettings(after), applies_from: "new conversations", version } };
  }

  const opened = <Body>({ caller, body }: Asked & { readonly body: Body }): Body =>
    sealedValues.openIn(caller.userId, body, ["body"]);

  return {
    patchSettings: async (request) => {
      const patch = opened(request);
      if (!isPatch(patch)) {
        return { status: 400, json: { detail: "Name at least one setting to change.", code: "bad_request" } };
      }
      return await change(request, (stored) => patchSettings(stored, patch));
    },

    getAgentSchema: () => ({ json: agentSettingsForm() }),

    getConversationSchema: () => ({ json: conversationSettingsForm() }),

    createMcpServer: async (request) => {
      const server = opened(request);
      return await change(request, (stored) => addServer(stored, request.params.settings_key, server), 201);
    },

    patchMcpServer: async (request) => {
      const patch = opened(request);
      return await change(request, (stored) => patchServer(stored, request.params.settings_key, patch));
    },

    deleteMcpServer: async (request) =>
      await change(request, (stored) => removeServer(stored, request.params.settings_key)),

    listSettingsSecrets: async ({ caller }) => {
      const { items } = await secrets.search(caller.userId, { limit: maxSecrets });
      return { json: { secrets: items } };
    },

    putSettingsSecret: async (request) => {
      const { name, description = null, value, hosts, as, shape } = opened(request);
      const binding = withoutUndefined({ hosts, as, shape });
      await secrets.store(request.caller.userId, { name, description, value, ...binding }, "replace");
      return { json: { name, description, ...binding } };
    },

    readSettingsSecret: async ({ caller, params }) => {
      const secret = await secrets.read(caller.userId, params.name);
      if (secret === null) throw secretMissing(params.name);
      const bytes = new TextEncoder().encode(secret.value);
      return { bytes, contentType: "text/plain; charset=utf-8", headers: notStored };
    },

    deleteSettingsSecret: async ({ caller, params }) => {
      const isRemoved = await secrets.remove(caller.userId, params.name);
      if (!isRemoved) throw secretMissing(params.name);
      return { json: { deleted: true } };
    },
  } satisfies Handlers<typeof agentSettingsRoutes>;
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

export function secretMissing(name: string): Fault {
  return new Fault("missing", "secret_not_found", `There is no secret ${name}.`);
}
