import { toApiError } from "./api-error.ts";
import { ConnectionError } from "./connection-error.ts";

export type HttpOptions = {
  /** `http://host:port`, with a path prefix if the server is behind one. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** Replaces the global fetch. */
  readonly fetch?: typeof fetch;
  /** A request without an answer is given up after so long; 60,000 when not given. The server never makes one wait for an agent. */
  readonly timeoutMs?: number;
};

type Query = Readonly<Record<string, string | number | readonly string[] | null | undefined>>;

export type Call = {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
};

/**
 * Sends one request and reads its JSON; rejects with {@link ApiError} for every status from 400 on, with
 * {@link ConnectionError} when there is no answer, and with the signal's reason when it aborts.
 */
export async function callApi<Reply>(options: HttpOptions, call: Call): Promise<Reply> {
  const url = `${options.baseUrl.replace(/\/$/, "")}${call.path}${toSearch(call.query ?? {})}`;
  const { status, text } = await exchange(options, call, url);
  const body = parse(text);
  if (status >= 400) throw toApiError(status, body);
  return body as Reply;
}

async function exchange(
  options: HttpOptions,
  call: Call,
  url: string,
): Promise<{ status: number; text: string }> {
  const timeout = AbortSignal.timeout(options.timeoutMs ?? 60_000);
  try {
    const reply = await (options.fetch ?? fetch)(url, {
      method: call.method,
      headers: {
        ...(options.apiKey === undefined ? {} : { "X-Session-API-Key": options.apiKey }),
        ...(call.body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      signal: call.signal === undefined ? timeout : AbortSignal.any([call.signal, timeout]),
    });
    return { status: reply.status, text: await reply.text() };
  } catch (error) {
    if (call.signal?.aborted === true) throw error;
    throw new ConnectionError(options.baseUrl, error);
  }
}

function toSearch(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined) continue;
    if (typeof value === "object") for (const item of value) search.append(name, item);
    else search.append(name, String(value));
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // A proxy's own error page is no JSON; the status says what matters.
    return null;
  }
}
