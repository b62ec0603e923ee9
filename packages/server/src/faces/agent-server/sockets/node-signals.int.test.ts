import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { probePostgres, startPostgres, type TestPostgres } from "../../../testing/start-postgres.ts";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { TestSocket } from "../../../testing/test-socket.ts";

const probe = probePostgres();
const longMs = 60_000;
const answer = "Here is an answer that comes in several pieces.";
const say = (text: string) => ({ content: [{ type: "text" as const, text }], run: true });

describe.skipIf(!probe.isUsable)(`signals between servers (${probe.detail})`, { timeout: 300_000 }, () => {
  let postgres: TestPostgres;
  let owner: TestServer;
  let other: TestServer;
  beforeAll(async () => {
    postgres = await startPostgres();
    const url = await postgres.createDatabase();
    const config = { database: { url, nodeAddress: null }, masterSecret: "the secret of all servers" };
    owner = await startTestServer({ script: { turns: [{ text: answer }], loop: true }, config });
    other = await startTestServer({ config: { ...config, workspaceRoot: owner.workspaceDir } });
  });
  afterAll(async () => {
    await other?.[Symbol.asyncDispose]();
    await owner?.[Symbol.asyncDispose]();
    await postgres?.[Symbol.asyncDispose]();
  });

  const follow = (server: TestServer, id: string, query: string): TestSocket =>
    new TestSocket(`${server.url}/sockets/events/${id}?resend_mode=all${query}`, {
      headers: { "x-session-api-key": server.key },
    });

  async function begin(): Promise<string> {
    const { agent } = owner.startRequest();
    const streaming = { ...agent, llm: { ...agent.llm, stream: true } };
    return await owner.runTo("finished", "Say something.", { agent: streaming });
  }

  async function askAgain(id: string): Promise<void> {
    await owner.client.sendMessage(id, say("Again."));
    await owner.waitForStatus(id, "finished", longMs);
  }

  test("P1, P27: an answer is streamed at a node that does not own the conversation", async () => {
    const id = await begin();
    using plain = follow(other, id, "");
    using items = follow(other, id, "&deltas=items");
    await plain.untilCount(1, longMs);
    await items.untilCount(1, longMs);
    // The first answers may come before the servers are connected.
    await expect
      .poll(
        async () => {
          await askAgain(id);
          return chunks(plain).length > 0 && endedAnswers(items).length > 0;
        },
        { timeout: longMs },
      )
      .toBe(true);
    const isLast = async (): Promise<boolean> => {
      const last = (await owner.events(id)).at(-1)!.id;
      return [plain, items].every(({ events }) => events.some((frame) => frame["id"] === last));
    };
    await expect.poll(isLast, { timeout: longMs }).toBe(true);
    expect(other.model.requests).toEqual([]);
    // Pieces of an answer come before the event that has all of it, and once.
    const [answerId] = endedAnswers(items);
    const parts = items.events.filter((frame) => frame["answer_id"] === answerId);
    expect(parts.map((frame) => frame["seq"])).toEqual(parts.map((_, index) => index + 1));
    expect(parts.map(({ text = "" }) => String(text)).join("")).toBe(answer);
    expect(answer).toContain(String(chunks(plain)[0]!["content"]));
    const stored = (await owner.events(id)).map((event) => event.id);
    for (const { events } of [plain, items]) {
      const seen = events.flatMap((frame) => (stored.includes(String(frame["id"])) ? [frame["id"]] : []));
      expect(seen).toEqual(stored);
    }
  });

  test("P3: only nodes may subscribe to another node's signals", async () => {
    for (const headers of [{}, { "x-session-api-key": owner.key }, { "x-convoke-node": "e30.AAAA" }]) {
      const status = await new Promise<number>((resolve) => {
        const socket = new WebSocket(`${owner.url.replace("http", "ws")}/sockets/nodes`, { headers });
        socket.once("unexpected-response", (request, response) => {
          request.destroy();
          resolve(response.statusCode ?? 0);
        });
        socket.once("open", () => resolve(101));
        socket.on("error", () => {});
      });
      expect(status).toBe(401);
    }
  });

  test("a server that ends leaves the sockets of other servers open", async () => {
    const id = await begin();
    using socket = follow(other, id, "");
    await socket.untilCount(1, longMs);
    await owner.restart();
    await expect
      .poll(
        async () => {
          await askAgain(id);
          return chunks(socket).length;
        },
        { timeout: longMs },
      )
      .toBeGreaterThan(0);
  });
});

function chunks({ events }: TestSocket): Record<string, unknown>[] {
  return events.filter(({ kind }) => kind === "StreamingDeltaEvent");
}

function endedAnswers({ events }: TestSocket): unknown[] {
  return events.flatMap((frame) =>
    frame["kind"] === "AnswerEnd" && isWhole(events, frame["answer_id"]) ? [frame["answer_id"]] : [],
  );
}

function isWhole(events: readonly Record<string, unknown>[], answerId: unknown): boolean {
  const parts = events.filter((frame) => frame["answer_id"] === answerId);
  return parts.at(0)?.["seq"] === 1 && parts.at(-1)?.["seq"] === parts.length;
}
