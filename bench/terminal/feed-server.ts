import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocketServer, type WebSocket } from "ws";
import type { Feed } from "./long-feed.ts";

/** Frames at once, and pauses between them: 1,000 a second. */
const batch = { frames: 20, pauseMs: 20 };

/** A server with one conversation, whose follower gets the feed: what is measured is the client alone. */
export class FeedServer implements AsyncDisposable {
  readonly id = "01930000-0000-7000-8000-000000000000";
  readonly #http = createServer(({ url = "" }, reply) => this.#answer(url, reply));
  readonly #sockets = new WebSocketServer({ server: this.#http });
  readonly #sent = Promise.withResolvers<void>();

  private constructor({ items }: Feed) {
    this.#sockets.once("connection", (socket) => {
      this.#send(socket, items).then(this.#sent.resolve, this.#sent.reject);
    });
  }

  static async open(feed: Feed): Promise<FeedServer> {
    const server = new FeedServer(feed);
    server.#http.listen(0, "127.0.0.1");
    await once(server.#http, "listening");
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** Resolves when the follower has been sent everything. */
  get sent(): Promise<void> {
    return this.#sent.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#http.closeAllConnections();
    this.#http.close();
    await once(this.#http, "close");
  }

  async #send(socket: WebSocket, items: Feed["items"]): Promise<void> {
    for (const [index, item] of items.entries()) {
      socket.send(JSON.stringify(item.type === "event" ? item.event : item.frame));
      if (index % batch.frames === 0) await sleep(batch.pauseMs);
    }
  }

  #answer(url: string, reply: ServerResponse): void {
    const conversation = `/api/conversations/${this.id}`;
    const { pathname } = new URL(url, this.url);
    const answers: Readonly<Record<string, unknown>> = {
      [conversation]: { id: this.id, title: "A long feed", execution_status: "running" },
      [`${conversation}/events/count`]: 0,
      [`${conversation}/events/search`]: { items: [], next_page_id: null },
      [`${conversation}/approvals`]: { items: [] },
    };
    const isKnown = Object.hasOwn(answers, pathname);
    reply.writeHead(isKnown ? 200 : 404, { "content-type": "application/json" });
    reply.end(JSON.stringify(isKnown ? answers[pathname] : { detail: "Not here." }));
  }
}
