import { randomUUID } from "node:crypto";
import type {
  ProviderConnectionCreateRequest,
  ProviderConnectionResponse,
  ProviderConnectionUpdateRequest,
} from "@convoke/protocol";
import { Fault, invalidField } from "../lib/fault.ts";
import { hideUrl, refuseMasks } from "./secret-fields.ts";
import { urlSecrets } from "../security/url-secrets.ts";
import type { JsonObject, StoredConnection, StoredSettings } from "./stored-settings.ts";

const maxConnections = 64;

/** The settings with one connection more, and its id. */
export function addConnection(
  settings: StoredSettings,
  request: ProviderConnectionCreateRequest,
  nowMs: number,
): { readonly settings: StoredSettings; readonly id: string } {
  if (Object.keys(settings.providerConnections).length >= maxConnections) {
    throw new Fault("conflict", "too_many_connections", `A user has at most ${maxConnections} connections.`);
  }
  refuseMasks(request.api_key, ["body", "api_key"]);
  const seconds = Math.floor(nowMs / 1000);
  const connection: StoredConnection = {
    display_name: request.display_name,
    provider: request.provider ?? "custom",
    base_url: readAddress(request.base_url ?? null),
    api_key: request.api_key,
    created_at: seconds,
    updated_at: seconds,
  };
  const id = randomUUID();
  return { settings: withConnection(settings, id, connection), id };
}

/** What is not named stays; the key can be replaced, not removed. */
export function changeConnection(
  settings: StoredSettings,
  id: string,
  change: ProviderConnectionUpdateRequest,
  nowMs: number,
): StoredSettings {
  const before = requireConnection(settings, id);
  if (change.api_key !== undefined) refuseMasks(change.api_key, ["body", "api_key"]);
  return withConnection(settings, id, {
    ...before,
    display_name: change.display_name ?? before.display_name,
    provider: change.provider ?? before.provider,
    base_url: change.base_url === undefined ? before.base_url : readAddress(change.base_url),
    api_key: change.api_key ?? before.api_key,
    updated_at: Math.floor(nowMs / 1000),
  });
}

/** Refused while a stored model, or the one of the settings, names it. */
export function removeConnection(settings: StoredSettings, id: string): StoredSettings {
  requireConnection(settings, id);
  const users = Object.entries(settings.profiles).filter(([, llm]) => llm["provider_connection_id"] === id);
  const names = users.map(([name]) => name);
  if (settings.llm["provider_connection_id"] === id) names.push("the settings");
  if (names.length > 0) {
    throw new Fault("conflict", "connection_in_use", `This connection is used by ${names.join(", ")}.`);
  }
  const { [id]: _, ...providerConnections } = settings.providerConnections;
  return { ...settings, providerConnections };
}

/** A connection as it is shown: without its key. */
export function showConnection(settings: StoredSettings, id: string): ProviderConnectionResponse {
  const { api_key: key, ...shown } = requireConnection(settings, id);
  const address = shown.base_url === null ? null : hideUrl(shown.base_url);
  return { id, ...shown, base_url: address, api_key_set: key !== "" };
}

/** A model with the address and key of the connection that it names; null when that is not there any more. */
export function resolveConnection(settings: StoredSettings, llm: JsonObject): JsonObject | null {
  const id = llm["provider_connection_id"];
  if (typeof id !== "string" || id === "") return llm;
  if (!Object.hasOwn(settings.providerConnections, id)) return null;
  const { api_key: key, base_url: address } = settings.providerConnections[id]!;
  return { ...llm, api_key: key, base_url: address };
}

function requireConnection({ providerConnections }: StoredSettings, id: string): StoredConnection {
  if (Object.hasOwn(providerConnections, id)) return providerConnections[id]!;
  throw new Fault("missing", "connection_not_found", "There is no such provider connection.");
}

function withConnection(settings: StoredSettings, id: string, connection: StoredConnection): StoredSettings {
  return { ...settings, providerConnections: { ...settings.providerConnections, [id]: connection } };
}

function readAddress(address: string | null): string | null {
  const trimmed = address?.trim() ?? "";
  if (trimmed === "") return null;
  const isAddress = URL.canParse(trimmed) && ["http:", "https:"].includes(new URL(trimmed).protocol);
  if (!isAddress)
    throw invalidField(["body", "base_url"], "Send an address such as https://host/v1.", "url_parsing");
  if (urlSecrets(trimmed).length > 0)
    throw invalidField(
      ["body", "base_url"],
      "Send the key as api_key, not inside the address.",
      "url_parsing",
    );
  return trimmed;
}
