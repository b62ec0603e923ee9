import { createHmac } from "node:crypto";
import type { WebhookSpec } from "./webhook.ts";
import { withoutUndefined } from "../lib/without-undefined.ts";

export type Delivery = {
  /** Relative to the base address. */
  readonly path: string;
  readonly body: string;
  /** The same at each attempt, so that a receiver can detect repetitions. */
  readonly id: string;
  /** First and last seq of the events in it, when it has events. */
  readonly sequence: string | null;
};

/** The receiver is unreachable or accepts nothing at the moment. */
export class ReceiverUnavailableError extends Error {
  override readonly name = "ReceiverUnavailableError";
}

const answerMs = 30_000;
/** Statuses that concern the posted events; all others concern the receiver or its address. */
const refusals: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/**
 * Posts once; rejects unless the receiver answers with 2xx within 30 seconds, with {@link ReceiverUnavailableError}
 * when it is unavailable.
 */
export async function deliver(
  hook: WebhookSpec,
  delivery: Delivery,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const reply = await fetch(`${hook.base_url}${delivery.path}`, {
    method: "POST",
    headers: withoutUndefined({
      "content-type": "application/json",
      "user-agent": "convoke",
      "x-convoke-delivery": delivery.id,
      "x-convoke-sequence": delivery.sequence ?? undefined,
      "x-convoke-timestamp": timestamp,
      "x-convoke-signature": hook.secret === null ? undefined : sign(hook.secret, timestamp, delivery.body),
      ...hook.headers,
    }),
    body: delivery.body,
    // A key must not be sent to an address that is not configured.
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
  }).catch((cause: unknown) => {
    throw new ReceiverUnavailableError(reasonOf(cause), { cause });
  });
  await reply.body?.cancel();
  if (reply.ok) return;
  const message = `The receiver answered ${reply.status}.`;
  throw refusals.has(reply.status) ? new Error(message) : new ReceiverUnavailableError(message);
}

/** `fetch` hides the reason one level down; a refused connection on several addresses has no message, but a code. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const inner = cause.cause;
  if (!(inner instanceof Error)) return cause.message;
  return "code" in inner ? `The receiver gave no answer (${String(inner.code)}).` : inner.message;
}

/** `v1=` and the HMAC-SHA-256 of timestamp, dot and body in hex; the timestamp is signed so that nothing can be replayed later. */
export function sign(secret: string, timestamp: string, body: string): string {
  return `v1=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;
}
