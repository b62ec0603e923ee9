// region setup
// A chat bot for the visitors of a web page. The key of Convoke stays here; a browser knows only the id of its own conversation.
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ApiError, ConvokeClient } from "@convoke/client";

const { URL: baseUrl = "", KEY: apiKey = "", LLM_MODEL: model = "", LLM_API_KEY, LLM_BASE_URL } = process.env;
const client = new ConvokeClient({ baseUrl, apiKey });
const page = readFileSync(new URL("index.html", import.meta.url));
// endregion setup

// region send
/** The first message of a visitor creates the conversation; the id comes from the page, so sending it twice creates nothing twice. */
async function send(id: string, messageId: string, text: string): Promise<void> {
  await client.startConversation({
    conversation_id: id,
    agent: {
      llm: { model, api_key: LLM_API_KEY ?? null, base_url: LLM_BASE_URL ?? null, stream: true },
      tools: [],
      agent_context: { system_message_suffix: "You answer questions about the bicycle shop Velo. Be brief." },
    },
    workspace: { working_dir: "chat-bot" },
    tags: { bot: "velo" },
    max_iterations: 10,
  });
  await client.sendMessage(id, {
    content: [{ type: "text", text }],
    client_message_id: messageId,
    run: true,
  });
}
// endregion send

// region answers
/** Sends what is said as server-sent events. Their ids are those of the log, so a browser that comes back goes on where it was. */
async function streamAnswers(id: string, after: string | null, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  const emit = (name: string, data: unknown, eventId?: string): void => {
    response.write(
      `${eventId === undefined ? "" : `id: ${eventId}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`,
    );
  };
  for await (const item of client.follow(id, { afterEventId: after, deltas: "items", signal: gone.signal })) {
    if (item.type === "signal") {
      if (item.frame["kind"] === "AnswerDelta") emit("piece", item.frame["text"]);
    } else if (item.event.kind === "MessageEvent" && item.event.source !== "environment") {
      emit(
        "message",
        { from: item.event.source, text: textOf(item.event.llm_message.content) },
        item.event.id,
      );
    } else if (item.event.kind === "ConversationErrorEvent") {
      emit("failed", "Something went wrong. Please try again later.", item.event.id);
    }
  }
}
// endregion answers

// region routes
function textOf(parts: readonly object[] = []): string {
  return parts.map((part) => ("text" in part ? String(part.text) : "")).join("");
}

/** Whoever knows the id of a conversation of this bot may read and continue it; those of other programs are not there. */
async function isOurs(id: string): Promise<boolean> {
  try {
    return (await client.getConversation(id)).tags?.["bot"] === "velo";
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://bot");
  const id = searchParams.get("conversation") ?? "";
  if (request.method === "GET" && pathname === "/") {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
  } else if (!uuid.test(id)) {
    response.writeHead(400).end("conversation must be a UUID");
  } else if (request.method === "POST" && pathname === "/messages") {
    const { message_id: messageId, text } = JSON.parse(await readBody(request)) as Record<string, unknown>;
    if (typeof messageId !== "string" || typeof text !== "string" || text === "") {
      response.writeHead(400).end("message_id and text are needed");
      return;
    }
    await send(id, messageId, text);
    response.writeHead(202).end();
  } else if (request.method === "GET" && pathname === "/answers" && (await isOurs(id))) {
    await streamAnswers(id, request.headers["last-event-id"]?.toString() ?? null, response);
  } else {
    response.writeHead(404).end();
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) {
    body += chunk;
    if (body.length > 10_000) throw new Error("the message is too long");
  }
  return body;
}

const server = createServer((request, response) => {
  handle(request, response).catch((error: unknown) => {
    console.error(error);
    if (!response.headersSent) response.writeHead(500);
    response.end();
  });
});
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
});
// endregion routes
