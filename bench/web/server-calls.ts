import type { BuiltServer } from "../node/built-server.ts";

async function post(server: BuiltServer, path: string, body: unknown): Promise<unknown> {
  const reply = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`POST ${path}: ${reply.status} ${await reply.text()}`);
  return await reply.json();
}

/** Creates a conversation with a model at the address; returns its id. */
export async function createConversation(
  server: BuiltServer,
  modelUrl: string,
  title: string,
): Promise<string> {
  const llm = { model: "openai/bench", base_url: modelUrl, api_key: "bench-key", stream: true };
  const { id } = (await post(server, "/api/conversations", {
    title,
    agent: { kind: "Agent", llm, tools: [] },
    workspace: { kind: "LocalWorkspace", working_dir: server.workDir },
  })) as { id: string };
  return id;
}

/** Sends a message, which optionally starts a run. */
export async function say(server: BuiltServer, id: string, text: string, run = false): Promise<void> {
  const content = [{ type: "text", text }];
  await post(server, `/api/conversations/${id}/events`, { role: "user", content, run });
}

/** Its `execution_status`. */
export async function readStatus(server: BuiltServer, id: string): Promise<string> {
  const reply = await fetch(`${server.url}/api/conversations/${id}`);
  if (!reply.ok) throw new Error(`GET of conversation ${id}: ${reply.status} ${await reply.text()}`);
  return ((await reply.json()) as { execution_status: string }).execution_status;
}
