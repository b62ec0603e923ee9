import type Anthropic from "@anthropic-ai/sdk";
import type { ModelSettings } from "../model-settings.ts";
import { createProviderFetch, neverMs, type Send } from "../provider-fetch.ts";
import type { Wire } from "../wire-attempt.ts";
import { MessagesAnswer } from "./anthropic-answer.ts";
import { buildMessagesRequest } from "./anthropic-request.ts";

/** The Anthropic messages wire, at its maker or at any server that speaks it. */
export function anthropicWire(settings: ModelSettings): Wire<Anthropic> {
  return {
    open: openClient,
    createAnswer: () => new MessagesAnswer(),
    post: (client, request, refused, signal) => {
      const { body, betas, optionalFields } = buildMessagesRequest(request, settings, refused);
      const headers = betas.length > 0 ? { "anthropic-beta": betas.join(",") } : {};
      // Not through `messages.create`, which writes advice about models to the console.
      const sent = client.post("/v1/messages", { body, headers, signal, stream: true });
      return { response: sent.asResponse(), optionalFields };
    },
  };
}

async function openClient(settings: ModelSettings, send: Send): Promise<Anthropic> {
  const { default: Client } = await import("@anthropic-ai/sdk");
  // The SDK insists on a key; the headers below are what is sent.
  const key = settings.apiKey ?? "none";
  return new Client({
    apiKey: key,
    baseURL: settings.route.baseUrl,
    webhookKey: null,
    openTelemetry: false,
    maxRetries: 0,
    timeout: neverMs,
    logLevel: "off",
    fetch: createProviderFetch(send, { ...keyHeaders(key), ...settings.headers }),
  });
}

/** OAuth tokens of this maker are bearer tokens, and its API keys are not; servers that copy the API accept this too. */
function keyHeaders(key: string): Record<string, string> {
  return key.startsWith("sk-ant-oat") ? { authorization: `Bearer ${key}` } : { "x-api-key": key };
}
