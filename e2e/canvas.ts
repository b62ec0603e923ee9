import { existsSync, readFileSync } from "node:fs";
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import path from "node:path";

/** Paths that the server answers; everything else is a page of the client. */
const served = ["/api", "/sockets", "/server_info", "/health", "/ready", "/alive", "/openapi.json", "/v1"];

const types: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".webmanifest": "application/manifest+json",
};

/** Agent Canvas and a browser; the reason when one of them is missing. */
export function findCanvas(): { readonly build: string; readonly chromium: string } | string {
  const chromium = process.env["CONVOKE_CHROMIUM"] ?? "/usr/bin/chromium";
  if (!existsSync(chromium)) return "no chromium";
  const folder = process.env["CONVOKE_AGENT_CANVAS"];
  if (folder === undefined) return "CONVOKE_AGENT_CANVAS names no unpacked @openhands/agent-canvas";
  const build = path.join(folder, "build");
  return existsSync(path.join(build, "index.html")) ? { build, chromium } : `no build in ${folder}`;
}

/** Agent Canvas like its own command serves it: pages and the server at one origin, with the key in the page. */
export class CanvasPages implements AsyncDisposable {
  readonly #server: Server;
  readonly #build: string;
  readonly #target: URL;
  readonly #page: string;

  private constructor(build: string, target: string, key: string) {
    this.#build = build;
    this.#target = new URL(target);
    const given = `window.__AGENT_CANVAS_SESSION_API_KEY__=${JSON.stringify(key)};window.__AGENT_CANVAS_DO_NOT_TRACK__=true;`;
    this.#page = readFileSync(path.join(build, "index.html"), "utf8").replace(
      "</head>",
      `<script>${given}</script></head>`,
    );
    this.#server = createServer((incoming, reply) => this.#answer(incoming, reply));
    this.#server.on("upgrade", (incoming, socket, head) => this.#upgrade(incoming, socket as Socket, head));
  }

  static async start(build: string, target: string, key: string): Promise<CanvasPages> {
    const pages = new CanvasPages(build, target, key);
    await new Promise<void>((resolve) => pages.#server.listen(0, "127.0.0.1", resolve));
    return pages;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(incoming: IncomingMessage, reply: ServerResponse): void {
    const { pathname } = new URL(incoming.url ?? "/", this.url);
    if (served.some((prefix) => pathname === prefix || pathname.startsWith(`${prefix}/`))) {
      this.#pass(incoming, reply);
      return;
    }
    const file = path.join(this.#build, path.normalize(pathname));
    const isFile = path.extname(file) !== "" && pathname !== "/index.html" && existsSync(file);
    reply.setHeader(
      "Content-Type",
      isFile ? (types[path.extname(file)] ?? "application/octet-stream") : types[".html"]!,
    );
    reply.end(isFile ? readFileSync(file) : this.#page);
  }

  #pass(incoming: IncomingMessage, reply: ServerResponse): void {
    const { hostname, port } = this.#target;
    const passed = request(
      { hostname, port, method: incoming.method, path: incoming.url, headers: this.#headersOf(incoming) },
      (answer) => {
        reply.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(reply);
      },
    );
    passed.on("error", () => reply.destroy());
    reply.on("close", () => passed.destroy());
    incoming.pipe(passed);
  }

  #upgrade(incoming: IncomingMessage, socket: Socket, head: Buffer): void {
    const target = connect(Number(this.#target.port), this.#target.hostname, () => {
      const lines = Object.entries(this.#headersOf(incoming)).map(
        ([name, value]) => `${name}: ${String(value)}`,
      );
      target.write(`GET ${incoming.url ?? "/"} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
      target.write(head);
      target.pipe(socket).pipe(target);
    });
    const end = (): void => {
      target.destroy();
      socket.destroy();
    };
    target.on("error", end).on("close", end);
    socket.on("error", end).on("close", end);
  }

  #headersOf({ headers }: IncomingMessage): Record<string, string | string[]> {
    const { origin, ...rest } = headers;
    const own = { ...rest, host: this.#target.host } as Record<string, string | string[]>;
    return origin === undefined ? own : { ...own, origin: this.#target.origin };
  }
}
