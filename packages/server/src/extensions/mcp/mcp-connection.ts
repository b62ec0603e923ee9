import { describeError } from "../../lib/describe-error.ts";
import { wait } from "../../lib/wait.ts";
import { listTools, anything, type AnnouncedTool } from "./list-tools.ts";
import type { McpServer } from "./mcp-server.ts";
import type { ConnectionStatus } from "./mcp-status.ts";
import type { OpenClient } from "./open-client.ts";
import { wantsLogin } from "./wants-login.ts";

/** Whoever uses the tools of a connection. */
export interface ConnectionUser {
  /** Reads the configuration and connects; rejects when that is not possible now. */
  open(signal: AbortSignal): Promise<OpenClient>;
  /** The list of tools has changed. */
  toolsChanged(): void;
  /** The server fails; called once, not at each retry. */
  failed(reason: string): void;
  /** Tools of its list cannot be used; called once for each reason. */
  omitted(reason: string): void;
}

export type McpConnectionDeps = {
  readonly name: string;
  readonly callTimeoutMs: McpServer["callTimeoutMs"];
  /** Sent with each call, so that an agent that starts itself through a server comes to an end. */
  readonly depth: number;
  readonly times: McpTimes;
  readonly user: ConnectionUser;
};

export type McpTimes = {
  /** For connecting, shaking hands and listing the tools. */
  readonly connectMs: number;
  readonly firstRetryMs: number;
  readonly lastRetryMs: number;
  /** A server that worked for this time is retried at once when it fails. */
  readonly steadyMs: number;
  /** How long a call waits for a reconnecting server. */
  readonly reconnectTimeoutMs: number;
};

export const mcpTimes: McpTimes = {
  connectMs: 30_000,
  firstRetryMs: 1_000,
  lastRetryMs: 60_000,
  steadyMs: 30_000,
  reconnectTimeoutMs: 10_000,
};

export type McpCall = {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** True when the call is idempotent. */
  readonly isRepeatable: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
};

/**
 * The connection to one server for the life of a session: connects and reconnects by itself, and keeps the list of
 * tools up to date.
 */
export class McpConnection implements AsyncDisposable {
  readonly name: string;
  /** Resolves when the first attempt has ended, either way. */
  readonly settled: Promise<void>;
  readonly #deps: McpConnectionDeps;
  readonly #closing = new AbortController();
  readonly #living: Promise<void>;
  #settle = (): void => {};
  #open: OpenClient | null = null;
  #next = Promise.withResolvers<OpenClient>();
  #isReported = false;
  #isTrying = true;
  #hasFailed = false;
  #wantsLogin = false;
  #retryAtMs = 0;
  #reason = "It has not answered yet.";
  #wake = new AbortController();
  #asked = new AbortController();
  #tools: readonly AnnouncedTool[] = [];
  #omitted: string | null = null;
  #listing: Promise<void> | null = null;
  #isListStale = false;
  /** The reason when this side ended a connection. */
  #dropped: { readonly reason: string; readonly isForgotten: boolean } | null = null;

  constructor(deps: McpConnectionDeps) {
    this.#deps = deps;
    this.name = deps.name;
    this.settled = new Promise((resolve) => (this.#settle = resolve));
    this.#next.promise.catch(() => {});
    this.#living = this.#live();
  }

  /** The last received list; it survives a lost connection, so that the model's view stays the same. */
  get tools(): readonly AnnouncedTool[] {
    return this.#tools;
  }

  get status(): ConnectionStatus {
    const error = this.#hasFailed ? this.#reason : null;
    if (this.#open !== null) return { state: "connected", error: null, retryAtMs: null };
    if (this.#isTrying) return { state: "connecting", error, retryAtMs: null };
    return { state: this.#wantsLogin ? "needs_login" : "failed", error, retryAtMs: this.#retryAtMs };
  }

  /** Reconnects: immediately when it waits for a retry, and also replaces a working connection. */
  reconnect(): void {
    this.#isTrying = true;
    this.#asked.abort();
    this.#wake.abort();
    if (this.#open !== null)
      this.#drop(this.#open, { reason: "A new connection was asked for.", isForgotten: true });
  }

  /** The server's answer, as it came. Rejects with a sentence for the model. */
  async call(call: McpCall): Promise<unknown> {
    const open = await this.#ready(call.signal);
    try {
      return await this.#ask(open, call);
    } catch (error) {
      if (call.signal.aborted || !isConnectionProblem(error)) throw error;
      if (isClosed(error)) throw new Error(this.#lostText(await open.lost, call), { cause: error });
      // A new connection is being opened; a server that forgot the session answers again at once.
      this.#drop(open, { reason: describe(error), isForgotten: isSessionLost(error) });
      if (!call.isRepeatable || !isSessionLost(error))
        throw new Error(
          this.#lostText(isSessionLost(error) ? "It has forgotten this session." : describe(error), call),
          { cause: error },
        );
      return await this.#ask(await this.#ready(call.signal), call);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#next.reject(new Error("The tool session is closed."));
    await this.#living;
    await this.#listing;
  }

  async #live(): Promise<void> {
    const { times } = this.#deps;
    const { signal } = this.#closing;
    for (let failures = 0; !signal.aborted;) {
      let startedAtMs = performance.now();
      this.#isTrying = true;
      this.#wantsLogin = false;
      try {
        await using open = await this.#connect();
        startedAtMs = performance.now();
        this.#become(open);
        const reason = await Promise.race([open.lost, aborted(signal)]);
        this.#reason = this.#dropped?.reason ?? reason;
      } catch (error) {
        this.#reason = describe(error);
        this.#wantsLogin = wantsLogin(error);
      }
      this.#open = null;
      if (signal.aborted) break;
      const isForgotten = this.#dropped?.isForgotten === true;
      this.#dropped = null;
      // A server that requires a new session has not failed.
      if (isForgotten) continue;
      this.#hasFailed = true;
      this.#isTrying = false;
      const wasSteady = performance.now() - startedAtMs > times.steadyMs;
      if (wasSteady) this.#isReported = false;
      failures = wasSteady ? 0 : failures + 1;
      this.#report();
      await this.#pause(
        wasSteady ? 0 : Math.min(times.firstRetryMs * 2 ** (failures - 1), times.lastRetryMs),
      );
    }
    this.#settle();
  }

  async #connect(): Promise<OpenClient & AsyncDisposable> {
    const deadline = AbortSignal.timeout(this.#deps.times.connectMs);
    const signal = AbortSignal.any([deadline, this.#closing.signal]);
    try {
      const open = await this.#deps.user.open(signal);
      try {
        open.client.setNotificationHandler("notifications/tools/list_changed", () => this.#relist(open));
        await this.#list(open, signal);
        return { ...open, [Symbol.asyncDispose]: () => open.close() };
      } catch (error) {
        await open.close();
        throw error;
      }
    } catch (error) {
      if (!deadline.aborted) throw error;
      const seconds = Math.round(this.#deps.times.connectMs / 1000);
      throw new Error(`It did not answer within ${seconds} s.`, { cause: error });
    }
  }

  #become(open: OpenClient): void {
    this.#open = open;
    this.#hasFailed = false;
    this.#next.resolve(open);
    this.#next = Promise.withResolvers();
    this.#next.promise.catch(() => {});
    this.#settle();
  }

  /** Reported once until the server has worked for a while again. */
  #report(): void {
    this.#settle();
    if (this.#isReported) return;
    this.#isReported = true;
    this.#deps.user.failed(this.#reason);
  }

  async #list(open: OpenClient, signal: AbortSignal): Promise<void> {
    const { tools, omitted } = await listTools(open.client, signal);
    if (omitted !== null && omitted !== this.#omitted) this.#deps.user.omitted(omitted);
    this.#omitted = omitted;
    if (JSON.stringify(tools) === JSON.stringify(this.#tools)) return;
    this.#tools = tools;
    this.#deps.user.toolsChanged();
  }

  /** Change notifications lead to one list request at a time. */
  #relist(open: OpenClient): void {
    this.#isListStale = true;
    this.#listing ??= this.#refresh(open).finally(() => (this.#listing = null));
  }

  async #refresh(open: OpenClient): Promise<void> {
    const signal = AbortSignal.any([AbortSignal.timeout(this.#deps.times.connectMs), this.#closing.signal]);
    while (this.#isListStale && !signal.aborted) {
      this.#isListStale = false;
      try {
        await this.#list(open, signal);
      } catch {
        // The old list stays; a lost connection is detected by the loop that awaits it.
        return;
      }
    }
  }

  async #ready(signal: AbortSignal): Promise<OpenClient> {
    if (this.#open !== null) return this.#open;
    this.#wake.abort();
    const late = AbortSignal.any([signal, AbortSignal.timeout(this.#deps.times.reconnectTimeoutMs)]);
    const open = await Promise.race([this.#next.promise, aborted(late)]);
    if (typeof open !== "string") return open;
    throw new Error(
      `The MCP server ${this.name} cannot be used now: ${this.#reason} It is tried again by itself; the call was not made.`,
    );
  }

  async #ask({ client }: OpenClient, call: McpCall): Promise<unknown> {
    const params = {
      name: call.tool,
      arguments: call.arguments,
      _meta: { "convoke/depth": this.#deps.depth },
    };
    return await client.request({ method: "tools/call", params }, anything, {
      signal: call.signal,
      timeout: this.#deps.callTimeoutMs,
      onprogress: ({ message, progress, total }) =>
        call.onProgress(message ?? (total === undefined ? `${progress}` : `${progress} of ${total}`)),
    });
  }

  /** Closing it wakes the loop, which connects again. */
  #drop(open: OpenClient, dropped: { readonly reason: string; readonly isForgotten: boolean }): void {
    if (this.#open !== open) return;
    this.#open = null;
    this.#dropped = dropped;
    void open.close();
  }

  #lostText(reason: string, { isRepeatable }: McpCall): string {
    const effect = isRepeatable
      ? ""
      : " The call was not repeated, because it may have had effects; check them first.";
    return `The MCP server ${this.name} was lost during the call, and is being connected again. ${reason}${effect}`;
  }

  /** Ends early when a call needs the server; with jitter, so that many sessions do not reconnect at once. */
  async #pause(meanMs: number): Promise<void> {
    this.#wake = new AbortController();
    const least = Math.min(meanMs, this.#deps.times.firstRetryMs / 4);
    const rest = (meanMs - least) * (0.75 + Math.random() / 2);
    this.#retryAtMs = Date.now() + least + rest;
    this.#asked = new AbortController();
    await wait(least, AbortSignal.any([this.#asked.signal, this.#closing.signal]));
    await wait(rest, AbortSignal.any([this.#wake.signal, this.#closing.signal]));
  }
}

async function aborted(signal: AbortSignal): Promise<string> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  return "The session ended.";
}

/** The server did not get the call, or its answer is lost. */
function isConnectionProblem(error: unknown): boolean {
  return isSessionLost(error) || isClosed(error) || error instanceof TypeError;
}

function isClosed(error: unknown): boolean {
  return codeOf(error) === "CONNECTION_CLOSED" || codeOf(error) === "NOT_CONNECTED";
}

/** 404 is what the protocol says; some servers answer 400 and name the session. */
function isSessionLost(error: unknown): boolean {
  const status = (error as { status?: unknown } | null)?.status;
  return status === 404 || (status === 400 && /session/i.test(describe(error)));
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
}

function describe(error: unknown): string {
  const text = describeError(error);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : "";
  const whole = cause !== "" && !text.includes(cause) ? `${text}: ${cause}` : text;
  return `${whole.slice(0, 500).replace(/[.\s]+$/, "")}.`;
}
