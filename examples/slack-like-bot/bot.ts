// Brings agents into a chat program: a thread is a conversation, a message is sent to its agent, an approval is two buttons. The chat program
// calls /chat, Convoke calls /hook, and the bot keeps nothing: what it has to know is in the conversation.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { ConvokeClient } from "@convoke/client";
import type { ConversationInfo, Event } from "@convoke/protocol";

const { URL: baseUrl = "", KEY: apiKey = "", CHAT_URL = "", LLM_MODEL: model = "" } = process.env;
const { LLM_API_KEY, LLM_BASE_URL } = process.env;
const client = new ConvokeClient({ baseUrl, apiKey });

type Incoming = { readonly thread: string; readonly message_id: string; readonly text: string };
type Pressed = { readonly thread: string; readonly action_id: string; readonly accept: boolean };

// region threads
/** The same id for the same thread, so that nothing has to be stored to find its conversation again. */
function conversationOf(thread: string): string {
  const hex = createHash("sha256").update(thread).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Creates the conversation with the first message of a thread. A message that the chat program sends again counts once. */
async function onMessage({ thread, message_id: messageId, text }: Incoming): Promise<void> {
  const id = conversationOf(thread);
  await client.startConversation({
    conversation_id: id,
    agent: {
      llm: { model, api_key: LLM_API_KEY ?? null, base_url: LLM_BASE_URL ?? null },
      tools: [{ name: "terminal" }],
    },
    workspace: { working_dir: "slack-like" },
    confirmation_policy: { kind: "AlwaysConfirm" },
    tags: { thread },
  });
  await client.sendMessage(id, {
    content: [{ type: "text", text }],
    client_message_id: messageId,
    run: true,
  });
}
// endregion threads

// region approvals
async function onPressed({ thread, action_id, accept }: Pressed): Promise<void> {
  await client.call("POST /api/conversations/{conversation_id}/approvals", {
    params: { conversation_id: conversationOf(thread) },
    body: { answers: [{ action_id, accept }] },
  });
}

/** Convoke posts a conversation whenever its state has changed. */
async function onConversation({ id, execution_status: status, tags }: ConversationInfo): Promise<void> {
  if (status !== "waiting_for_confirmation" || tags?.["thread"] === undefined) return;
  const { items } = await client.call("GET /api/conversations/{conversation_id}/approvals", {
    params: { conversation_id: id },
  });
  for (const { action_id, tool_name, summary } of items) {
    await post({ thread: tags["thread"], text: `May I use ${tool_name}: ${summary}?`, buttons: action_id });
  }
}
// endregion approvals

// region answers
async function onEvents(id: string, events: readonly Event[]): Promise<void> {
  const answers = events.flatMap(answerIn);
  if (answers.length === 0) return;
  const { tags } = await client.getConversation(id);
  for (const text of answers) await post({ thread: tags?.["thread"] ?? "", text });
}

/** What an agent says at the end is a message, or the message of its call of finish. */
function answerIn(event: Event): readonly string[] {
  if (event.kind === "MessageEvent" && event.source === "agent") {
    return (event.llm_message.content ?? []).map((part) => ("text" in part ? part.text : ""));
  }
  if (event.kind !== "ActionEvent" || event.tool_name !== "finish") return [];
  return [String((JSON.parse(event.tool_call.arguments) as { message: unknown }).message)];
}
// endregion answers

async function post(message: { thread: string; text: string; buttons?: string }): Promise<void> {
  const { ok } = await fetch(CHAT_URL, { method: "POST", body: JSON.stringify(message) });
  if (!ok) throw new Error("the chat program took no message");
}

async function handle(request: IncomingMessage): Promise<void> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  const body: unknown = JSON.parse(text);
  const [, , kind, id] = (request.url ?? "").split("/");
  if (request.url === "/chat/message") await onMessage(body as Incoming);
  else if (request.url === "/chat/button") await onPressed(body as Pressed);
  else if (request.url === "/hook/conversations") await onConversation(body as ConversationInfo);
  else if (kind === "events" && id !== undefined) await onEvents(id, body as Event[]);
}

// Check who calls before you use it: the signature of webhooks as in the example webhook-receiver, and that of your chat program.
const server = createServer((request, response) => {
  handle(request).then(
    () => response.writeHead(204).end(),
    (error: unknown) => {
      console.error(error);
      // Convoke, like a chat program, sends it again.
      response.writeHead(500).end();
    },
  );
});
server.listen(Number(process.env["PORT"] ?? 3002), "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
});
