import { ConfigError } from "../lib/config-error.ts";
import type { Environment } from "./setting.ts";
import { readWebhook, type WebhookSpec } from "../webhooks/webhook.ts";

const fields = [
  "event_buffer_size",
  "flush_delay",
  "num_retries",
  "retry_delay",
  "max_queue_size",
  "max_batch_bytes",
];

/**
 * Reads `CONVOKE_WEBHOOKS` (or `OH_WEBHOOKS`), a JSON list, or the numbered variables `OH_WEBHOOKS_0_BASE_URL` and so
 * on.
 */
export function readWebhooks(environment: Environment): WebhookSpec[] {
  const name = environment["CONVOKE_WEBHOOKS"] ? "CONVOKE_WEBHOOKS" : "OH_WEBHOOKS";
  const text = environment[name];
  const entries = text ? parseJsonList(name, text, "objects") : numberedEntries(environment);
  const hooks = entries.map((entry, index) =>
    readWebhook(entry, (msg) => {
      throw new ConfigError(`Entry ${index} of ${name} ${msg}.`);
    }),
  );
  if (new Set(hooks.map(({ base_url: url }) => url)).size < hooks.length) {
    throw new ConfigError(`${name} names one base_url twice.`);
  }
  return hooks;
}

/** `of` says in an error what belongs in the list. */
export function parseJsonList(name: string, text: string, of: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(text);
    if (Array.isArray(parsed)) return parsed;
  } catch (cause) {
    throw new ConfigError(`${name} must be a JSON list of ${of}.`, { cause });
  }
  throw new ConfigError(`${name} must be a JSON list of ${of}.`);
}

function numberedEntries(environment: Environment): unknown[] {
  const entries: unknown[] = [];
  for (let index = 0; environment[`OH_WEBHOOKS_${index}_BASE_URL`]; index++) {
    const value = (field: string): string | undefined =>
      environment[`OH_WEBHOOKS_${index}_${field.toUpperCase()}`];
    const numbers = fields.filter((field) => value(field)).map((field) => [field, Number(value(field))]);
    entries.push({
      base_url: value("base_url"),
      secret: value("secret") ?? null,
      ...Object.fromEntries(numbers),
    });
  }
  return entries;
}
