import type { legacyRoutes } from "@convoke/protocol";
import type { RouteReply, Handlers } from "../../http/mount.ts";
import { withoutUndefined } from "../../lib/without-undefined.ts";
import { Fault } from "../../lib/fault.ts";
import { maxSecrets } from "../../settings/secret-store.ts";
import type { FaceDeps } from "../face-deps.ts";

/** Secrets of a user in the older clients' form. */
export function secretHandlers({ secrets }: FaceDeps) {
  return {
    listSecretNames: async ({ caller }) => {
      const { items } = await secrets.search(caller.userId, { limit: maxSecrets });
      return { json: { custom_secrets: items } };
    },

    createSecret: async ({ caller, body }) => {
      const { name, description = null, value, hosts, as, shape } = body;
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
      const { name, description, hosts, as, shape } = body;
      const change = { name, description, ...withoutUndefined({ hosts, as, shape }) };
      const id = params.secret_id;
      const outcome = await secrets.update(caller.userId, id, change);
      if (outcome === "missing") return missing(id);
      if (outcome === "taken") return refusal(400, { message: `Secret ${name} already exists` });
      return { json: { message: "Secret updated successfully" } };
    },

    deleteSecret: async ({ caller, params: { secret_id: id } }) => {
      const isRemoved = await secrets.remove(caller.userId, id);
      return isRemoved ? { json: { message: "Secret deleted successfully" } } : missing(id);
    },
  } satisfies Partial<Handlers<typeof legacyRoutes>>;
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
