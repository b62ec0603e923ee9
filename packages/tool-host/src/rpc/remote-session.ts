import { randomUUID } from "node:crypto";
import { describeError } from "../describe-error.ts";
import type {
  ExecuteOptions,
  ExecutionRequest,
  ExecutionState,
  Outcome,
  SessionSpec,
  ToolListing,
  ToolSession,
} from "../host.ts";
import type { BrowserInput, BrowserUpdate } from "../browser-attachment.ts";
import type { TerminalInput, TerminalUpdate } from "../terminal-attachment.ts";
import type { TerminalInfo } from "../tool.ts";
import { withinMs } from "../within.ts";
import type { ClientConnection } from "./client-connection.ts";
import { ConnectionLostError } from "./connection-errors.ts";
import { fromJsonLines, longestShownLine, toJsonLines } from "./json-lines.ts";
import type { Link } from "./link.ts";
import type { Methods } from "./messages.ts";
import { readOutcome, readTools } from "./read-outcome.ts";
import { AnswerTooLargeError } from "./wire-error.ts";

export type RemoteSessionDeps = {
  readonly link: Link;
  readonly spec: SessionSpec;
  /** Its tools, where they are known before the host lists them; null: the host lists them. */
  readonly known: readonly ToolListing[] | null;
  readonly onClose: (session: RemoteSession) => void;
};

/** A session of a host in another process. Every call survives broken connections: the host knows it by its action id. */
export class RemoteSession implements ToolSession {
  readonly #deps: RemoteSessionDeps;
  /** Our hold on the session; the same on every connection. */
  readonly #handle = randomUUID();
  readonly #ready = new WeakMap<ClientConnection, Promise<Opened>>();
  #tools: readonly ToolListing[];
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor(deps: RemoteSessionDeps) {
    this.#deps = deps;
    this.#tools = deps.known ?? [];
  }

  get tools(): readonly ToolListing[] {
    return this.#tools;
  }

  /** Must resolve before a session is used whose tools are not known. */
  async open(): Promise<this> {
    const { tools } = await this.#deps.link.run(async (connection) => this.#open(connection));
    if (this.#deps.known === null) this.#tools = readTools(tools);
    return this;
  }

  async execute(request: ExecutionRequest, options: ExecuteOptions = {}): Promise<Outcome> {
    if (this.#isClosed) return failure("The tool session is closed; the call was not run.");
    const { signal } = options;
    const timeout = Promise.withResolvers<undefined>();
    let timer: NodeJS.Timeout | undefined;
    // A reachable host answers an abort in time; only an unavailable one needs the timeout.
    const onAbort = (): void => {
      timer = setTimeout(() => timeout.resolve(undefined), abortTimeoutMs);
    };
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
    try {
      const call = this.#call(request, options);
      const outcome = await Promise.race([call, timeout.promise]);
      if (outcome !== undefined) return outcome;
      // The call stays pending: it reaches the host and is stopped as soon as there is a connection again.
      return this.#deps.link.isConnected ? await call : cancelledWhileUnavailable;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  async state(actionId: string): Promise<ExecutionState> {
    const state = await this.#ask("state", { actionId });
    return state.type === "finished"
      ? { ...state, outcome: readOutcome(state.outcome) ?? unreadable }
      : state;
  }

  async cancel(actionId: string): Promise<void> {
    if (!this.#isClosed) await this.#ask("cancel", { actionId });
  }

  async terminals(): Promise<readonly TerminalInfo[]> {
    return this.#deps.link.run(async (connection) => {
      if (this.#isClosed) return [];
      await this.#open(connection);
      return connection.request("terminals", { handle: this.#handle });
    });
  }

  /** The attachment ends with the connection; callers attach again. */
  attach(
    name: string,
    inputs: AsyncIterable<TerminalInput>,
    signal: AbortSignal,
  ): AsyncGenerator<TerminalUpdate> {
    return this.#converse<TerminalUpdate>("attachTerminal", { name }, inputs, signal);
  }

  attachBrowser(inputs: AsyncIterable<BrowserInput>, signal: AbortSignal): AsyncGenerator<BrowserUpdate> {
    return this.#converse<BrowserUpdate>("attachBrowser", {}, inputs, signal);
  }

  /** Ends the session unless another client has it open. Waits only briefly for an unavailable host. */
  async [Symbol.asyncDispose](): Promise<void> {
    await (this.#closing ??= this.#close());
  }

  /** Disconnects: the session and what runs in it stay with the host. */
  abandon(): void {
    this.#isClosed = true;
    this.#closing ??= Promise.resolve();
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    this.#deps.onClose(this);
    const closing = this.#deps.link
      .run(async (connection) => {
        // Sent on the same connection as earlier calls, so that none of them arrives after it.
        if (this.#ready.has(connection)) await this.#open(connection);
        return connection.request("closeSession", { handle: this.#handle });
      })
      .catch(() => null); // A host that is gone has no session to end; one that returns is closed by its next caller.
    await withinMs(closing, this.#deps.link.isConnected ? closeMs : abortTimeoutMs);
  }

  /** Never rejects. */
  async #call(request: ExecutionRequest, options: ExecuteOptions): Promise<Outcome> {
    let sentWith: string | undefined;
    try {
      return await this.#deps.link.run(async (connection) => {
        const { recordsId } = await this.#open(connection);
        const isRepeated = sentWith !== undefined;
        if (isRepeated && sentWith !== recordsId && !this.#isReadOnly(request.tool)) return recordsLost;
        sentWith = recordsId;
        const isAborted = options.signal?.aborted === true;
        try {
          const params = { handle: this.#handle, request, isAborted };
          return readOutcome(await connection.request("execute", params, options)) ?? unreadable;
        } catch (error) {
          // The host refused: it has not started the call, unless it had before.
          if (!(error instanceof ConnectionLostError) && !isRepeated) sentWith = undefined;
          throw error;
        }
      });
    } catch (error) {
      return toOutcome(error, sentWith !== undefined);
    }
  }

  async #ask<Name extends "state" | "cancel">(
    method: Name,
    params: { readonly actionId: string },
  ): Promise<Methods[Name]["result"]> {
    return this.#deps.link.run(async (connection) => {
      if (this.#isClosed) throw new Error("The tool session is closed.");
      await this.#open(connection);
      return connection.request(method, { handle: this.#handle, ...params });
    });
  }

  async *#converse<Update>(
    method: "attachTerminal" | "attachBrowser",
    params: object,
    inputs: AsyncIterable<unknown>,
    signal: AbortSignal,
  ): AsyncGenerator<Update> {
    const connection = await this.#deps.link.connection();
    await this.#open(connection);
    const { answer, content } = connection.exchange(
      method,
      { handle: this.#handle, ...params },
      toJsonLines(inputs),
    );
    // The content reports the same error.
    answer.catch(() => {});
    const onAbort = (): void => void content.destroy();
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      yield* fromJsonLines<Update>(content, longestShownLine);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
      content.destroy();
    }
  }

  /** Once per connection: a replaced host must open the session again. */
  async #open(connection: ClientConnection): Promise<Opened> {
    const known = this.#ready.get(connection);
    if (known !== undefined) return known;
    if (this.#isClosed) throw new Error("The tool session is closed.");
    const opening = connection.request("openSession", { handle: this.#handle, spec: this.#deps.spec });
    this.#ready.set(connection, opening);
    try {
      return await opening;
    } catch (error) {
      if (!(error instanceof ConnectionLostError)) this.#ready.delete(connection);
      throw error;
    }
  }

  #isReadOnly(tool: string): boolean {
    return this.#tools.some(({ name, isReadOnly }) => name === tool && isReadOnly);
  }
}

type Opened = Methods["openSession"]["result"];

/** Milliseconds that a caller which aborted waits for an unavailable host. */
const abortTimeoutMs = 2_000;
/** Milliseconds, longer than a host takes to end a session whose tools do not stop. */
const closeMs = 15_000;

const cancelledWhileUnavailable: Outcome = {
  type: "cancelled",
  text: "The call was cancelled while the tool host could not be reached; it may still run until the host is back, and parts of it may have taken effect.",
};

const recordsLost = failure(
  "The tool host came back without the record of this call, so its outcome is unknown. It was not run again; check its effects before repeating it.",
);

const unreadable = failure(
  "The tool host answered in an unknown form. The outcome of this call is unknown; check its effects before repeating it.",
);

function toOutcome(error: unknown, mayHaveRun: boolean): Outcome {
  const reason = describeError(error);
  if (error instanceof AnswerTooLargeError) {
    return failure(`The call has ended, but its result cannot be transferred. ${reason}`);
  }
  return failure(
    mayHaveRun
      ? `${reason} The outcome of this call is unknown; check its effects before repeating it.`
      : `${reason} The call was not run.`,
  );
}

function failure(text: string): Outcome {
  return { type: "error", text };
}
