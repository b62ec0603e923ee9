import { ConfigError } from "../../lib/config-error.ts";
import { LoopPace } from "../../lib/loop-pace.ts";
import {
  JournalWriteError,
  LeaseHeldError,
  LeaseLostError,
  SeqConflictError,
  UnknownConversationError,
} from "../journal.ts";
import { tornCopy } from "./lease.ts";
import { refusedFormat } from "./schema.ts";
import type {
  OpenFailure,
  WriteFailure,
  WriteOutcome,
  WriterBeginning,
  WriterMessage,
  WriterOptions,
  WriterReady,
  WriterReply,
  WriteRequest,
} from "./requests.ts";
import { startWriterThread, type WriterThread } from "./writer-thread.ts";

/** The way to the writer thread: what is asked in one turn of the event loop travels as one message. */
export class WriterChannel implements AsyncDisposable {
  readonly #worker: WriterThread;
  readonly #databasePath: string;
  readonly #exited: Promise<void>;
  /** In the order of the requests; the thread answers in the same order. */
  readonly #waiting: Waiting[] = [];
  /** A group may have hundreds of requests, and each caller continues when it resolves. */
  readonly #pace = new LoopPace();
  #unsent: WriteRequest[] = [];
  #isClosed = false;

  private constructor(worker: WriterThread, databasePath: string) {
    this.#worker = worker;
    this.#databasePath = databasePath;
    worker.on("message", (message) => {
      const reply = message as WriterReply;
      if (reply.type === "outcomes") this.#settle(reply.outcomes);
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#exited = promise;
    worker.on("error", (error) => this.#fail(error));
    worker.on("exit", () => {
      this.#fail(new Error("the writer thread has ended"));
      this.#pace.enter(resolve);
    });
  }

  /** Waits until the thread has the data folder open. No other message may have been sent to it. */
  static async open(
    options: WriterOptions,
    worker: WriterThread = startWriterThread(),
  ): Promise<WriterChannel> {
    worker.ref();
    const { promise, resolve, reject } = Promise.withResolvers<WriterReady>();
    worker.on("message", (message) => {
      if (isOpening(message)) resolve(message);
    });
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("The writer thread of the journal did not start")));
    worker.postMessage({ type: "open", options } satisfies WriterBeginning);
    const reply = await promise;
    if (reply.type === "failed") throw toOpenError(reply.failure);
    const channel = new WriterChannel(worker, options.databasePath);
    // Only unanswered requests keep the process alive.
    worker.unref();
    return channel;
  }

  /** Resolves when the effect is durable. */
  request(request: WriteRequest): Promise<boolean | number | null> {
    if (this.#isClosed) return Promise.reject(new JournalWriteError("The journal is closed"));
    if (this.#waiting.length === 0) this.#worker.ref();
    if (this.#unsent.length === 0) queueMicrotask(() => this.#send());
    this.#unsent.push(request);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
    });
  }

  /** Waits for what was asked; may be called more than once. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#worker.ref();
      this.#send();
      this.#worker.postMessage({ type: "close" } satisfies WriterMessage);
    }
    await this.#exited;
  }

  #send(): void {
    if (this.#unsent.length === 0) return;
    const requests = this.#unsent;
    this.#unsent = [];
    this.#worker.postMessage({ type: "write", requests } satisfies WriterMessage);
  }

  #settle(outcomes: readonly WriteOutcome[]): void {
    for (const [index, waiting] of this.#waiting.splice(0, outcomes.length).entries()) {
      const outcome = outcomes[index];
      this.#pace.enter(() => {
        if (outcome?.ok === true) waiting.resolve(outcome.value);
        else waiting.reject(toError(outcome, this.#databasePath));
      });
    }
    if (this.#waiting.length === 0 && !this.#isClosed) this.#worker.unref();
  }

  #fail(cause: Error): void {
    this.#isClosed = true;
    this.#unsent = [];
    for (const waiting of this.#waiting.splice(0)) {
      const error = new JournalWriteError("The journal has stopped", { cause });
      this.#pace.enter(() => waiting.reject(error));
    }
  }
}

/** The messages that report the result of opening. `node --watch` sends messages of its own on the same channel, about loaded files. */
function isOpening(message: unknown): message is WriterReady {
  const { type } = message as { readonly type?: unknown };
  return type === "ready" || type === "failed";
}

type Waiting = {
  readonly resolve: (value: boolean | number | null) => void;
  readonly reject: (error: Error) => void;
};

/** Error classes do not survive the way between threads; their names do. */
function toError(failure: WriteFailure | undefined, path: string): Error {
  const { name, message, holder, errcode } = failure ?? { message: "The journal gave no answer" };
  if (name === "LeaseHeldError") return new LeaseHeldError(message, holder ?? null);
  const known = Object.entries(refusals).find(([refusal]) => refusal === name);
  return known === undefined ? new JournalWriteError(message, { path, errcode }) : new known[1](message);
}

const refusals = { LeaseLostError, SeqConflictError, UnknownConversationError, RangeError };

/** What it was about travels beside the message: the number or the name of the fault, and the file. */
function toOpenError({ message, ...about }: OpenFailure): Error {
  if (about.code === tornCopy || about.code === refusedFormat) return new ConfigError(message);
  return Object.assign(new Error(message), about);
}
