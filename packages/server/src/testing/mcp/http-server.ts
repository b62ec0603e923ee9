import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { randomUUID } from "node:crypto";

/** Faults of an MCP server over HTTP. */
export type HttpMode = "good" | "error" | "page" | "hang" | "refuse-key" | "sse" | "sse-silent";

export type McpHttpServer = AsyncDisposable & {
  readonly url: string;
  /** Headers of every request, in order. */
  readonly requests: readonly IncomingMessage["headers"][];
  /** Executed tool calls. */
  readonly calls: readonly string[];
  mode: HttpMode;
  /** Ends all sessions: they get 404. */
  forget(): void;
};

const tools = ["read", "write"].map((name) => ({
  name,
  description: `${name}s something`,
  inputSchema: { type: "object", properties: { text: { type: "string" } } },
  annotations: { readOnlyHint: name === "read" },
}));

/** An MCP server over streamable HTTP on a free port, or over the older SSE in the `sse` modes. */
export async function startMcpHttpServer(mode: HttpMode = "good"): Promise<McpHttpServer> {
  const requests: IncomingMessage["headers"][] = [];
  const calls: string[] = [];
  const sessions = new Set<string>();
  let stream: ServerResponse | null = null;
  const server = createServer((request, response) => {
    requests.push(request.headers);
    void readBody(request).then((body) => respond(request, response, body));
  });
  const double: McpHttpServer = {
    url: "",
    requests,
    calls,
    mode,
    forget: () => sessions.clear(),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };

  function respond(request: IncomingMessage, response: ServerResponse, body: string): void {
    switch (double.mode) {
      case "error":
        return void response.writeHead(500).end("it is broken");
      case "page":
        return void response.writeHead(200, { "content-type": "text/html" }).end("<html>hello</html>");
      case "refuse-key":
        return void response.writeHead(401).end();
      case "hang":
        return;
      case "sse-silent":
        return void response.writeHead(200, { "content-type": "text/event-stream" }).write(": nothing\n\n");
      case "sse":
        return respondToSse(request, response, body);
      case "good":
        return respondToPost(request, response, body);
    }
  }

  function respondToPost(request: IncomingMessage, response: ServerResponse, body: string): void {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const message = JSON.parse(body) as Message;
    if (message.method === "initialize") {
      const session = randomUUID();
      sessions.add(session);
      response.setHeader("mcp-session-id", session);
    } else if (!sessions.has(String(request.headers["mcp-session-id"]))) {
      return void response.writeHead(404).end();
    }
    const answer = answerTo(message);
    if (answer === null) return void response.writeHead(202).end();
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  }

  function respondToSse(request: IncomingMessage, response: ServerResponse, body: string): void {
    if (request.method === "GET") {
      stream = response;
      return void response
        .writeHead(200, { "content-type": "text/event-stream" })
        .write("event: endpoint\ndata: /messages\n\n");
    }
    response.writeHead(202).end();
    const answer = answerTo(JSON.parse(body) as Message);
    if (answer !== null) stream?.write(`event: message\ndata: ${JSON.stringify(answer)}\n\n`);
  }

  function answerTo({ id, method, params }: Message): object | null {
    if (id === undefined) return null;
    const result = (value: object): object => ({ jsonrpc: "2.0", id, result: value });
    if (method === "initialize") {
      return result({
        protocolVersion: params?.["protocolVersion"],
        capabilities: { tools: {} },
        serverInfo: { name: "double", version: "1" },
      });
    }
    if (method === "tools/list") return result({ tools });
    calls.push(String(params?.["name"]));
    return result({ content: [{ type: "text", text: `did ${String(params?.["name"])}` }] });
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return Object.assign(double, { url: `http://127.0.0.1:${port}/${mode.startsWith("sse") ? "sse" : "mcp"}` });
}

type Message = { id?: number; method: string; params?: Record<string, unknown> };

async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
}
