import { wellFormedJson } from "./address/well-formed.ts";

/** Sends one HTTP request; the global `fetch`, or one that goes through a proxy or trusts more authorities. */
export type Send = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** What the SDKs may send of their own: they also describe this machine and read headers from the environment. */
const passedHeaders = new Set(["accept", "content-type", "anthropic-version", "anthropic-beta"]);

/** Longer than any request lives: silence is watched by the attempt, not by the SDK's timer. */
export const neverMs = 2 ** 31 - 1;

/**
 * A `fetch` for a provider SDK that sends exactly the given headers besides the protocol's own. Redirects are not
 * followed, because a key must not travel to an address nobody configured. `isPassed` names further headers of the SDK,
 * such as those of a signature.
 */
export function createProviderFetch(
  send: Send,
  headers: Readonly<Record<string, string>>,
  isPassed: (name: string) => boolean = () => false,
): Send {
  return async (input, init) => {
    const sent = new Headers({ "user-agent": "convoke" });
    for (const [name, value] of new Headers(init?.headers)) {
      if (passedHeaders.has(name.toLowerCase()) || isPassed(name.toLowerCase())) sent.set(name, value);
    }
    for (const [name, value] of Object.entries(headers)) sent.set(name, value);
    const response = await send(input, {
      ...init,
      ...(isPassed("authorization") ? {} : wellFormedBody(init)),
      headers: sent,
      redirect: "manual",
    });
    return response.ok ? response : await withReadableError(response);
  };
}

/**
 * The last guard against half a surrogate pair in a request, whoever brought it: `JSON.stringify` writes one as an escape. A body
 * that was signed already stays as it is.
 */
function wellFormedBody(init: RequestInit | undefined): Pick<RequestInit, "body"> {
  const body = init?.body;
  return typeof body === "string" && body.includes("\\ud") ? { body: wellFormedJson(body) } : {};
}

const longestErrorBytes = 20_000;

/** Brings error bodies of every kind into the shape the SDKs keep: they lose the text of any other. */
async function withReadableError(response: Response): Promise<Response> {
  const text = await readBeginning(response.body, longestErrorBytes);
  const error = { error: errorOf(text) };
  const headers = new Headers(response.headers);
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) headers.delete(name);
  headers.set("content-type", "application/json");
  return new Response(JSON.stringify(error), { status: response.status, headers });
}

/** Reads no more than is used: less than a megabyte may be compressed text of any size. */
async function readBeginning(body: Response["body"], maxBytes: number): Promise<string> {
  if (body === null) return "";
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop ends the request.
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= maxBytes) break;
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxBytes));
}

function errorOf(text: string): unknown {
  const parsed = parseObject(text);
  if (parsed === null) return { message: text.trimStart().startsWith("<") ? titleOf(text) : text };
  const { error } = parsed;
  if (typeof error === "object" && error !== null) return error;
  const message = error ?? parsed["message"] ?? parsed["detail"];
  return { ...parsed, message: typeof message === "string" ? message : JSON.stringify(message ?? parsed) };
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return typeof first === "object" && first !== null ? (first as Record<string, unknown>) : null;
  } catch {
    // Not JSON: proxies answer with text or a web page, which the caller shows as it is.
    return null;
  }
}

/** By searching: an expression would read on from each of many beginnings. */
function titleOf(page: string): string {
  const begin = page.search(/<title[\s>]/iu);
  const start = begin === -1 ? -1 : page.indexOf(">", begin);
  const end = start === -1 ? -1 : page.indexOf("<", start);
  return (end === -1 ? "" : page.slice(start + 1, end).trim()) || "a web page";
}
