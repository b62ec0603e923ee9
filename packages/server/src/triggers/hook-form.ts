import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { isSameSecret } from "../security/same-secret.ts";

/** How the sender of a webhook signs. Header names are in lower case. */
export type HookForm =
  /** GitHub: `x-hub-signature-256` is the HMAC-SHA-256 of the body. */
  | { readonly kind: "github" }
  /** GitLab: the secret itself in `x-gitlab-token`, or the signature of Standard Webhooks. */
  | { readonly kind: "gitlab" }
  /** Standard Webhooks: `webhook-signature` covers the id, the timestamp and the body. */
  | { readonly kind: "standard" }
  | HmacForm;

/** An HMAC-SHA-256 of the body, or of the timestamp, a dot and the body, in hex or base64. */
export type HmacForm = {
  readonly kind: "hmac";
  readonly signature_header: string;
  /** Null: the signature covers the body alone. */
  readonly timestamp_header: string | null;
  /** Has the id of the delivery, the same at each attempt; null: none. */
  readonly id_header: string | null;
  /** Has the name of the event; null: none. */
  readonly event_header: string | null;
};

export type HookHeaders = Readonly<Record<string, string | string[] | undefined>>;

export type HookRequest = {
  readonly headers: HookHeaders;
  /** The bytes as they arrived. */
  readonly body: Buffer;
};

/** A post whose signature is right. */
export type HookDelivery = {
  /** As the sender names the event; null where it does not. */
  readonly event: string | null;
  /**
   * A delivery with one of these keys is the same delivery: the sender's id, and the digest of what was signed. Ids are
   * not signed in most forms, so an id alone would let a recorded post start again under another id.
   */
  readonly keys: readonly [string, ...string[]];
};

/** The maximum difference between a signed timestamp and the clock of this server. */
export const timestampToleranceMs = 5 * 60_000;

/** What was posted, when one of the secrets signed it; null for anything else. */
export function readDelivery(
  form: HookForm,
  request: HookRequest,
  secrets: readonly string[],
  nowMs: number,
): HookDelivery | null {
  switch (form.kind) {
    case "github":
      return readGithub(request, secrets);
    case "gitlab":
      return readGitlab(request, secrets, nowMs);
    case "standard":
      return readStandard(request, secrets, nowMs);
    case "hmac":
      return readHmac(form, request, secrets, nowMs);
  }
}

function readGithub({ headers, body }: HookRequest, secrets: readonly string[]): HookDelivery | null {
  const given = /^sha256=([0-9a-f]{64})$/i.exec(headerOf(headers, "x-hub-signature-256") ?? "")?.[1];
  if (given === undefined || !isSignedBy(secrets.map(textKey), body, [given])) return null;
  return delivered(headerOf(headers, "x-github-event"), headerOf(headers, "x-github-delivery"), body);
}

function readGitlab(request: HookRequest, secrets: readonly string[], nowMs: number): HookDelivery | null {
  const { headers, body } = request;
  const event = headerOf(headers, "x-gitlab-event");
  if (headers["webhook-signature"] !== undefined) {
    const delivery = readStandard(request, secrets, nowMs);
    return delivery === null ? null : { ...delivery, event };
  }
  const token = headerOf(headers, "x-gitlab-token");
  if (token === null) return null;
  let isKnown = false;
  for (const secret of secrets) isKnown = isSameSecret(token, secret) || isKnown;
  if (!isKnown) return null;
  // The first is the same at each attempt; the second is shared by hooks that a hook has caused.
  const id = headerOf(headers, "idempotency-key") ?? headerOf(headers, "x-gitlab-event-uuid");
  // Who has recorded such a post has the secret, so the digest protects nothing: it is for senders without an id.
  return id === null ? delivered(event, null, body) : { event, keys: [idKey(id)] };
}

function readStandard(
  { headers, body }: HookRequest,
  secrets: readonly string[],
  nowMs: number,
): HookDelivery | null {
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const signatures = headerOf(headers, "webhook-signature");
  if (id === null || timestamp === null || signatures === null || !isRecent(timestamp, nowMs)) return null;
  const given = signatures
    .split(" ")
    .slice(0, maxSignatures)
    .filter((part) => part.startsWith("v1,"))
    .map((part) => part.slice(3));
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  if (!isSignedBy(secrets.map(standardKey), signed, given)) return null;
  return { event: null, keys: [idKey(id)] };
}

function readHmac(
  form: HmacForm,
  { headers, body }: HookRequest,
  secrets: readonly string[],
  nowMs: number,
): HookDelivery | null {
  const signature = headerOf(headers, form.signature_header);
  if (signature === null) return null;
  let signed = body;
  if (form.timestamp_header !== null) {
    const timestamp = headerOf(headers, form.timestamp_header);
    if (timestamp === null || !isRecent(timestamp, nowMs)) return null;
    signed = Buffer.concat([Buffer.from(`${timestamp}.`), body]);
  }
  // Senders write `sha256=`, `v1=` or nothing before it.
  const given = signature.replace(/^(?:sha256|v1)=/i, "");
  if (!isSignedBy(secrets.map(textKey), signed, [given])) return null;
  const named = (name: string | null): string | null => (name === null ? null : headerOf(headers, name));
  return delivered(named(form.event_header), named(form.id_header), signed);
}

/** Of what a client sends; more would cost time. */
const maxSignatures = 10;
/** Also of the name of an event. */
const maxIdLength = 200;

function delivered(event: string | null, id: string | null, signed: Buffer): HookDelivery {
  const digest = `signed:${createHash("sha256").update(signed).digest("hex")}`;
  return { event, keys: id === null ? [digest] : [idKey(id), digest] };
}

function idKey(id: string): string {
  return id.length <= maxIdLength ? `id:${id}` : `id-digest:${createHash("sha256").update(id).digest("hex")}`;
}

/** A header that was sent once, and has a text. */
function headerOf(headers: HookHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : null;
}

/** Timestamps are whole seconds since the epoch. */
function isRecent(timestamp: string, nowMs: number): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  return Math.abs(Number(timestamp) * 1000 - nowMs) <= timestampToleranceMs;
}

/** Compares every signature with every key, so that the time says nothing about which one is right. */
function isSignedBy(keys: readonly Buffer[], signed: Buffer, given: readonly string[]): boolean {
  let isRight = false;
  for (const key of keys) {
    const expected = createHmac("sha256", key).update(signed).digest();
    for (const signature of given) {
      const bytes = bytesOf(signature);
      isRight = (bytes !== null && timingSafeEqual(expected, bytes)) || isRight;
    }
  }
  return isRight;
}

/** The 32 bytes of a signature in hex or base64; null for anything else. */
function bytesOf(signature: string): Buffer | null {
  if (/^[0-9a-f]{64}$/i.test(signature)) return Buffer.from(signature, "hex");
  return /^[A-Za-z0-9+/]{43}=$/.test(signature) ? Buffer.from(signature, "base64") : null;
}

function textKey(secret: string): Buffer {
  return Buffer.from(secret, "utf8");
}

/** `whsec_` and the key in base64; a secret of another form is used as it is. */
function standardKey(secret: string): Buffer {
  return secret.startsWith(secretPrefix)
    ? Buffer.from(secret.slice(secretPrefix.length), "base64")
    : textKey(secret);
}

const secretPrefix = "whsec_";
