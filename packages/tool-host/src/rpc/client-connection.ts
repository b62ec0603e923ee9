import type { Readable } from "node:stream";
import type { Channel } from "./channel.ts";
import { ConnectionLostError } from "./connection-errors.ts";
import { FrameError } from "./frames.ts";
import type { Frame } from "./frames.ts";
import type { ClientMessage, Method, Methods, Welcome, WireError } from "./messages.ts";
import { receiveStream, sendStream } from "./streams.ts";
import type { IncomingStream, OutgoingStream } from "./streams.ts";
import { fromWireError } from "./wire-error.ts";

export type RequestOptions = {
  /** Asks the host to stop; the host still answers the request. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (text: string) => void;
  /** Content sent as the request's stream. */
  readonly content?: AsyncIterable<Uint8Array>;
};

/** A request without its answer so far. */
type Pending = {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: ((text: string) => void) | undefined;
  readonly outgoing: OutgoingStream | undefined;
};

/** One open connection to a host, with its pending requests. It is not reopened once lost. */
export class ClientConnection {
  readonly welcome: Welcome;
  readonly lost: Promise<void>;
  readonly #channel: Channel;
  readonly #pending = new Map<number, Pending>();
  readonly #incoming = new Map<number, IncomingStream>();
  readonly #pinging: NodeJS.Timeout;
  readonly #onLost: () => void;
  #lostError: ConnectionLostError | undefined;
  #nextId = 1;

  constructor(channel: Channel, welcome: Welcome, pingMs: number) {
    this.welcome = welcome;
    this.#channel = channel;
    const lost = Promise.withResolvers<void>();
    this.lost = lost.promise;
    this.#onLost = lost.resolve;
    this.#pinging = setInterval(() => this.#ping(), pingMs).unref();
  }

  get isOpen(): boolean {
    return this.#lostError === undefined;
  }

  /** Rejects with ConnectionLostError when the connection breaks before the answer, and with the host's error. */
  async request<Name extends Method>(
    method: Name,
    params: Methods[Name]["params"],
    options: RequestOptions = {},
  ): Promise<Methods[Name]["result"]> {
    return this.#ask(this.#nextId++, method, params, options);
  }

  /** A request whose answer is followed by a stream. */
  async requestStream<Name extends Method>(
    method: Name,
    params: Methods[Name]["params"],
  ): Promise<{ readonly result: Methods[Name]["result"]; readonly content: Readable }> {
    const id = this.#nextId++;
    const stream = this.#receive(id);
    try {
      return { result: await this.#ask(id, method, params, {}), content: stream.content };
    } catch (error) {
      this.#incoming.delete(id);
      stream.fail(error as Error);
      throw error;
    }
  }

  /** A request with a stream in each direction; destroying `content` asks the host to stop. */
  exchange<Name extends Method>(
    method: Name,
    params: Methods[Name]["params"],
    input: AsyncIterable<Uint8Array>,
  ): { readonly answer: Promise<Methods[Name]["result"]>; readonly content: Readable } {
    const id = this.#nextId++;
    const stream = this.#receive(id);
    const answer = this.#ask(id, method, params, { content: input });
    answer.catch((error: unknown) => {
      this.#incoming.delete(id);
      stream.fail(error as Error);
    });
    return { answer, content: stream.content };
  }

  close(): void {
    this.#channel.destroy();
  }

  receive(frame: Frame): void {
    if (frame.type === "chunk") return this.#incoming.get(frame.id)?.take(frame.bytes);
    const { message } = frame;
    if ("pong" in message) return;
    const { id } = message;
    if (typeof id !== "number") throw new FrameError("A message has no id.");
    const pending = this.#pending.get(id);
    if (typeof message["progress"] === "string") pending?.onProgress?.(message["progress"]);
    else if (typeof message["credit"] === "number") {
      const credit = creditOf(message["credit"]);
      pending?.outgoing?.allow(credit);
    } else if (message["end"] === true) {
      this.#incoming.get(id)?.end(message["error"] as WireError | undefined);
      this.#incoming.delete(id);
    } else this.#settle(id, message);
  }

  /** The connection is lost: every pending request fails. */
  lose(error: ConnectionLostError): void {
    this.#lostError = error;
    clearInterval(this.#pinging);
    for (const pending of this.#pending.values()) {
      pending.outgoing?.stop();
      pending.reject(error);
    }
    this.#pending.clear();
    for (const stream of this.#incoming.values()) stream.fail(error);
    this.#incoming.clear();
    this.#onLost();
  }

  /** Called before the request is sent, because the first bytes may arrive right after the answer, or even before it. */
  #receive(id: number): IncomingStream {
    const stream = receiveStream({
      onRead: (credit) => this.#send({ id, credit }),
      onAbandon: () => {
        this.#incoming.delete(id);
        this.#send({ abort: id });
      },
    });
    this.#incoming.set(id, stream);
    return stream;
  }

  async #ask(id: number, method: Method, params: object, options: RequestOptions): Promise<never> {
    if (this.#lostError !== undefined) throw this.#lostError;
    const { signal, onProgress, content } = options;
    const answer = Promise.withResolvers<unknown>();
    this.#send({ id, method, params });
    const outgoing = content === undefined ? undefined : sendStream(this.#channel, id, content);
    this.#pending.set(id, { resolve: answer.resolve, reject: answer.reject, onProgress, outgoing });
    const onAbort = (): void => this.#send({ abort: id });
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return (await answer.promise) as never;
    } finally {
      signal?.removeEventListener("abort", onAbort);
      outgoing?.stop();
    }
  }

  #settle(id: number, message: Readonly<Record<string, unknown>>): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    if ("error" in message) pending.reject(fromWireError(message["error"] as WireError));
    else pending.resolve(message["result"]);
  }

  /** A host that misses three rounds of pings counts as lost, whatever the network reports. */
  #ping(): void {
    if (this.#channel.countSilence() >= 3) this.#channel.destroy("the tool host does not answer");
    else if (this.#channel.hasRoom) this.#send({ ping: 1 });
  }

  #send(message: ClientMessage): void {
    this.#channel.send(message);
  }
}

/** A fractional credit would let the other side continue for ever without allowing a byte. */
function creditOf(value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new FrameError("A credit is not a number of bytes.");
}
