import { once } from "node:events";
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { token } from "../testing/placed-host.ts";
import { createEchoMask } from "./echo-mask.ts";

const value = `tok/en+va"lue's&<ä>=end`;
const secret = { ...token, value };

/** What a client gets of a body; in pieces of so many bytes. */
async function pass(body: Buffer, encoding: string | null, size = body.length): Promise<string> {
  const headers: [string, string][] = [["Content-Type", "application/json"]];
  if (encoding !== null) headers.push(["Content-Encoding", encoding]);
  const { streams } = createEchoMask([secret])!.maskAnswer(headers, true);
  const last = streams.reduce((from, to) => from.pipe(to));
  const read = last.toArray();
  for (let at = 0; at < body.length; at += size) {
    if (!streams[0]!.write(body.subarray(at, at + size))) await once(streams[0]!, "drain");
  }
  streams[0]!.end();
  return Buffer.concat(await read).toString();
}

const unicode = (text: string): string => `\\u${text.charCodeAt(0).toString(16).padStart(4, "0")}`;
const json = JSON.stringify(value).slice(1, -1);
const html = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

test.each([
  ["JSON", json],
  ["JSON of Python", json.replace("ä", unicode)],
  ["JSON of PHP", json.replace("ä", unicode).replaceAll("/", "\\/")],
  ["JSON of Go", json.replaceAll(/[<>&]/g, unicode)],
  ["JSON in JSON", JSON.stringify(json).slice(1, -1)],
  ["HTML of Python", html.replaceAll('"', "&quot;").replaceAll("'", "&#x27;")],
  ["HTML of PHP", html.replaceAll('"', "&quot;").replaceAll("'", "&#039;")],
  ["HTML of Go", html.replaceAll('"', "&#34;").replaceAll("'", "&#39;").replaceAll("+", "&#43;")],
  ["numbers of HTML", value.replaceAll(/[^\w]/gu, (one) => `&#${one.codePointAt(0)};`)],
  ["hexadecimal", Buffer.from(value).toString("hex")],
  ["URL", encodeURIComponent(value)],
  ["base64", Buffer.from(value).toString("base64")],
])("an echo is masked in the form of %s, whole and in pieces", async (_, form) => {
  const body = Buffer.from(`{"sent": "${form}"}`);
  const masked = `{"sent": "${secret.placeholder}"}`;
  expect(await pass(body, null)).toBe(masked);
  expect(await pass(body, null, 3)).toBe(masked);
});

test.each([
  ["gzip", gzipSync],
  ["br", brotliCompressSync],
  ["zstd", zstdCompressSync],
  ["identity, gzip", gzipSync],
  ["br, gzip", (bytes: Buffer) => gzipSync(brotliCompressSync(bytes))],
  ["gzip, gzip", (bytes: Buffer) => gzipSync(gzipSync(bytes))],
  // Not an encoding: the body is what it is.
  ["utf-8", (bytes: Buffer) => bytes],
])("an echo is masked in an answer with the encoding %s", async (encoding, encode) => {
  expect(await pass(encode(Buffer.from(`sent: ${value}`)), encoding)).toBe(`sent: ${secret.placeholder}`);
});
