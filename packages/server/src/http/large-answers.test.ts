import { connect, type Socket } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { startTestServer } from "../testing/start-server.ts";
import { until } from "../testing/until.ts";
import { LargeAnswers } from "./large-answers.ts";

afterEach(() => void vi.useRealTimers());
const large = 2_000_000;

test("hardening 12: unread large answers delay only their own user, who is refused after a timeout", async () => {
  vi.useFakeTimers();
  const answers = new LargeAnswers({ maxAtWork: 3, maxUntaken: 2, maxWaiting: 2, maxWaitMs: 1_000 });
  const [first, second] = [await answers.begin("ann"), await answers.begin("ann")];
  first.made(large);
  second.made(large);
  const waits = answers.begin("ann");
  const late = answers.begin("ann");
  await expect(answers.begin("ann")).rejects.toMatchObject({ code: "too_many_answers" });
  (await answers.begin("bob")).made(large);
  first.taken();
  first.taken();
  (await waits).made(10);
  (await late).made(large);
  const refused = answers.begin("ann");
  const refusal = expect(refused).rejects.toMatchObject({ code: "too_many_answers" });
  await vi.advanceTimersByTimeAsync(1_000);
  await refusal;
  second.taken();
  (await answers.begin("ann")).made(10);
});

test("hardening 12: small answers delay nobody", async () => {
  const answers = new LargeAnswers({ maxAtWork: 2, maxUntaken: 1 });
  for (let times = 0; times < 100; times++) {
    const passes = await Promise.all([answers.begin("ann"), answers.begin("ann")]);
    for (const pass of passes) pass.made(1_000);
  }
});

test("hardening 12: 50 clients that ask for a large page and do not read keep neither memory nor others", async () => {
  await using server = await startTestServer({ script: { turns: [] } });
  const { id } = await server.createConversation();
  for (let times = 0; times < 10; times++)
    await server.client.sendMessage(id, {
      content: [{ type: "text", text: "x".repeat(2_000_000) }],
      run: false,
    });
  const path = `/api/conversations/${id}/events/search?limit=100`;
  const { port } = new URL(server.url);
  const memory = process.memoryUsage().rss;
  const sockets: Socket[] = Array.from({ length: 50 }, () => {
    const socket = connect(Number(port), "127.0.0.1");
    socket.pause();
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Session-API-Key: ${server.key}\r\n\r\n`,
    );
    return socket;
  });
  const before = performance.now();
  expect((await fetch(`${server.url}/alive`)).status).toBe(200);
  expect((await server.call("GET", `/api/conversations/${id}`)).status).toBe(200);
  expect(performance.now() - before).toBeLessThan(5_000);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(process.memoryUsage().rss - memory).toBeLessThan(500_000_000);
  for (const socket of sockets) socket.destroy();
  await until(async () => (await server.call("GET", path)).status === 200);
});
