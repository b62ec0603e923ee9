import type { CustomSecretModel, CustomSecretUpdate } from "@convoke/protocol";
import { withoutUndefined } from "../../lib/without-undefined.ts";
import type { RouteHandler, RouteReply } from "../../http/mount.ts";
import { Fault } from "../../lib/fault.ts";
import { maxSecrets, type SecretStore } from "../../settings/secret-store.ts";

export type SecretRouteDeps = { readonly secrets: SecretStore };

/** Secrets of a user in the older clients' form. */
export function secretHandlers({ secrets }: SecretRouteDeps) {
  return {
    listSecretNames: async ({ caller }) => {
      const { items } = await secrets.search(caller.userId, { limit: maxSecrets });
      return { json: { custom_secrets: items } };
    },

    createSecret: async ({ caller, body }) => {
      const { name, description = null, value, hosts, as, shape } = body as CustomSecretModel;
      const secret = { name, description, value, ...withoutUndefined({ hosts, as, shape }) };
      try {
        const isStored = await secrets.store(caller.userId, secret, "refuse");
        if (!isStored) return refusal(400, { message: `Secret ${name} already exists` });
      } catch (error) {
        if (error instanceof Fault && error.kind === "conflict")
          return refusal(400, { message: error.message });
        throw error;
      }
      return { status: 201, json: { message: "Secret created successfully" } };
    },

    updateSecret: async ({ caller, params, body }) => {
      const { name, description, hosts, as, shape } = body as CustomSecretUpdate;
      const change = { name, description, ...withoutUndefined({ hosts, as, shape }) };
      const id = params["secret_id"]!;
      const outcome = await secrets.update(caller.userId, id, change);
      if (outcome === "missing") return missing(id);
      if (outcome === "taken") return refusal(400, { message: `Secret ${name} already exists` });
      return { json: { message: "Secret updated successfully" } };
    },

    deleteSecret: async ({ caller, params }) => {
      const id = params["secret_id"]!;
      const isRemoved = await secrets.remove(caller.userId, id);
      return isRemoved ? { json: { message: "Secret deleted successfully" } } : missing(id);
    },
  } satisfies Record<string, RouteHandler>;
}

function missing(id: string): RouteReply {
  return refusal(404, { error: `Secret with ID ${id} not found` });
}

function refusal(
  status: number,
  json: { readonly message: string } | { readonly error: string },
): RouteReply {
  return { status, json };
}
