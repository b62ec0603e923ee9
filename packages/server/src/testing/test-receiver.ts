import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

type Post = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string };

/** A receiver of webhooks: accepts posts while it is up; answers 503 while it is down. */
export class TestReceiver implements AsyncDisposable {
  readonly posts: Post[] = [];
  isUp = true;
  refused = 0;
  url = "";
  readonly #server = createServer((request, response) => {
    void (async () => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      if (!this.isUp) {
        this.refused += 1;
        response.writeHead(503).end();
        return;
      }
      this.posts.push({ path: request.url ?? "", headers: request.headers, body });
      response.end("{}");
    })();
  });

  static async start(): Promise<TestReceiver> {
    const receiver = new TestReceiver();
    receiver.#server.listen(0, "127.0.0.1");
    await once(receiver.#server, "listening");
    receiver.url = `http://127.0.0.1:${(receiver.#server.address() as AddressInfo).port}/hook`;
    return receiver;
  }

  /** Ids of the events of a conversation, in order of arrival. */
  eventsOf(id: string): string[] {
    return this.posts
      .filter(({ path }) => path === `/hook/events/${id.replaceAll("-", "")}`)
      .flatMap(({ body }) => (JSON.parse(body) as { id: string }[]).map((event) => event.id));
  }

  statusesOf(id: string): string[] {
    return this.posts
      .filter(({ path }) => path === "/hook/conversations")
      .map(({ body }) => JSON.parse(body) as { id: string; execution_status: string })
      .filter((info) => info.id === id)
      .map((info) => info.execution_status);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
