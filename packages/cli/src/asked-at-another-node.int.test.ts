import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { client, ndJsonStream, type SessionUpdate } from "@agentclientprotocol/sdk";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import {
  probePostgres,
  startPostgres,
  startTestServer,
  testedPrograms,
  TestSocket,
  type Reply,
  type Script,
  type TestPostgres,
  type TestServer,
} from "@convoke/server/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

const probe = probePostgres();
const on = (last_user_contains: string) => ({ match: { last_user_contains } });
const script: Script = {
  turns: [
    { ...on("#schema"), tool_calls: [{ name: "finish", arguments: { message: "Seven.", total: 7 } }] },
    { ...on("#hold"), tool_calls: [{ name: "terminal", arguments: { command: "hold" } }] },
    { text: "Yes." },
  ],
  loop: true,
};

// One node is asked, while the other one owns the conversation.
describe.skipIf(!probe.isUsable)(
  `a node that does not own the conversation, on PostgreSQL (${probe.detail})`,
  () => {
    let postgres: TestPostgres;
    let owner: TestServer;
    let asked: TestServer;
    beforeAll(async () => {
      postgres = await startPostgres();
      const database = { url: await postgres.createDatabase(), nodeAddress: null };
      const shared = { database, masterSecret: "the secret of both servers" };
      // Enough for what is asked there directly, and too little for what is forwarded, which counts where it was asked.
      owner = await startTestServer({
        script,
        config: { ...shared, rateLimits: { perKey: 20, perUser: null } },
      });
      asked = await startTestServer({ script, config: { ...shared, workspaceRoot: owner.workspaceDir } });
      const llm = {
        model: "openai/scripted",
        base_url: `${asked.model.url}/v1`,
        api_key: "k",
        num_retries: 0,
      };
      await asked.call("POST", "/api/profiles/quick", { llm: { ...llm, temperature: 0 } });
      await asked.call("POST", "/api/profiles/quick", { llm: { ...llm, temperature: 1 } });
    });
    afterAll(async () => {
      await asked[Symbol.asyncDispose]();
      await owner[Symbol.asyncDispose]();
      await postgres[Symbol.asyncDispose]();
    });

    /** A conversation that the other node has loaded. */
    async function ownedElsewhere(start: object = {}): Promise<string> {
      return (await owner.createConversation(start)).id;
    }

    const infoOf = async (id: string): Promise<Record<string, unknown>> =>
      (await asked.call("GET", `/api/conversations/${id}`)).json as Record<string, unknown>;

    async function post(id: string, path: string, body: object = {}): Promise<Reply> {
      const reply = await asked.call("POST", `/api/conversations/${id}/${path}`, body);
      expect([path, reply.status, reply.text]).toEqual([
        path,
        reply.status < 300 ? reply.status : 200,
        reply.text,
      ]);
      return reply;
    }

    const say = (text: string, more: object = {}) => ({
      role: "user",
      content: [{ type: "text", text }],
      run: true,
      ...more,
    });

    const environment = () => ({
      PATH: process.env["PATH"] ?? "",
      HOME: asked.folder,
      SESSION_API_KEY: asked.key,
      LLM_MODEL: "openai/scripted",
      LLM_API_KEY: "llm-key",
      LLM_BASE_URL: `${asked.model.url}/v1`,
    });

    test("/v1/responses goes on in a conversation of the other node, as one answer and as a stream", async () => {
      const id = await ownedElsewhere({ text: "begin" });
      await asked.waitForStatus(id, "finished");
      const respond = (more: object): Promise<Reply> =>
        asked.call("POST", "/v1/responses", {
          model: "openhands_quick",
          input: "go on",
          conversation: id,
          ...more,
        });
      const first = await respond({});
      expect(first.json, first.text).toMatchObject({ status: "completed", conversation: { id } });
      const stream = await respond({ stream: true });
      expect(stream.text).toContain("event: response.completed");
      const { id: responseId } = first.json as { id: string };
      for (const server of [asked, owner])
        expect((await server.call("GET", `/v1/responses/${responseId}`)).json).toMatchObject({
          id: responseId,
        });
    });

    test("the form of an answer, time limits and revisions of profiles reach the owner", async () => {
      const id = await ownedElsewhere();
      const schema = {
        type: "object",
        properties: { total: { type: "integer" } },
        required: ["total"],
        additionalProperties: false,
      };
      await post(id, "events", say("#schema", { response_schema: schema }));
      await asked.waitForStatus(id, "finished");
      const final = await asked.call("GET", `/api/conversations/${id}/agent_final_response`);
      expect(final.json).toMatchObject({ structured_output: { total: 7 } });
      await post(id, "switch_profile", { profile_name: "quick", profile_revision: 1 });
      const used = { model_profile: { name: "quick", revision: 1, is_pinned: true } };
      expect(await infoOf(id)).toMatchObject({ settings_used: used, agent: { llm: { temperature: 0 } } });
      expect((await owner.call("GET", "/api/profiles/quick/revisions/1")).json).toMatchObject({
        is_pinned: true,
      });
      await post(id, "limits", { max_conversation_seconds: 0.001 });
      await post(id, "events", say("too late"));
      await asked.waitForStatus(id, "error");
      const events = await asked.events(id);
      expect(events.findLast(({ kind }) => kind === "ConversationErrorEvent")).toMatchObject({
        code: expect.stringContaining("Time") as string,
      });
    });

    test("a visitor sees what the other node writes, up to the end of the link, until it is revoked there", async () => {
      const id = await ownedElsewhere({ text: "begin" });
      await asked.waitForStatus(id, "finished");
      type Link = { readonly id: string; readonly key: string };
      const share = async (body: object): Promise<Link> => (await post(id, "shares", body)).json as Link;
      const last = (await asked.events(id)).at(-1)!.id;
      const [whole, part] = [await share({}), await share({ up_to_event_id: last })];
      const read = (link: Link, path: string): Promise<Reply> =>
        asked.call("GET", `/api/conversations/${id}/${path}`, undefined, { "X-Session-API-Key": link.key });
      using live = new TestSocket(`${asked.url}/sockets/events/${id}`, {
        headers: { "X-Session-API-Key": whole.key },
      });
      await live.untilCount(1);
      await post(id, "events", say("later words"));
      await live.until((frames) => JSON.stringify(frames).includes("later words"));
      await asked.waitForStatus(id, "finished");
      for (const path of ["transcript", "outline", "events/search"]) {
        expect((await read(whole, path)).text, path).toContain("later words");
        expect((await read(part, path)).text, path).not.toContain("later words");
      }
      const path = `/api/conversations/${id}/shares/${whole.id}`;
      expect((await owner.call("DELETE", path)).status).toBe(204);
      expect((await live.closed).code).toBe(4001);
      await expect.poll(async () => (await read(whole, "outline")).status).toBe(401);
    });

    test("forwarded requests do not count at the other node", async () => {
      const id = await ownedElsewhere();
      for (let count = 0; count < 30; count += 1) await post(id, "events", say(`${count}`, { run: false }));
      expect(await asked.events(id)).not.toEqual([]);
    });

    test("convoke mcp sends to, waits for and stops a conversation of the other node", async () => {
      const id = await ownedElsewhere({ text: "begin" });
      await asked.waitForStatus(id, "finished");
      const mcp = new Client({ name: "other agent", version: "1.0.0" });
      const args = [
        testedPrograms().command,
        "mcp",
        "--server",
        asked.url,
        "--workspace",
        asked.workspaceDir,
      ];
      await mcp.connect(
        new StdioClientTransport({
          command: process.execPath,
          args: [...args, "--mode", "auto"],
          env: environment(),
        }),
      );
      onTestFinished(() => mcp.close());
      const call = async (name: string, given: object): Promise<unknown> =>
        (await mcp.callTool({ name, arguments: { id, ...given } })).structuredContent;
      await call("send_message", { message: "go on" });
      await expect
        .poll(() => call("wait_for_conversation", { timeout_s: 50 }))
        .toMatchObject({ status: "finished", answer: "Yes." });
      await call("send_message", { message: "#hold" });
      await expect.poll(() => owner.quickTools.started).toContain("hold");
      expect(await call("stop_conversation", {})).toMatchObject({ status: "paused" });
    });

    test("convoke acp loads a conversation of the other node and goes on in it", async () => {
      const id = await ownedElsewhere({ text: "begin" });
      await asked.waitForStatus(id, "finished");
      const child = spawn(process.execPath, [testedPrograms().command, "acp", "--server", asked.url], {
        env: environment(),
        stdio: ["pipe", "pipe", "inherit"],
      });
      onTestFinished(async () => {
        child.stdin.end();
        if (child.exitCode === null) await once(child, "exit");
      });
      const updates: SessionUpdate[] = [];
      const { agent } = client({ name: "editor" })
        .onNotification("session/update", ({ params }) => void updates.push(params.update))
        .connect(
          ndJsonStream(
            Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
            Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
          ),
        );
      await agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
      await agent.request("session/load", { sessionId: id, cwd: owner.workspaceDir, mcpServers: [] });
      expect(JSON.stringify(updates)).toContain("begin");
      const before = updates.length;
      const prompt = [{ type: "text" as const, text: "go on" }];
      const ended = await agent.request("session/prompt", { sessionId: id, prompt });
      expect(ended).toMatchObject({ stopReason: "end_turn" });
      expect(JSON.stringify(updates.slice(before))).toContain("Yes.");
    });
  },
);
