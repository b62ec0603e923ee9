import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { ConvokeClient } from "@convoke/client";
import type { BrowserFrame } from "@convoke/protocol";
import { allowedEnvironment, defaultTools, findChromium, type BrowserUpdate } from "@convoke/tool-host";
import { BrowserPerson } from "@convoke/tool-host/testing/browser";
import { describe, expect, onTestFinished, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { until } from "../../../testing/until.ts";

const environment = allowedEnvironment(process.env);
const token = "s3cr3t-of-the-conversation-42";

const call = (name: string, given: Record<string, unknown>) => ({ tool_calls: [{ name, arguments: given }] });

async function create(server: TestServer, tools: readonly string[], secrets: object = {}): Promise<string> {
  const request = server.startRequest({ secrets } as object);
  const agent = { ...request.agent, tools: tools.map((name) => ({ name })) };
  const { id } = await server.client.startConversation({ ...request, agent });
  return id;
}

/** A page with a field at a fixed place. */
async function openPage(): Promise<string> {
  const page = createServer((_request, response) =>
    response
      .setHeader("content-type", "text/html")
      .end(
        `<title>Form</title><input oninput="document.title = this.value" aria-label="Key ${token}" style="position:absolute;left:20px;top:20px;width:200px;height:30px">`,
      ),
  );
  page.listen(0, "127.0.0.1");
  await once(page, "listening");
  onTestFinished(() => {
    page.closeAllConnections();
    page.close();
  });
  return `http://127.0.0.1:${(page.address() as AddressInfo).port}/form?step=1`;
}

async function openServer(turns: object[]): Promise<TestServer> {
  return await startTestServer({ script: { turns }, tools: defaultTools(), environment });
}

function personAt({ client }: { readonly client: ConvokeClient }, id: string): BrowserPerson {
  return new BrowserPerson((inputs, signal) => toUpdates(client.attachBrowser(id, { inputs, signal })));
}

async function* toUpdates(frames: AsyncIterable<BrowserFrame>): AsyncGenerator<BrowserUpdate> {
  for await (const frame of frames) {
    if (frame.type === "state") {
      const tabs = frame.tabs.map(({ is_front: isFront, ...tab }) => ({ ...tab, isFront }));
      yield { type: "state", isOpen: frame.is_open, tabs };
    } else if (frame.type === "lent") {
      yield { type: "lent", isLent: frame.is_lent, isYours: frame.is_yours };
    } else yield frame;
  }
}

async function actionsOf(server: TestServer, id: string): Promise<{ holder: string | null; text: string }[]> {
  return (await server.events(id)).flatMap((event) =>
    event.kind === "ConversationStateUpdateEvent" && event.key === "browser"
      ? [event.value as { holder: string | null; text: string }]
      : [],
  );
}

describe.skipIf(findChromium(environment) === null)(
  "the browser of an agent over a socket (needs Chromium)",
  () => {
    test("issue 11.2: a person watches, takes over when the agent is not at work, and the log and the model learn what they did", async () => {
      const url = await openPage();
      await using server = await openServer([
        call("browser_navigate", { url }),
        call("terminal", { command: "while [ ! -e go ]; do sleep 0.1; done" }),
        call("finish", { message: "Yours." }),
        call("browser_list_tabs", {}),
        call("finish", { message: "Done." }),
      ]);
      const secrets = { TOKEN: { kind: "StaticSecret", value: token } };
      const id = await create(server, ["browser_tool_set", "terminal"], secrets);
      await using person = personAt(server, id);
      await person.until(() => person.isOpen === false);
      await server.client.sendMessage(id, { content: [{ type: "text", text: "Begin." }], run: true });
      await person.until(() => person.front?.title === "Form" && person.pictures.length > 0);
      person.do({ type: "take" });
      await person.until(() => person.refusals.length === 1);
      expect(person.refusals[0]).toContain("The agent is at work. Pause it");
      await writeFile(join(server.workspaceDir, "go"), "");
      await server.waitForStatus(id, "finished");
      await person.take();
      await until(async () => (await actionsOf(server, id)).length === 1);
      person.click(100, 35);
      person.press("o", "p", "e", "n");
      await person.until(() => person.front?.title === "open");
      await person[Symbol.asyncDispose]();
      await until(async () => (await actionsOf(server, id)).length === 2);
      const [taken, given] = await actionsOf(server, id);
      expect(taken).toMatchObject({
        holder: "local",
        text: expect.stringContaining("took over the browser"),
      });
      expect(given).toMatchObject({ holder: null, text: expect.stringContaining("back to the agent") });
      // What a busy page does not name in time is called the page.
      expect(given!.text).toMatch(
        /they clicked (field "Key <secret-hidden>"|the page); typed 4 characters into (field|the page)/,
      );
      await server.client.sendMessage(id, { content: [{ type: "text", text: "Go on." }], run: true });
      await server.waitForStatus(id, "finished");
      const last = (await server.events(id)).findLast(
        (event) => event.kind === "ObservationEvent" && event.tool_name === "browser_list_tabs",
      );
      expect(JSON.stringify(last)).toMatch(
        /A person had the browser in between\. They clicked (field|the page)/,
      );
      expect(JSON.stringify(await server.events(id))).not.toContain(token);
    });

    test("P3: strangers, wrong keys and wrong frames are told what is wrong", async () => {
      await using server = await openServer([call("finish", { message: "." })]);
      const id = await create(server, ["browser_tool_set"]);
      const stranger = personAt({ client: new ConvokeClient({ baseUrl: server.url, apiKey: "wrong" }) }, id);
      await expect(stranger.left).rejects.toMatchObject({ status: 401 });
      const nowhere = personAt(server, "00000000-0000-4000-8000-000000000000");
      await expect(nowhere.left).rejects.toMatchObject({ status: 404 });
      await using person = personAt(server, id);
      person.do({ type: "take" });
      person.do({ type: "mouse", event: "down", x: -1, y: 0, button: "left", clicks: 1 });
      person.do({ type: "text", text: "early" });
      await person.until(() => person.refusals.length === 3);
      expect(person.refusals.join("\n")).toMatch(/no browser yet/);
      expect(person.refusals.join("\n")).toMatch(/x: /);
      expect(await actionsOf(server, id)).toEqual([]);
      const without = await create(server, ["terminal"]);
      const wanting = personAt(server, without);
      await wanting.until(() => wanting.refusals.length === 1);
      expect(wanting.refusals[0]).toContain("no tools of a browser");
    });
  },
);
