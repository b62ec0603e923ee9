import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConvokeProcess } from "../testing/convoke-process.ts";
import { startScriptedModel, type ScriptedModelServer } from "../testing/index.ts";
import { TestSocket } from "../testing/test-socket.ts";
import { openV1, type V1 } from "../testing/v1-client.ts";

/** One for every place that holds secrets; the last part makes each of them impossible to meet by chance. */
const canary = (place: string): string => `canary-${place}-f3a9c17be5d2`;
const canaries = {
  llmKey: canary("llm"),
  searchKey: canary("search"),
  sandboxApiKey: canary("sandboxapi"),
  githubToken: canary("github"),
  gitlabToken: canary("gitlab"),
  customSecret: canary("custom"),
  conversationSecret: canary("conversation"),
  mcpHeader: canary("mcpheader"),
  mcpEnvironment: canary("mcpenv"),
};
/** The agent prints what it can reach: its environment, the named secrets, and them in other forms. */
const snooping = [
  "env; cat /proc/self/environ | tr '\\0' '\\n'; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'",
  'echo "$CUSTOM_CANARY $GITHUB_TOKEN $GITLAB_TOKEN $GIT_TOKEN $CONVERSATION_CANARY"',
  'printf %s "$CUSTOM_CANARY" | base64; printf %s "$CONVERSATION_CANARY" | base64 -w0; echo',
  'printf %s "$CUSTOM_CANARY" | head -c 12; sleep 0.3; printf %s "$CUSTOM_CANARY" | tail -c +13; echo',
];

let model: ScriptedModelServer;
let server: ConvokeProcess;
let v1: V1;
beforeAll(async () => {
  model = await startScriptedModel({
    script: {
      turns: [
        ...snooping.map((command) => ({
          text: "I look.",
          tool_calls: [{ name: "terminal", arguments: { command } }],
        })),
        { text: "I have seen it." },
      ],
    },
  });
  server = await ConvokeProcess.start();
  v1 = await openV1(server, model, {
    llm_api_key: canaries.llmKey,
    search_api_key: canaries.searchKey,
    sandbox_api_key: canaries.sandboxApiKey,
    mcp_config: {
      sse_servers: [],
      shttp_servers: [{ url: "http://127.0.0.1:9/mcp", api_key: canaries.mcpHeader }],
      stdio_servers: [
        {
          name: "absent",
          command: "convoke-no-such-program",
          args: [],
          env: { KEY: canaries.mcpEnvironment },
        },
      ],
    },
  });
  await server.call("POST", "/api/add-git-providers", {
    provider_tokens: { github: { token: canaries.githubToken }, gitlab: { token: canaries.gitlabToken } },
  });
  await server.call("POST", "/api/secrets", { name: "CUSTOM_CANARY", value: canaries.customSecret });
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
});

test("P13: secrets of every place are in no answer, event, frame, log, download, file or process of a conversation", async () => {
  const seen = new Map<string, string>();
  const see = async (name: string, path: string, method = "GET", body?: unknown): Promise<void> => {
    const reply = await server.call(method, path, body);
    seen.set(`${name} ${reply.status}`, reply.text);
  };
  const task = await v1.start({
    initial_message: {
      content: [{ type: "text", text: `Say ${canaries.conversationSecret} and ${canaries.customSecret}.` }],
    },
    title: "Canaries",
    git_provider: "github",
    secrets: { CONVERSATION_CANARY: canaries.conversationSecret },
  });
  const id = (await v1.ready(task.id)).app_conversation_id!;
  using socket = new TestSocket(`${server.url}/sockets/events/${id}?resend_mode=all`, {
    headers: { "X-Session-API-Key": server.key },
  });
  const { sandbox_id: sandboxId } = await v1.untilStatus(id, "finished");
  await socket.until((events) =>
    events.some(({ key, value }) => key === "execution_status" && value === "finished"),
  );
  const app = `/api/v1/app-conversations/${id}`;
  await see("settings", "/api/settings");
  await see("user settings", "/api/v1/settings");
  await see("user", "/api/v1/users/me");
  await see("secrets", "/api/secrets");
  await see("secret search", "/api/v1/secrets/search");
  await see("start task", `/api/v1/app-conversations/start-tasks?ids=${task.id}`);
  await see("app conversation", `/api/v1/app-conversations?ids=${id}`);
  await see("conversation", `/api/conversations/${id}`);
  await see("events", `/api/conversations/${id}/events/search`);
  await see("app events", `/api/v1/conversation/${id}/events/search`);
  await see("sandbox", `/api/v1/sandboxes?id=${sandboxId}`);
  await see("an error of a body", "/api/v1/app-conversations", "POST", {
    secrets: { "bad name": canaries.conversationSecret },
  });
  await see("an error of a token", "/api/add-git-providers", "POST", {
    provider_tokens: { nobody: { token: canaries.githubToken } },
  });
  await see("an error of settings", "/api/settings", "POST", { llm_api_key: [canaries.llmKey] });
  await see("a start that fails", "/api/v1/app-conversations", "POST", {
    conversation_id: "0198c0de-0000-7000-8000-00000000fa11",
    sandbox_id: sandboxId,
    selected_repository: "nobody/nothing",
    git_provider: "github",
  });
  await failed("0198c0de-0000-7000-8000-00000000fa11");
  await see("its task", "/api/v1/app-conversations/start-tasks/search");
  seen.set("frames", socket.frames.join("\n"));
  seen.set("download", await unzipped(`${app}/download`));
  // What it still writes and removes is done then.
  await server.end("SIGTERM");
  seen.set("log", server.log);
  seen.set("files", filesBelow(server.folder));
  expect(seen.get("events 200")).toContain("I have seen it.");
  expect(seen.get("download")).toContain("I have seen it.");
  // The agent did print them: the mask stands in their places.
  expect(seen.get("events 200")!.split("<secret-hidden>").length).toBeGreaterThan(8);
  const leaks = [...seen].flatMap(([name, text]) =>
    Object.entries(canaries).flatMap(([place, value]) =>
      formsOf(value).some((form) => text.includes(form)) ? [`${place} in ${name}`] : [],
    ),
  );
  expect(leaks).toEqual([]);
});

/** The start cannot reach its repository and says so. */
async function failed(conversationId: string): Promise<void> {
  await expect
    .poll(
      async () => {
        const path = `/api/v1/app-conversations/start-tasks/search?conversation_id__eq=${conversationId}`;
        const { items } = (await server.call("GET", path)).json as { items: { status: string }[] };
        return items[0]?.status;
      },
      { timeout: 120_000 },
    )
    .toBe("ERROR");
}

function formsOf(value: string): string[] {
  const base64 = Buffer.from(value).toString("base64");
  return [value, base64, base64.replace(/=+$/, ""), Buffer.from(value).toString("hex"), value.slice(0, -3)];
}

/** The contents of all entries, which are all deflated. */
async function unzipped(path: string): Promise<string> {
  const reply = await fetch(`${server.url}${path}`, { headers: { "X-Session-API-Key": server.key } });
  const bytes = Buffer.from(await reply.arrayBuffer());
  const texts: string[] = [];
  // By the directory at the end: its headers know the lengths.
  for (let at = bytes.readUInt32LE(bytes.length - 6); bytes.readUInt32LE(at) === 0x0201_4b50;) {
    const local = bytes.readUInt32LE(at + 42);
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const content = bytes.subarray(start, start + bytes.readUInt32LE(at + 20));
    texts.push(inflateRawSync(content).toString("utf8"));
    at += 46 + bytes.readUInt16LE(at + 28);
  }
  return texts.join("\n");
}

/** Everything on the disk of the server: what is stored is sealed, what tools print is masked. */
function filesBelow(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .map((path) => readFileSync(path, "latin1"))
    .join("\n");
}
