import { browserToolSetName, facesOf, defaultTools, type ToolSet } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";
import { isOnDemand } from "./browser-on-demand.ts";

/** The real tools as they are listed, over no browser: nothing is done with it here. */
const browser = defaultTools().find((tool) => tool.name === browserToolSetName)! as ToolSet;
const listed: ToolSet = {
  name: browserToolSetName,
  faces: browser.faces,
  open: async () => ({
    execute: async () => {
      throw new Error("There is no browser.");
    },
    [Symbol.asyncDispose]: async () => {},
  }),
};
const fourteen = facesOf(listed).map(({ name }) => name);

const ask = { tool_calls: [{ name: browserToolSetName, arguments: {} }] };
const done = { text: "Done." };

test("the tools of a browser on demand are listed from the call for them on, also after a restart and in a fork", async () => {
  await using server = await startTestServer({
    script: { turns: [done, ask, done, done, done, done], select: "in_order", unique_ids: true },
    tools: [listed],
  });
  const id = await runTo(server, { on_demand: true });
  expect(browserTools(server)).toEqual([browserToolSetName]);
  await send(server, id);
  expect(server.model.requests).toHaveLength(3);
  expect(browserTools(server)).toEqual(fourteen);
  const events = await server.events(id);
  expect(events).toContainEqual(
    expect.objectContaining({ action: { kind: "BrowserAction" }, tool_name: browserToolSetName }),
  );
  await server.restart();
  await send(server, id);
  expect(browserTools(server)).toEqual(fourteen);
  const fork = await server.call("POST", `/api/conversations/${id}/fork`, {});
  await send(server, (fork.json as { id: string }).id);
  expect(browserTools(server)).toEqual(fourteen);
  // Nobody asked for it here.
  await runTo(server, { on_demand: true });
  expect(browserTools(server)).toEqual([browserToolSetName]);
});

test("without the parameter they are listed from the start, and there is nothing to ask for", async () => {
  await using server = await startTestServer({ script: { turns: [done] }, tools: [listed] });
  await runTo(server, {});
  expect(browserTools(server)).toEqual(fourteen);
  const agent = (on_demand: unknown) =>
    ({ agent: { llm: {}, tools: [{ name: "BrowserToolSet", params: { on_demand } }] } }) as never;
  expect([true, "true", false].map((value) => isOnDemand(agent(value)))).toEqual([true, false, false]);
});

async function runTo(server: TestServer, params: object): Promise<string> {
  const { agent } = server.startRequest();
  return await server.runTo("finished", "Go.", {
    agent: { ...agent, tools: [{ name: browserToolSetName, params }] } as typeof agent,
  });
}

async function send(server: TestServer, id: string): Promise<void> {
  await server.client.sendMessage(id, {
    role: "user",
    content: [{ type: "text", text: "More." }],
    run: true,
  });
  await server.waitForStatus(id, "finished");
}

/** Those of the newest request. */
function browserTools(server: TestServer): string[] {
  const { body } = server.model.requests.at(-1)!;
  const tools = (body as { tools: { function: { name: string } }[] }).tools;
  return tools.map((tool) => tool.function.name).filter((name) => name.startsWith("browser_"));
}
