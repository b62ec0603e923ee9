import { expect, test } from "vitest";
import { Event } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import { defaultTools, readProcess } from "@convoke/tool-host";
import { startTestServer, type TestServer } from "../testing/start-server.ts";
import { until } from "../testing/until.ts";

const call = (name: string, given: Record<string, unknown>) => ({ tool_calls: [{ name, arguments: given }] });

async function openServer(turns: object[], idleSeconds?: number): Promise<TestServer> {
  return await startTestServer({
    script: { turns },
    tools: defaultTools(),
    environment: { PATH: process.env["PATH"] ?? "" },
    ...(idleSeconds === undefined ? {} : { config: { conversationIdleSeconds: idleSeconds } }),
  });
}

function withTerminals(server: TestServer): object {
  const { agent } = server.startRequest();
  return { agent: { ...agent, tools: [{ name: "terminal" }, { name: "terminal_tool_set" }] } };
}

const texts = (events: readonly unknown[]): string[] =>
  (events as { observation?: { content?: { text?: string }[] } }[]).flatMap(({ observation }) =>
    observation === undefined ? [] : [(observation.content ?? []).map(({ text }) => text ?? "").join("")],
  );

test("issue 11.4: an agent starts, reads and stops a command in a terminal with a name, in kinds that every client knows", async () => {
  await using server = await openServer([
    call("terminal_run", { terminal: "dev", command: "echo up; exec sleep 300", background: true }),
    call("terminal", { command: "echo meanwhile" }),
    call("terminal_output", { terminal: "dev", cursor: 0 }),
    call("terminal_list", {}),
    call("terminal_stop", { terminal: "dev" }),
    call("terminal_run", { terminal: "dev", command: 5 }),
    call("finish", { message: "Done." }),
  ]);
  const id = await server.runTo("finished", "Start it.", withTerminals(server));
  const events = await server.events(id);
  const validator = createValidator();
  for (const event of events)
    expect(validator.check(Event, structuredClone(event))).toMatchObject({ ok: true });
  const kinds = events.flatMap((event) => (event.kind === "ActionEvent" ? [event.action?.kind] : []));
  expect(new Set(kinds)).toEqual(new Set(["MCPToolAction", "TerminalAction", "FinishAction"]));
  const [started, meanwhile, output, list, stopped] = texts(events);
  expect(started).toContain("up");
  expect(meanwhile).toBe("meanwhile");
  expect(output).toContain("$ echo up; exec sleep 300\nup\n");
  expect(list).toMatch(/^dev: running for \d+ s/);
  expect(stopped).toContain("Stopped: echo up");
  const refused = events.find(({ kind }) => kind === "AgentErrorEvent");
  expect(refused).toMatchObject({ error: expect.stringContaining("command: must be text") as unknown });
});

test("issue 11.4: a conversation whose command goes on stays open when nobody uses it, others are evicted", async () => {
  await using server = await openServer(
    [
      {
        match: { last_user_contains: "Start it." },
        ...call("terminal_run", { terminal: "dev", command: "sleep 300", background: true }),
      },
      {
        match: { last_user_contains: "Start another." },
        ...call("terminal", { command: "sleep 300 & echo pid:$!" }),
      },
      { match: { last_user_contains: "And?" }, ...call("terminal_list", {}) },
      ...["Start it.", "Start another.", "And?"].map((order) => ({
        match: { last_user_contains: order },
        ...call("finish", { message: "Done." }),
      })),
    ],
    1,
  );
  const conversationId = await server.runTo("finished", "Start it.", withTerminals(server));
  const other = await server.runTo("finished", "Start another.", withTerminals(server));
  const pid = Number(/pid:(\d+)/.exec(texts(await server.events(other)).join("\n"))?.[1]);
  expect(pid).toBeGreaterThan(1);
  // The one that was used later is evicted; the other would have been before.
  await until(() => readProcess(pid) === undefined);
  await server.client.sendMessage(conversationId, { content: [{ type: "text", text: "And?" }], run: true });
  await until(async () =>
    texts(await server.events(conversationId)).some((text) => text.startsWith("dev: running for")),
  );
});
