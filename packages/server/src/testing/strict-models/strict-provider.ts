import type { LLM } from "@convoke/protocol";
import type { Played } from "../scripted-model/script-player.ts";
import type { Wire } from "../scripted-model/wire.ts";
import type { Reading } from "./readings/reading.ts";

/** A request as it reached the provider. */
export type StrictRequest = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as text, exactly as received. */
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
};

/** A complaint of a provider, before it gets the provider's own form. */
export type Complaint = {
  readonly message: string;
  /** The provider's status unless given. */
  readonly status?: number;
  readonly type?: string;
  readonly code?: string;
  /** The field at fault, in the provider's spelling. */
  readonly param?: string;
};

/** One rule of a provider: what is wrong with the request, or null. Pure. */
export type Check = (request: StrictRequest, reading: Reading) => Complaint | null;

/** The response to a refused request. */
export type Refusal = { readonly status: number; readonly body: unknown };

/** A provider that refuses what the real one is known to refuse. It consists of data and small checks. */
export type StrictProvider = {
  readonly name: string;
  /** How it answers. `adorn` adds the signatures and reasoning that it wants back. */
  readonly wire: Wire;
  /** Fields to open it, without address and key; the model is the first of `models`. */
  readonly llm: LLM;
  /** The prefix of the wire's paths; `base_url` ends with it. */
  readonly path: string;
  /** Model names that the provider knows, as they are sent. */
  readonly models: readonly string[];
  readonly read: (body: Readonly<Record<string, unknown>>) => Reading;
  /** Checked in this order; the first complaint decides. */
  readonly checks: readonly Check[];
  /** 400 unless a complaint has its own. */
  readonly toBody: (complaint: Complaint, status: number) => unknown;
  /** An id of a call in this provider's form. `seed` is 32 hexadecimal digits, different for every call. */
  readonly toCallId: (seed: string, name: string, index: number) => string;
  /** Adds what the provider wants back to an answer, such as signatures. */
  readonly adorn?: (played: Played) => Played;
  /** Tokens of the window, as `overflow` counts them: four characters of the body each. */
  readonly window: number;
  readonly overflow: (tokens: number, window: number) => Complaint;
};

/** The provider's response to a request that it refuses; null when it accepts it. Pure. */
export function refuse(
  provider: StrictProvider,
  request: StrictRequest,
  window: number = provider.window,
): Refusal | null {
  const reading = provider.read(request.body);
  for (const check of provider.checks) {
    const complaint = check(request, reading);
    if (complaint !== null) return toRefusal(provider, complaint);
  }
  const tokens = Math.ceil(request.text.length / 4);
  return tokens > window ? toRefusal(provider, provider.overflow(tokens, window)) : null;
}

function toRefusal(provider: StrictProvider, complaint: Complaint): Refusal {
  const status = complaint.status ?? 400;
  return { status, body: provider.toBody(complaint, status) };
}
