import { createHash, createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { sign } from "../webhooks/delivery.ts";
import { readDelivery, timestampToleranceMs, type HookForm, type HmacForm } from "./hook-form.ts";

const nowMs = 1_700_000_000_000;
const now = String(nowMs / 1000);
const body = Buffer.from('{"ref": "refs/heads/main"}');
const secret = "It's a Secret to Everybody";

function hmac(key: string | Buffer, signed: string | Buffer, encoding: "hex" | "base64" = "hex"): string {
  return createHmac("sha256", key).update(signed).digest(encoding);
}

function digest(signed: string | Buffer): string {
  return `signed:${createHash("sha256").update(signed).digest("hex")}`;
}

describe("GitHub", () => {
  const form: HookForm = { kind: "github" };
  const headers = {
    "x-github-event": "push",
    "x-github-delivery": "72d3162e",
    "x-hub-signature-256": `sha256=${hmac(secret, body)}`,
  };

  test("the example of its documentation is accepted", () => {
    const signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    const hello = { headers: { "x-hub-signature-256": signature }, body: Buffer.from("Hello, World!") };
    expect(readDelivery(form, hello, [secret], nowMs)).toEqual({
      event: null,
      keys: [digest("Hello, World!")],
    });
  });

  test("its delivery has an id, and the digest of what was signed", () => {
    expect(readDelivery(form, { headers, body }, [secret], nowMs)).toEqual({
      event: "push",
      keys: ["id:72d3162e", digest(body)],
    });
  });

  test("either of two secrets is accepted, so that one can be rotated", () => {
    expect(readDelivery(form, { headers, body }, ["new", secret], nowMs)).not.toBeNull();
    expect(readDelivery(form, { headers, body }, ["new"], nowMs)).toBeNull();
    expect(readDelivery(form, { headers, body }, [], nowMs)).toBeNull();
  });

  test.each([
    ["another body", { headers, body: Buffer.from("{}") }],
    ["no signature", { headers: { ...headers, "x-hub-signature-256": undefined }, body }],
    ["two signatures", { headers: { ...headers, "x-hub-signature-256": ["a", "b"] }, body }],
    ["the older signature", { headers: { "x-hub-signature": `sha1=${"a".repeat(40)}` }, body }],
    ["a short signature", { headers: { ...headers, "x-hub-signature-256": "sha256=ab" }, body }],
    ["no algorithm", { headers: { ...headers, "x-hub-signature-256": hmac(secret, body) }, body }],
  ])("%s is refused", (_name, request) => {
    expect(readDelivery(form, request, [secret], nowMs)).toBeNull();
  });
});

const raw = Buffer.from("0123456789abcdef0123456789abcdef");
const whsec = `whsec_${raw.toString("base64")}`;

function standardHeaders(timestamp = now, key: Buffer = raw): Record<string, string> {
  const signature = hmac(key, `msg_1.${timestamp}.${body.toString()}`, "base64");
  return {
    "webhook-id": "msg_1",
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1a,xyz v1,${hmac("other", body, "base64")} v1,${signature}`,
  };
}

describe("Standard Webhooks", () => {
  const form: HookForm = { kind: "standard" };

  test("the id is signed, so it alone says which delivery it is", () => {
    const request = { headers: standardHeaders(), body };
    expect(readDelivery(form, request, [whsec], nowMs)).toEqual({ event: null, keys: ["id:msg_1"] });
  });

  test.each([
    ["another id", { ...standardHeaders(), "webhook-id": "msg_2" }],
    ["another key", standardHeaders(now, Buffer.from("other"))],
    ["an old timestamp", standardHeaders(String(Number(now) - timestampToleranceMs / 1000 - 1))],
    ["a timestamp of the future", standardHeaders(String(Number(now) + timestampToleranceMs / 1000 + 1))],
    ["a timestamp that is no number", standardHeaders("today")],
  ])("%s is refused", (_name, headers) => {
    expect(readDelivery(form, { headers, body }, [whsec], nowMs)).toBeNull();
  });

  test("a clock that differs by less than the tolerance is accepted", () => {
    const headers = standardHeaders(String(Number(now) - 299));
    expect(readDelivery(form, { headers, body }, [whsec], nowMs)).not.toBeNull();
  });
});

describe("GitLab", () => {
  const form: HookForm = { kind: "gitlab" };
  const headers = { "x-gitlab-event": "Push Hook", "x-gitlab-event-uuid": "u-1", "x-gitlab-token": whsec };

  test("the token is the secret; the key of an attempt comes before the id of the event", () => {
    const read = (more: object) =>
      readDelivery(form, { headers: { ...headers, ...more }, body }, [whsec], nowMs);
    expect(read({})).toEqual({ event: "Push Hook", keys: ["id:u-1"] });
    expect(read({ "idempotency-key": "k-1" })).toEqual({ event: "Push Hook", keys: ["id:k-1"] });
    expect(read({ "x-gitlab-event-uuid": undefined })?.keys).toEqual([digest(body)]);
    expect(read({ "x-gitlab-token": `${whsec}x` })).toBeNull();
    expect(read({ "x-gitlab-token": undefined })).toBeNull();
  });

  test("with a signing token the signature counts, and a wrong one is not excused by a token", () => {
    const signed = { ...headers, ...standardHeaders() };
    expect(readDelivery(form, { headers: signed, body }, [whsec], nowMs)).toEqual({
      event: "Push Hook",
      keys: ["id:msg_1"],
    });
    const wrong = { ...headers, ...standardHeaders(now, Buffer.from("other")) };
    expect(readDelivery(form, { headers: wrong, body }, [whsec], nowMs)).toBeNull();
  });
});

describe("an HMAC with names of one's own", () => {
  const form: HmacForm = {
    kind: "hmac",
    signature_header: "x-convoke-signature",
    timestamp_header: "x-convoke-timestamp",
    id_header: "x-convoke-delivery",
    event_header: null,
  };

  test("what Convoke itself posts is accepted", () => {
    const headers = {
      "x-convoke-signature": sign(secret, now, body.toString()),
      "x-convoke-timestamp": now,
      "x-convoke-delivery": "d-1",
    };
    expect(readDelivery(form, { headers, body }, [secret], nowMs)).toEqual({
      event: null,
      keys: ["id:d-1", digest(`${now}.${body.toString()}`)],
    });
    const late = nowMs + timestampToleranceMs + 1000;
    expect(readDelivery(form, { headers, body }, [secret], late)).toBeNull();
    const later = { ...headers, "x-convoke-timestamp": String(Number(now) + 1) };
    expect(readDelivery(form, { headers: later, body }, [secret], nowMs)).toBeNull();
  });

  test("without a timestamp the body alone is signed, in hex or base64", () => {
    const plain: HmacForm = { ...form, timestamp_header: null, signature_header: "x-gitea-signature" };
    for (const encoding of ["hex", "base64"] as const) {
      const headers = { "x-gitea-signature": hmac(secret, body, encoding) };
      expect(readDelivery(plain, { headers, body }, [secret], nowMs)?.keys).toEqual([digest(body)]);
    }
  });

  test("an id of any length makes a short key", () => {
    const headers = {
      "x-convoke-signature": sign(secret, now, body.toString()),
      "x-convoke-timestamp": now,
      "x-convoke-delivery": "d".repeat(4000),
    };
    expect(readDelivery(form, { headers, body }, [secret], nowMs)?.keys[0]).toMatch(
      /^id-digest:[0-9a-f]{64}$/,
    );
  });
});
