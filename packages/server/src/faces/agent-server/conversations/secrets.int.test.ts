import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { allowedEnvironment, defaultTools } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { TestSocket } from "../../../testing/test-socket.ts";

/** Values that nobody but the model provider and the tools' shell may ever see. */
const canaries = {
  llmKey: "canary-llm-key-5f1e2d",
  condenserKey: "canary-condenser-key-77ab",
  contextSecret: "canary-context-secret-90cd",
  staticSecret: "canary-static-secret-13ef",
  addedSecret: "canary-added-secret-42aa",
  headerSecret: "canary-header-secret-86bb",
  sessionKey: "canary-session-key-01cc",
  masterKey: "canary-master-key-23dd",
};

const shell = (command: string) => ({ tool_calls: [{ name: "terminal", arguments: { command } }] });

test("P13, W9: canary secrets are in no event, frame, reply, log line, child environment or file", async () => {
  await using server = await startTestServer({
    tools: defaultTools(),
    environment: allowedEnvironment({
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: "/tmp",
      SESSION_API_KEY: canaries.sessionKey,
      OH_SESSION_API_KEYS_0: canaries.sessionKey,
      OH_SECRET_KEY: canaries.masterKey,
      LLM_API_KEY: canaries.llmKey,
    }),
    config: { sessionApiKeys: ["test-session-key", canaries.sessionKey] },
    script: {
      turns: [
        shell("env; printf 'children %s\\n' done"),
        shell('echo "it is $STATIC_TOKEN and $CONTEXT_TOKEN"'),
        shell('printf %s "$STATIC_TOKEN" | base64; printf %s "$ADDED_TOKEN" | sed "s/./&-/g" | tr -d "-"'),
        { text: `I know ${canaries.staticSecret} and ${canaries.llmKey}.` },
      ],
    },
  });
  const { id } = await server.createConversation(start(server));
  using socket = new TestSocket(`${server.url}/sockets/events/${id}`, {
    headers: { "x-session-api-key": server.key },
  });
  await socket.untilCount(1);
  await server.client.updateSecrets(id, { ADDED_TOKEN: canaries.addedSecret });
  const text = `My token is ${canaries.staticSecret}, keep it.`;
  await server.client.sendMessage(id, { content: [{ type: "text", text }], run: true });
  await server.waitForStatus(id, "finished", 30_000);
  await socket.until((events) => events.some(({ value }) => value === "finished"));

  const seen: Record<string, string> = {
    events: (await server.call("GET", `/api/conversations/${id}/events/search`)).text,
    frames: socket.frames.join("\n"),
    info: (await server.call("GET", `/api/conversations/${id}`)).text,
    list: (await server.call("GET", "/api/conversations/search")).text,
    errors: await errorBodies(server, id),
    log: JSON.stringify(server.log),
    "what the model was sent": server.model.requests.map((request) => request.text).join("\n"),
  };
  expect(seen["events"]).toContain("children done");
  expect(seen["events"]).toContain("it is ");
  await server.close();
  const files = await filesBelow(server.dataDir);
  expect(files.length).toBeGreaterThan(3);
  for (const file of files) seen[file] = (await readFile(file)).toString("latin1");

  for (const [where, content] of Object.entries(seen)) {
    for (const [name, canary] of Object.entries(canaries)) {
      const base64 = Buffer.from(canary).toString("base64");
      for (const form of [canary, base64, encodeURIComponent(canary)]) {
        expect(content.includes(form), `${name} in ${where}`).toBe(false);
      }
    }
  }
});

test("W5: secrets survive a restart, sealed, and tools get them again", async () => {
  await using server = await startTestServer({
    tools: defaultTools(),
    environment: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    script: {
      turns: [shell('test "$ADDED_TOKEN" = canary-added-secret-42aa && echo same'), { text: "Done." }],
    },
  });
  const { id } = await server.createConversation();
  await server.client.updateSecrets(id, { ADDED_TOKEN: canaries.addedSecret });
  await server.restart();
  await server.client.sendMessage(id, { content: [{ type: "text", text: "go" }], run: true });
  await server.waitForStatus(id, "finished", 30_000);
  const { items } = await server.client.searchEvents(id, { kind: "ObservationEvent" });
  expect(JSON.stringify(items)).toContain("same");
});

function start(server: TestServer) {
  const { agent } = server.startRequest();
  return {
    agent: {
      ...agent,
      llm: { ...agent.llm, api_key: canaries.llmKey },
      condenser: {
        kind: "LLMSummarizingCondenser" as const,
        llm: { ...agent.llm, api_key: canaries.condenserKey },
      },
      agent_context: { secrets: { CONTEXT_TOKEN: canaries.contextSecret } },
    },
    secrets: {
      STATIC_TOKEN: { kind: "StaticSecret" as const, value: canaries.staticSecret },
      RESOLVED: {
        kind: "LookupSecret" as const,
        url: `${server.model.url}/nothing`,
        headers: { Authorization: `Bearer ${canaries.headerSecret}` },
      },
    },
  };
}

/** Bodies of refusals for requests that carry a secret in the wrong place. */
async function errorBodies(server: TestServer, id: string): Promise<string> {
  const { staticSecret: secret, sessionKey } = canaries;
  const replies = await Promise.all([
    server.call("POST", `/api/conversations/${id}/secrets`, {
      secrets: { A: { kind: "Magic", value: secret } },
    }),
    server.call("POST", `/api/conversations/${id}/secrets`, { secrets: { A: { kind: secret, value: "x" } } }),
    server.call("POST", `/api/conversations/${id}/secrets`, {
      secrets: { A: { kind: "StaticSecret", value: [secret] } },
    }),
    server.call("POST", "/api/conversations", {
      agent: { llm: { model: 5, api_key: secret } },
      workspace: secret,
    }),
    server.call("POST", "/api/conversations", {
      ...server.startRequest(),
      agent: { llm: { api_key: [secret] } },
    }),
    server.call("GET", "/api/tools/", undefined, {
      "X-Session-API-Key": `${sessionKey}x`,
      Authorization: `Bearer ${secret}`,
    }),
    fetch(`${server.url}/api/conversations/${id}/secrets`, {
      method: "POST",
      headers: { "X-Session-API-Key": sessionKey, "Content-Type": "application/json" },
      body: `{"secrets": {"A": "${secret}"`,
    }),
  ]);
  const texts = replies.map(async (reply) => {
    expect(reply.status).toBeGreaterThanOrEqual(400);
    return reply instanceof Response ? await reply.text() : reply.text;
  });
  return (await Promise.all(texts)).join("\n").replaceAll(`${sessionKey}x`, "");
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
