import { toApiError } from "./api-error.ts";
import { ConnectionError } from "./connection-error.ts";

export type HttpOptions = {
  /** `http://host:port`, with a path prefix if a proxy adds one. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** The page's half of a login. The other half is a cookie, which the browser sends. */
  readonly proof?: string;
  /** Replaces the global fetch. */
  readonly fetch?: typeof fetch;
  /** Timeout of a request in milliseconds; 60,000 when not given. The server never makes a request wait for an agent. */
  readonly timeoutMs?: number;
};

export type Call = {
  readonly method: string;
  /** Path template: `{name}` is replaced by the parameter of that name. */
  readonly path: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  /** Sent as JSON, except for a form. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Timeout in milliseconds that replaces the client's, for slow requests such as large files. */
  readonly timeoutMs?: number | undefined;
};

/**
 * Sends one request and reads its JSON; rejects with {@link ApiError} for every status from 400 on, with
 * {@link ConnectionError} when there is no answer, and with the signal's reason when it aborts.
 */
export async function callApi<Reply>(options: HttpOptions, call: Call): Promise<Reply> {
  return await answered(options, call, async (reply) => parse(await reply.text()) as Reply);
}

/** Like {@link request}, for replies that are not JSON; the caller reads the body. */
export function openApi(options: HttpOptions, call: Call): Promise<Response> {
  return answered(options, call, async (reply) => reply);
}

async function answered<Result>(
  options: HttpOptions,
  call: Call,
  read: (reply: Response) => Promise<Result>,
): Promise<Result> {
  const timeout = AbortSignal.timeout(call.timeoutMs ?? options.timeoutMs ?? 60_000);
  const { body, signal } = call;
  const isJson = body !== undefined && !(body instanceof FormData);
  let refusal: { readonly status: number; readonly text: string };
  try {
    const reply = await (options.fetch ?? fetch)(urlOf(options.baseUrl, call), {
      method: call.method,
      headers: {
        ...(options.apiKey === undefined ? {} : { "X-Session-API-Key": options.apiKey }),
        ...(options.proof === undefined ? {} : { "X-Convoke-Proof": options.proof }),
        ...(isJson ? { "Content-Type": "application/json" } : {}),
      },
      ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : body }),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    if (reply.status < 400) return await read(reply);
    refusal = { status: reply.status, text: await reply.text() };
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ConnectionError(options.baseUrl, error);
  }
  throw toApiError(refusal.status, parse(refusal.text));
}

function urlOf(baseUrl: string, { path, params = {}, query = {} }: Call): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined) continue;
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value])
      search.append(name, String(item));
  }
  return `${baseUrl.replace(/\/$/, "")}${filled}${search.size === 0 ? "" : `?${search}`}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // A proxy's error page is not JSON; then the status is all there is.
    return null;
  }
}
