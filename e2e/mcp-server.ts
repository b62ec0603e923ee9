import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

type Message = {
  readonly id?: number;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
};

/** An MCP server over HTTP with two tools, which can be broken and closed. */
export class McpServer implements AsyncDisposable {
  #url = "";
  /** Tools that were called. */
  readonly calls: string[] = [];
  mode: "good" | "broken" | "closed" = "good";
  readonly #server = createServer((request, response) => {
    let body = "";
    request.on("data", (data: Buffer) => (body += data.toString("utf8")));
    request.on("end", () => {
      if (this.mode === "broken") return response.writeHead(500).end("it is broken");
      if (this.mode === "closed") return response.writeHead(401).end();
      if (request.method !== "POST") return response.writeHead(405).end();
      const result = this.#answer(JSON.parse(body) as Message);
      if (result === null) return response.writeHead(202).end();
      return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(result));
    });
  });

  private constructor() {}

  static async open(): Promise<McpServer> {
    const server = new McpServer();
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    server.#url = `http://127.0.0.1:${(server.#server.address() as AddressInfo).port}/mcp`;
    return server;
  }

  get url(): string {
    return this.#url;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  /** Null for a notification. */
  #answer({ id, method, params }: Message): object | null {
    if (id === undefined) return null;
    const answer = (result: object): object => ({ jsonrpc: "2.0", id, result });
    if (method === "initialize") {
      const serverInfo = { name: "notes", version: "1" };
      return answer({
        protocolVersion: params?.["protocolVersion"],
        capabilities: { tools: {} },
        serverInfo,
      });
    }
    if (method === "tools/list") {
      const inputSchema = { type: "object", properties: { text: { type: "string" } } };
      return answer({ tools: ["read", "write"].map((name) => ({ name, description: name, inputSchema })) });
    }
    const name = String(params?.["name"]);
    this.calls.push(name);
    return answer({ content: [{ type: "text", text: `did ${name}` }] });
  }
}
