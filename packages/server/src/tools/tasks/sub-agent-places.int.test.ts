import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { defaultTools, findChromium } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { readIfThere } from "../../lib/read-if-there.ts";
import { checkLeaksAfterEach } from "../../testing/check-leaks.ts";
import type { ScriptTurn } from "../../testing/scripted-model/script.ts";
import { startTestServer } from "../../testing/start-server.ts";

checkLeaksAfterEach();

const order = "Have both looked at.";
const parts = ["one", "two"] as const;
const tools = [{ name: "terminal" }, { name: "browser_tool_set" }];

function say(name: string, given: Record<string, unknown>): Pick<ScriptTurn, "tool_calls"> {
  return { tool_calls: [{ name, arguments: given }] };
}

/** Goes to where it gets a cookie, to where it shows which it has, and marks its shell before and after. */
function visits(url: string, who: string): Pick<ScriptTurn, "tool_calls">[] {
  return [
    say("terminal", { command: `mkdir -p ${who} && cd ${who} && me=${who}` }),
    say("browser_navigate", { url: `${url}/mark?who=${who}` }),
    say("browser_navigate", { url: `${url}/show?who=${who}` }),
    say("terminal", { command: `echo "$me in \${PWD##*/}" >> ../ran.log` }),
  ];
}

const chromium = findChromium(process.env);

test.skipIf(chromium === null)(
  "issue 11.5: needs Chromium: two sub-agents at once have each a browser context and a terminal of their own, and their parent has others",
  async () => {
    await using site = await openSite();
    const parent = { match: { last_user_contains: order } };
    const turns = [
      { ...parent, ...say("terminal", { command: "me=parent" }) },
      { ...parent, ...say("browser_navigate", { url: `${site.url}/mark?who=parent` }) },
      {
        ...parent,
        tool_calls: parts.map((part) => ({
          name: "task",
          arguments: { prompt: `Look at ${part}.`, subagent_type: "looker" },
        })),
      },
      { ...parent, ...say("browser_navigate", { url: `${site.url}/show?who=parent` }) },
      { ...parent, ...say("terminal", { command: `echo "$me in \${PWD##*/}" >> ran.log` }) },
      { ...parent, ...say("finish", { message: "Both are looked at." }) },
      ...parts.flatMap((part) =>
        [...visits(site.url, part), say("finish", { message: `Saw ${part}.` })].map((turn) => ({
          match: { last_user_contains: `Look at ${part}.` },
          ...turn,
        })),
      ),
    ];
    await using server = await startTestServer({
      script: { turns },
      tools: defaultTools(),
      environment: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "/tmp" },
    });
    await mkdir(server.workspaceDir, { recursive: true });
    const { agent } = server.startRequest();
    const { id } = await server.createConversation({
      text: order,
      agent: { ...agent, tools: [...tools, { name: "task_tool_set" }] },
      agent_definitions: [{ name: "looker", tools: tools.map(({ name }) => name) }],
    });
    await server.waitForStatus(id, "finished", 100_000);
    // Both were there at once, or the site would not have answered either.
    expect(site.shown).toEqual({ one: "who=one", two: "who=two", parent: "who=parent" });
    expect(site.maxAtOnce).toBe(2);
    const ran = (await readIfThere(join(server.workspaceDir, "ran.log"))) ?? "";
    const lines = ran.split("\n").filter((line) => line !== "");
    expect(lines.toSorted()).toEqual(["one in one", "parent in work", "two in two"]);
  },
);

/** `/mark` gives a cookie, to the parts only when all of them have asked; `/show` takes down which cookies came. */
async function openSite() {
  const shown: Record<string, string> = {};
  const waiting = new Set<string>();
  const all = Promise.withResolvers<void>();
  const site = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://site");
    const who = searchParams.get("who") ?? "";
    const answer = (): void => {
      if (pathname === "/mark") response.setHeader("Set-Cookie", `who=${who}; Path=/`);
      if (pathname === "/show") shown[who] = request.headers.cookie ?? "";
      response.setHeader("Content-Type", "text/html").end(`<title>${who}</title><p>Page of ${who}.</p>`);
    };
    if (pathname !== "/mark" || who === "parent") return answer();
    waiting.add(who);
    if (waiting.size === parts.length) all.resolve();
    void all.promise.then(answer);
  });
  await once(site.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(site.address() as AddressInfo).port}`,
    shown,
    get maxAtOnce() {
      return waiting.size;
    },
    [Symbol.asyncDispose]: async () => {
      all.resolve();
      site.closeAllConnections();
      await once(site.close(), "close");
    },
  };
}
