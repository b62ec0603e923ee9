import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { readAnswer } from "../http/read-answer.ts";

export type Asked = {
  readonly text: () => string;
  /** Milliseconds from the first byte sent to the last byte read. */
  readonly ms: number;
};

/**
 * Persistent connections to one server. A client of Node or a library takes longer for an answer than a fast server, and would dominate
 * the measurement; here only lengths are parsed.
 */
export class Connections implements Disposable {
  readonly #url: URL;
  readonly #free: Socket[] = [];
  readonly #all = new Set<Socket>();

  constructor(url: string) {
    this.#url = new URL(url);
  }

  async ask(method: string, path: string, body?: unknown): Promise<Asked> {
    const socket = this.#free.pop() ?? (await this.#open());
    const content = body === undefined ? "" : JSON.stringify(body);
    const about =
      body === undefined
        ? ""
        : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(content)}\r\n`;
    const startedAt = performance.now();
    const answered = readAnswer(socket);
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: ${this.#url.host}\r\n${about}\r\n${content}`);
    const { status, text } = await answered;
    const ms = performance.now() - startedAt;
    if (this.#all.has(socket)) this.#free.push(socket);
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text().slice(0, 300)}`);
    return { text, ms };
  }

  [Symbol.dispose](): void {
    for (const socket of this.#all) socket.destroy();
  }

  async #open(): Promise<Socket> {
    const { hostname, port } = this.#url;
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, "connect");
    this.#all.add(socket);
    // Servers close idle connections.
    const forget = (): void => {
      this.#all.delete(socket);
      const at = this.#free.indexOf(socket);
      if (at !== -1) this.#free.splice(at, 1);
    };
    socket.on("end", forget).on("close", forget).on("error", forget);
    return socket;
  }
}
