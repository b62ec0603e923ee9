import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { defaultTools } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { findBubblewrap, ownAccount } from "../sandboxes/find-bubblewrap.ts";
import { startTestServer, type TestServer } from "./start-server.ts";
import { withWalls } from "./walled-server.ts";

const probe = await findBubblewrap({
  self: ownAccount(),
  unprivileged: { uid: 65_534, gid: 65_534 },
  environment: process.env,
});

async function openSite() {
  const paths: (string | undefined)[] = [];
  const site = createServer(({ url }: IncomingMessage, response) => {
    paths.push(url);
    response.end("the data");
  });
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  const { port } = site.address() as AddressInfo;
  const close = (): void => void site.close();
  return { host: `127.0.0.1:${port}`, paths, [Symbol.dispose]: close };
}

test.skipIf(!probe.isUsable)(
  `a refused host is asked for, approved over the API and reached, also after a restart (needs a working bubblewrap: ${probe.detail})`,
  { timeout: 120_000 },
  async () => {
    using site = await openSite();
    const command = (path: string) => ({
      tool_calls: [
        {
          name: "terminal",
          arguments: {
            command: `curl -sS -m 10 --noproxy '' -x http://127.0.0.1:3128 http://${site.host}/${path}`,
          },
        },
      ],
    });
    const ask = {
      name: "request_network",
      arguments: { hosts: [site.host], reason: "The data is there." },
    };
    await using server = await startTestServer({
      script: {
        select: "in_order",
        turns: [
          command("first"),
          { tool_calls: [ask] },
          command("second"),
          { text: "Done." },
          command("third"),
          { text: "Done." },
        ],
      },
      tools: defaultTools(),
      ...withWalls(),
    });
    const { agent } = server.startRequest();
    const id = await server.runTo("waiting_for_confirmation", "Get the data.", {
      agent: { ...agent, tools: [{ name: "terminal" }] },
    });
    expect(await outputs(server, id)).toEqual([
      expect.stringContaining("was refused (no rule). Ask for it with request_network."),
    ]);
    expect(site.paths).toEqual([]);
    const [waiting] = (
      (await server.call("GET", `/api/conversations/${id}/approvals`)).json as {
        items: { action_id: string }[];
      }
    ).items;
    const answers = [{ action_id: waiting!.action_id, accept: true }];
    await server.call("POST", `/api/conversations/${id}/approvals`, { answers });
    await server.waitForStatus(id, "finished");
    expect(site.paths).toEqual(["/second"]);
    expect((await outputs(server, id)).at(-1)).toContain("the data");
    expect((await server.call("GET", `/api/conversations/${id}/network`)).json).toMatchObject({
      hosts: [{ host: "127.0.0.1", requests: 1, refusals: 1, received_bytes: 8 }],
    });
    await server.restart();
    await server.client.sendMessage(id, { content: [{ type: "text", text: "Again." }], run: true });
    await server.waitForStatus(id, "finished");
    expect(site.paths).toEqual(["/second", "/third"]);
  },
);

async function outputs(server: TestServer, id: string): Promise<string[]> {
  const events = await server.events(id);
  return events.filter(({ kind }) => kind === "ObservationEvent").map((event) => JSON.stringify(event));
}
