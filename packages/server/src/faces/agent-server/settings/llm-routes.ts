import type { llmRoutes } from "@convoke/protocol";
import type { Handlers } from "../../../http/mount.ts";
import { invalidField, type Fault } from "../../../lib/fault.ts";
import { byProvider, modelsByProvider, ownModels, routedName } from "../../../settings/model-list.ts";
import {
  addConnection,
  changeConnection,
  removeConnection,
  showConnection,
} from "../../../settings/provider-connections.ts";
import { verifiedWith } from "../../../settings/verified-models.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { changeSettings } from "./change-settings.ts";

/** Models, providers, connections. */
export function llmHandlers({ settings, sealedValues, clock, findLocalServers }: FaceDeps) {
  const modelsOf = async (userId: string): Promise<ReturnType<typeof modelsByProvider>> =>
    modelsByProvider(ownModels((await settings.load(userId)).settings));

  return {
    listProviders: () => ({ json: { providers: [...modelsByProvider().keys()] } }),

    listModels: async ({ caller, query }) => {
      const wanted = query.provider;
      const models = [...(await modelsOf(caller.userId))].filter(
        ([provider]) => !wanted || provider === wanted,
      );
      return {
        json: {
          models: models.flatMap(([provider, names]) => names.map((name) => routedName(provider, name))),
        },
      };
    },

    listVerifiedModels: async ({ caller }) => ({
      json: {
        models: verifiedWith(byProvider(ownModels((await settings.load(caller.userId)).settings))),
      },
    }),

    listLocalModelServers: async () => ({ json: { servers: await findLocalServers() } }),

    listSubscriptionModels: () => ({ json: { vendor: "openai", models: subscriptionModels } }),

    getSubscriptionStatus: () => ({ json: notConnected }),

    startSubscriptionLogin: () => {
      throw noSubscriptions();
    },

    pollSubscriptionLogin: () => {
      throw noSubscriptions();
    },

    logOutSubscription: () => ({ json: notConnected }),

    listProviderConnections: async ({ caller }) => {
      const { settings: stored } = await settings.load(caller.userId);
      return { json: Object.keys(stored.providerConnections).map((id) => showConnection(stored, id)) };
    },

    createProviderConnection: async ({ caller, body }) => {
      const request = sealedValues.openIn(caller.userId, body, ["body"]);
      let id = "";
      const { settings: after } = await changeSettings(settings, caller, (stored) => {
        const added = addConnection(stored, request, clock.nowMs());
        ({ id } = added);
        return added.settings;
      });
      return { status: 201, json: showConnection(after, id) };
    },

    updateProviderConnection: async ({ caller, params: { connection_id: id }, body }) => {
      const change = sealedValues.openIn(caller.userId, body, ["body"]);
      const { settings: after } = await changeSettings(settings, caller, (stored) =>
        changeConnection(stored, id, change, clock.nowMs()),
      );
      return { json: showConnection(after, id) };
    },

    deleteProviderConnection: async ({ caller, params: { connection_id: id } }) => {
      const { settings: before } = await settings.load(caller.userId);
      const shown = showConnection(before, id);
      await settings.change(caller.userId, (stored) => removeConnection(stored, id));
      return { json: shown };
    },
  } satisfies Handlers<typeof llmRoutes>;
}

/** The vendor's catalogue, whether or not a login works. */
const subscriptionModels = [
  "gpt-5.5",
  "gpt-5.6-luna",
  "gpt-5.6-sol",
  "gpt-5.6-terra",
  "gpt-6-astra",
  "gpt-6-luna",
  "gpt-6-sol",
  "gpt-6.1-sol",
];

const notConnected = { vendor: "openai", connected: false, account_email: null, expires_at: null };

function noSubscriptions(): Fault {
  return invalidField(
    ["path"],
    "Logging in with a subscription is not supported by this version of the server. Use an API key.",
    "not_supported",
  );
}
