import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { ScriptRaw } from "./script.ts";

/** Sends the script's bytes, whatever the protocol. */
export async function sendRaw(response: ServerResponse, raw: ScriptRaw, signal: AbortSignal): Promise<void> {
  response.writeHead(raw.status ?? 200, raw.headers ?? {});
  for (let copy = 0; copy < (raw.repeat ?? 1); copy += 1) {
    if (signal.aborted) return;
    if (copy > 0 && raw.delay_ms !== undefined) await delay(raw.delay_ms, undefined, { signal });
    await new Promise<void>((resolve) => response.write(raw.body ?? "", () => resolve()));
  }
  if (raw.ending === "cut") response.destroy();
  else if (raw.ending !== "hang") response.end();
}
