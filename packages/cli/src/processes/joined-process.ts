import type { Socket } from "node:net";
import type { GroupMessage, ProcessGroup } from "@convoke/server";
import type { ServerFacts, Share, ToParent, ToProcess } from "./process-messages.ts";

/** This process as one of several behind one port. */
export class JoinedProcess implements ProcessGroup, Disposable {
  readonly number: number;
  readonly count: number;
  readonly url: string;
  /** Resolves when this process shall end in order: on request, or because its parent is gone. */
  readonly stopped: Promise<void>;
  readonly #listeners = new Map<string, Set<(body: unknown) => void>>();
  #onConnection: ((socket: Socket) => void) | null = null;
  #isStopping = false;

  /** Create it early: from here on it can be stopped. */
  constructor({ number, count, url }: Share) {
    this.number = number;
    this.count = count;
    this.url = url;
    const stopped = Promise.withResolvers<void>();
    this.stopped = stopped.promise;
    const stop = (): void => {
      this.#isStopping = true;
      stopped.resolve();
    };
    // A terminal sends them to all processes; the parent decides.
    for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
    process.on("SIGTERM", stop);
    process.on("disconnect", stop);
    process.on("message", (message: ToProcess, socket: Socket | undefined) => {
      if (message.type === "stop") stop();
      else if (message.type === "news") this.#deliver(message.news);
      else this.#receive(socket);
    });
  }

  take(onConnection: (socket: Socket) => void): void {
    this.#onConnection = onConnection;
  }

  reportReady(facts: ServerFacts): void {
    this.#send({ type: "ready", facts });
  }

  publish(news: GroupMessage): void {
    this.#send({ type: "news", news });
  }

  subscribe(topic: string, onNews: (body: unknown) => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(onNews));
    return () => void listeners.delete(onNews);
  }

  /** Disconnects from the parent, so that the channel does not keep this process alive. */
  [Symbol.dispose](): void {
    if (process.connected) process.disconnect();
  }

  #receive(socket: Socket | undefined): void {
    const take = this.#onConnection;
    if (this.#isStopping || take === null) {
      socket?.destroy();
      this.#send({ type: "refused" });
      return;
    }
    // Before anything is read: until this message the parent may give the connection to another process.
    this.#send({ type: "taken" });
    // Without one the client has gone meanwhile.
    if (socket !== undefined) take(socket);
  }

  #deliver({ topic, body }: GroupMessage): void {
    for (const onNews of this.#listeners.get(topic) ?? []) onNews(body);
  }

  #send(message: ToParent): void {
    // Without a parent there is no receiver, and this process ends.
    if (process.connected) process.send?.(message, undefined, {}, () => {});
  }
}
