import type OpenAI from "openai";
import type { ModelSettings } from "./model-settings.ts";
import { createProviderFetch, neverMs, type Send } from "./provider-fetch.ts";

/** OpenAI's client for a route. The SDK is loaded at the first request: it is half of what a server would load before it listens. */
export async function openClient(settings: ModelSettings, send: Send): Promise<OpenAI> {
  const { default: Client } = await import("openai");
  // The SDK insists on a key; the header below is what is sent.
  const key = settings.apiKey ?? "none";
  const { route } = settings;
  const keyHeader = route.keyHeader === "api-key" ? { "api-key": key } : { authorization: `Bearer ${key}` };
  return new Client({
    apiKey: key,
    baseURL: route.baseUrl,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: neverMs,
    logLevel: "off",
    defaultQuery: route.query === undefined ? undefined : { ...route.query },
    fetch: createProviderFetch(send, { ...keyHeader, ...settings.headers }),
  });
}

/**
 * Asks for an answer that streams. The library gets the body as text: it holds what it was given until the answer begins, and the form of
 * the wire of a long history is thousands of objects that outlive the collections of the young heap.
 */
export function postBody(client: OpenAI, path: string, body: object, signal: AbortSignal): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return client.post(path, { body: JSON.stringify(body), headers, stream: true, signal }).asResponse();
}
