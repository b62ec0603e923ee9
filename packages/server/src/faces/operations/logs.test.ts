import { noCallListener } from "../../http/observe-requests.ts";
import { expect, test } from "vitest";
import { createGuard } from "../../http/guard.ts";
import { openHttp } from "../../http/open-http.ts";
import { startTestServer } from "../../testing/start-server.ts";
import { TestSocket } from "../../testing/test-socket.ts";
import { until } from "../../testing/until.ts";
import { createJoinedLogger } from "../../observability/joined-logger.ts";
import { Observer } from "../../observability/observer.ts";

test("P53: a request that fails inside leaves a line with its error id and its request id", async () => {
  const lines: Record<string, unknown>[] = [];
  const write = (fields: object): void => void lines.push({ ...fields });
  const observer = new Observer();
  const logger = createJoinedLogger({ info: write, warn: write, error: write }, observer);
  const guard = createGuard({ boundHost: "127.0.0.1", allowedHosts: [], allowedOrigins: [] });
  const app = await openHttp({ guard, logger, observer, calls: noCallListener });
  app.get("/bug", async () => {
    logger.warn({ about: "before" }, "on the way");
    await Promise.resolve();
    throw new Error("a bug of ours");
  });
  const reply = await app.inject({ url: "/bug?session_api_key=canary", headers: { host: "127.0.0.1" } });
  await app.close();
  const { error_id: errorId } = reply.json<{ error_id: string }>();
  const [before, failed] = lines;
  expect(failed).toMatchObject({ errorId, requestId: before!["requestId"] });
  expect(before!["requestId"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(JSON.stringify(lines)).not.toContain("canary");
});

test("lines of one run share its ids: request, run, model calls, tools, and failures between them", async () => {
  await using server = await startTestServer({
    script: {
      turns: [
        { tool_calls: [{ name: "terminal", arguments: { command: "echo canary-argument" } }] },
        { error: { status: 503, message: "canary-failure" } },
      ],
    },
  });
  const { agent, ...start } = server.startRequest();
  const llm = { ...agent.llm, num_retries: 2, retry_min_wait: 0, retry_max_wait: 0, retry_multiplier: 0 };
  const id = await server.runTo("error", "canary-question", {
    ...start,
    agent: { ...agent, llm },
  });
  await until(() => server.log.some(({ message }) => message === "run"));
  const linesOf = (message: string): Record<string, unknown>[] =>
    server.log.flatMap((line) => (line.message === message ? [{ ...line.fields }] : []));
  const [run] = linesOf("run");
  const created = linesOf("request").find(({ route }) => route === "/api/conversations");
  expect(created).toMatchObject({ method: "POST", status: 201, requestId: run!["requestId"] });
  const parts = [...linesOf("model call"), ...linesOf("tool"), ...linesOf("model call failed, trying again")];
  expect(parts).toHaveLength(4);
  for (const line of parts) {
    expect(line).toMatchObject({ requestId: run!["requestId"], run: run!["run"], conversation: id });
  }
  const text = JSON.stringify(server.log);
  for (const hidden of ["canary", server.key, "llm-key"]) expect(text).not.toContain(hidden);
});

test("P32: the line of a socket whose address has a key is without it", async () => {
  await using server = await startTestServer({});
  const { id } = await server.createConversation();
  {
    using socket = new TestSocket(`${server.url}/sockets/events/${id}?session_api_key=${server.key}`);
    await socket.untilCount(1);
  }
  await server.call("GET", `/nowhere?session_api_key=${server.key}`);
  const nowhere = () => server.log.find(({ fields }) => "route" in fields && fields.route === "unknown");
  // A line is written when the last byte of its answer has been handed over, which may be after it was read.
  await until(() => nowhere() !== undefined);
  expect(nowhere()).toMatchObject({ fields: { status: 404 } });
  expect(JSON.stringify(server.log)).not.toContain(server.key);
});
