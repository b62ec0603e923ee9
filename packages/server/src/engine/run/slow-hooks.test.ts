import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";
import { until } from "../../testing/until.ts";

const question = "Judge this step.";

/** The model answers what it is asked to do, and never what a hook asks it. */
const script = {
  turns: [
    { match: { last_user_contains: question }, hang: true },
    {
      match: { last_user_contains: "work" },
      tool_calls: [{ name: "terminal", arguments: { command: "a" } }],
    },
    { text: "Done." },
  ],
  loop: true,
};

const hooked = (moment: string): object => ({
  hook_config: { [moment]: [{ matcher: "*", hooks: [{ type: "prompt", prompt: question, timeout: 600 }] }] },
});

const isHookAsked = (server: TestServer): boolean =>
  server.model.requests.some(({ text }) => text.includes(question));

test.for(["pre_tool_use", "post_tool_use", "stop"] as const)(
  "L23.17, L23.18: a %s hook that never answers delays no other conversation, and nothing that its own is asked",
  async (moment) => {
    await using server = await startTestServer({ script });
    const { id } = await server.createConversation({ ...hooked(moment), text: "work" });
    await until(() => isHookAsked(server));
    await server.runTo("finished", "hello");
    for (const path of ["", "/events/search", "/events/count"])
      expect((await server.call("GET", `/api/conversations/${id}${path}`)).status).toBe(200);
    await server.client.sendMessage(id, { content: [{ type: "text", text: "by the way" }], run: false });
    expect((await server.client.getConversation(id)).execution_status).toBe("running");
    await server.client.pause(id);
    expect((await server.client.getConversation(id)).execution_status).toBe("paused");
    expect((await server.call("POST", `/api/conversations/${id}/interrupt`)).status).toBe(200);
    const tools = moment === "pre_tool_use" ? [] : ["a"];
    expect(server.quickTools.started).toEqual(tools);
    // Nothing holds on to the hook: the next run begins at once.
    expect((await server.call("POST", `/api/conversations/${id}/run`)).status).toBe(200);
  },
);

test("L23.17, L23.18: while a hook thinks about a message, its conversation takes commands and others work", async () => {
  await using server = await startTestServer({ script });
  const { id } = await server.createConversation(hooked("user_prompt_submit"));
  // Cut off by the end of the server.
  const sent = server
    .call("POST", `/api/conversations/${id}/events`, {
      role: "user",
      content: [{ type: "text", text: "work" }],
      run: true,
    })
    .catch(() => null);
  await until(() => isHookAsked(server));
  await server.runTo("finished", "hello");
  for (const path of ["", "/events/search", "/events/count"])
    expect((await server.call("GET", `/api/conversations/${id}${path}`)).status).toBe(200);
  for (const command of ["pause", "interrupt", "stop"])
    expect((await server.call("POST", `/api/conversations/${id}/${command}`)).status, command).toBe(200);
  expect((await server.events(id)).filter(({ kind }) => kind === "MessageEvent")).toEqual([]);
  await server.close();
  await sent;
});
