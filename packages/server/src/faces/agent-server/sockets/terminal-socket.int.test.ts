import { allowedEnvironment, defaultTools } from "@convoke/tool-host";
import { XtermPerson } from "@convoke/tool-host/testing";
import type { TerminalFrame } from "@convoke/protocol";
import type { TerminalUpdate } from "@convoke/tool-host";
import { ConvokeClient } from "@convoke/client";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { until } from "../../../testing/until.ts";

const call = (name: string, given: Record<string, unknown>) => ({ tool_calls: [{ name, arguments: given }] });
const token = "s3cr3t-of-the-conversation-42";

async function openServer(turns: object[]): Promise<TestServer> {
  return await startTestServer({
    script: { turns },
    tools: defaultTools(),
    environment: allowedEnvironment(process.env),
  });
}

function personAt(
  { client }: TestServer | { client: ConvokeClient },
  id: string,
  terminal?: string,
): XtermPerson {
  return new XtermPerson((inputs, signal) =>
    toUpdates(
      client.attachTerminal(id, {
        inputs,
        signal,
        ...(terminal === undefined ? {} : { terminal }),
      }),
    ),
  );
}

async function* toUpdates(frames: AsyncIterable<TerminalFrame>): AsyncGenerator<TerminalUpdate> {
  for await (const frame of frames) {
    if (frame.type !== "screen" && frame.type !== "lent") yield frame;
    else yield { ...frame, isLent: frame.is_lent, isYours: frame.is_yours };
  }
}

async function holders(server: TestServer, id: string): Promise<unknown[]> {
  return (await server.events(id)).flatMap((event) =>
    event.kind === "ConversationStateUpdateEvent" && event.key === "terminal" ? [event.value] : [],
  );
}

test("issue 11.4: a person takes the agent's terminal over a socket, works in it and gives it back; the log tells who had it and when", async () => {
  await using server = await openServer([
    call("terminal", { command: "here=agent; echo said by $here" }),
    call("finish", { message: "Yours." }),
    call("terminal", { command: "echo then $here" }),
    call("finish", { message: "Done." }),
  ]);
  const id = await server.runTo("finished", "Begin.");
  await using person = personAt(server, id);
  await person.sees("said by agent");
  await person.take({ columns: 100, rows: 30 });
  await person.sees(/[$#]$/m);
  person.press("here=person; stty size\r");
  await person.sees(/^30 100$/m);
  const listed = await server.call("GET", `/api/conversations/${id}/terminals`);
  expect(listed.json).toMatchObject({ items: [{ name: "main", is_lent: true }] });
  expect(await holders(server, id)).toMatchObject([{ terminal: "main", holder: "local" }]);
  await server.client.sendMessage(id, { content: [{ type: "text", text: "Go on." }], run: true });
  await until(
    async () => (await server.events(id)).filter(({ kind }) => kind === "ActionEvent").length === 3,
  );
  expect((await server.client.getConversation(id)).execution_status).toBe("running");
  await person.give();
  await server.waitForStatus(id, "finished");
  const last = (await server.events(id)).findLast(
    (event) => event.kind === "ObservationEvent" && event.tool_name === "terminal",
  );
  expect(JSON.stringify(last)).toContain("then person");
  expect(await holders(server, id)).toMatchObject([
    { holder: "local", text: expect.stringContaining("took the terminal main") as string },
    { holder: null, user_id: "local", text: expect.stringContaining("back to the agent") as string },
  ]);
});

test("issue 11.4: a person who is cut off has given it back, and the log says so", async () => {
  await using server = await openServer([
    call("terminal", { command: "true" }),
    call("finish", { message: "." }),
  ]);
  const id = await server.runTo("finished", "Begin.");
  const person = personAt(server, id);
  await person.take();
  await person[Symbol.asyncDispose]();
  await until(async () => (await holders(server, id)).length === 2);
  const { json } = await server.call("GET", `/api/conversations/${id}/terminals`);
  expect(json).toMatchObject({ items: [{ is_lent: false }] });
});

test("P13: secrets do not come over the socket, neither those of commands nor those that no command has named", async () => {
  await using server = await openServer([
    call("terminal", { command: "true" }),
    call("finish", { message: "." }),
  ]);
  const id = await server.runTo("finished", "Begin.", {
    secrets: { TOKEN: { kind: "StaticSecret", value: token } },
  } as object);
  await using person = personAt(server, id);
  await person.take({ columns: 150, rows: 30 });
  await person.sees(/[$#]$/m);
  person.press("s");
  await person.sees(/[$#] s$/m);
  person.press(
    `eq 2; a=${token.slice(0, 12)}; b=${token.slice(12)}; echo $a$b; echo $(echo -n $a$b | base64); echo the end\r`,
  );
  await person.sees(/^the end$/m);
  expect(person.received).not.toContain(token);
  expect(person.received).not.toContain(Buffer.from(token).toString("base64"));
  expect(person.received).toContain("<secret-hidden>");
  await using later = personAt(server, id);
  await later.sees("the end");
  expect(later.received).not.toContain(token);
});

test("P3: strangers, wrong keys and wrong frames are told what is wrong", async () => {
  await using server = await openServer([
    call("terminal", { command: "true" }),
    call("finish", { message: "." }),
  ]);
  const id = await server.runTo("finished", "Begin.");
  const stranger = personAt({ client: new ConvokeClient({ baseUrl: server.url, apiKey: "wrong" }) }, id);
  await expect(stranger.left).rejects.toMatchObject({ status: 401 });
  const nowhere = personAt(server, "00000000-0000-4000-8000-000000000000");
  await expect(nowhere.left).rejects.toMatchObject({ status: 404 });
  await using person = personAt(server, id, "dev");
  await person.until(() => person.updates.length === 1);
  expect(person.updates).toMatchObject([{ type: "refused" }]);
});
