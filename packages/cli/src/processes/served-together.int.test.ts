import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ConvokeClient } from "@convoke/client";
import { startScriptedModel, type ScriptedModelServer } from "@convoke/server/testing";
import { expect, test, vi } from "vitest";
import { TogetherCommand } from "../testing/together-command.ts";

const pollOptions = { timeout: 90_000, interval: 50 };

async function startConversation(
  served: TogetherCommand,
  model: ScriptedModelServer,
  text: string | null = "Work.",
) {
  const { json } = await served.ask("POST", "/api/conversations", {
    agent: {
      kind: "Agent",
      llm: { model: "openai/scripted", base_url: `${model.url}/v1`, api_key: "llm-key" },
      tools: [{ name: "terminal" }],
    },
    workspace: { kind: "LocalWorkspace", working_dir: served.workDir },
    ...(text === null ? {} : { initial_message: { content: [{ type: "text", text }], run: true } }),
  });
  return (json as { id: string }).id;
}

/** What a follower is told of, until `isEnough`; each client is led to another process. */
async function followUntil(
  served: TogetherCommand,
  id: string,
  isLast: (event: Record<string, unknown>) => boolean,
) {
  const client = new ConvokeClient({ baseUrl: served.url, apiKey: served.key });
  const seen: Record<string, unknown>[] = [];
  const stop = AbortSignal.timeout(pollOptions.timeout);
  for await (const item of client.follow(id, { afterEventId: null, signal: stop })) {
    if (item.type !== "event") continue;
    const event = JSON.parse(item.json) as Record<string, unknown>;
    seen.push(event);
    if (isLast(event)) return seen;
  }
  throw new Error("The last event did not come.");
}

async function storedIds(served: TogetherCommand, id: string): Promise<string[]> {
  const ids: string[] = [];
  let next = "";
  for (;;) {
    const { json } = await served.ask("GET", `/api/conversations/${id}/events/search?limit=100${next}`);
    const page = json as { items: { id: string }[]; next_page_id: string | null };
    ids.push(...page.items.map((event) => event.id));
    if (page.next_page_id === null) return ids;
    next = `&page_id=${page.next_page_id}`;
  }
}

test("three processes: whichever is asked answers for all conversations, and followers at each get the log, whole and in order", async () => {
  await using model = await startScriptedModel({ script: { turns: [{ text: "Said." }], loop: true } });
  await using served = await TogetherCommand.start({ processes: 3 });
  expect(served.processes()).toHaveLength(3);
  const { json: nodes } = await served.ask("GET", "/api/nodes");
  const addresses = (nodes as { nodes: { address: string }[] }).nodes.map(({ address }) => address);
  expect(new Set(addresses).size).toBe(3);
  const ids: string[] = [];
  for (const _ of [1, 2, 3]) ids.push(await startConversation(served, model, null));
  const count = 12;
  const isLast = ({ kind, source, llm_message: output }: Record<string, unknown>): boolean =>
    kind === "MessageEvent" && source === "user" && JSON.stringify(output).includes(`"text":"${count}"`);
  const following = ids.flatMap((id) => [1, 2, 3].map(() => followUntil(served, id, isLast)));
  for (let number = 1; number <= count; number += 1) {
    const sent = ids.map((id) =>
      served.ask("POST", `/api/conversations/${id}/events`, {
        role: "user",
        content: [{ type: "text", text: String(number) }],
        run: false,
      }),
    );
    for (const { status, text } of await Promise.all(sent)) expect(status, text).toBe(200);
  }
  const seen = await Promise.all(following);
  for (const [index, events] of seen.entries()) {
    const stored = await storedIds(served, ids[Math.floor(index / 3)]!);
    expect(events.map(({ id }) => id)).toEqual(stored.slice(0, events.length));
    const output = events.flatMap(
      ({ llm_message: message }) => /"text":"(\d+)"/.exec(JSON.stringify(message) ?? "")?.[1] ?? [],
    );
    expect(output).toEqual(Array.from({ length: count }, (_, number) => String(number + 1)));
  }
  const { text: metrics } = await served.ask("GET", "/metrics");
  const calls =
    /http_request_duration_seconds_count\{.*route="\/api\/conversations\/:conversation_id\/events",status="200"\} (\d+)/;
  // All processes together; one that is passed on is a call of the one that passes it on and of the one that answers.
  expect(Number(calls.exec(metrics)?.[1])).toBeGreaterThanOrEqual(ids.length * count);
  expect(metrics.match(/^convoke_conversations\{status="idle"\} (\d+)$/m)?.[1]).toBe("3");
});

test("kill -9 of the process that works on a run: the run continues, the port answers, and followers lose nothing", async () => {
  const command = "printenv CONVOKE_OWNER > owner.txt; sleep 300";
  await using model = await startScriptedModel({
    script: {
      turns: [
        { tool_calls: [{ name: "terminal", arguments: { command } }] },
        { tool_calls: [{ name: "finish", arguments: { message: "done" } }] },
      ],
    },
  });
  // Behind a wall the command would not see which process has started it.
  await using served = await TogetherCommand.start({ processes: 2, environment: { CONVOKE_WALL: "off" } });
  const id = await startConversation(served, model);
  const isLast = ({ kind, key, value }: Record<string, unknown>): boolean =>
    kind === "ConversationStateUpdateEvent" && key === "execution_status" && value === "finished";
  const following = [1, 2, 3, 4].map(() => followUntil(served, id, isLast));
  const owner = await vi.waitUntil(async () => {
    const text = await readFile(join(served.workDir, "owner.txt"), "utf8").catch(() => "");
    return /^convoke\.(\d+)\./.exec(text)?.[1];
  }, pollOptions);
  const before = served.processes();
  expect(before).toContain(Number(owner));
  const over = new AbortController();
  const answers: number[] = [];
  const asking = (async () => {
    while (!over.signal.aborted) answers.push((await served.ask("GET", "/alive")).status);
  })();
  process.kill(Number(owner), "SIGKILL");
  const seen = await Promise.all(following);
  over.abort();
  await asking;
  expect(new Set(answers)).toEqual(new Set([200]));
  const stored = await storedIds(served, id);
  for (const events of seen)
    expect(events.map((event) => event["id"])).toEqual(stored.slice(0, events.length));
  await expect.poll(() => served.processes().length, pollOptions).toBe(2);
  expect(served.processes()).not.toContain(Number(owner));
  expect(served.log).toContain("it is restarted");
  // The new one has its turn as well.
  await expect
    .poll(async () => {
      const { json } = await served.ask("GET", "/api/nodes");
      return (json as { nodes: unknown[] }).nodes.length;
    }, pollOptions)
    .toBe(2);
});

test("SIGTERM ends all processes, with code 0; what is begun by the next start finds everything", async () => {
  await using model = await startScriptedModel({ script: { turns: [{ text: "Said." }], loop: true } });
  await using served = await TogetherCommand.start({ processes: 2 });
  const ids = [await startConversation(served, model, null), await startConversation(served, model, null)];
  const children = served.processes();
  expect(await served.end("SIGTERM")).toEqual([0, null]);
  expect(children.filter(isAlive)).toEqual([]);
  await served.restart();
  for (const id of ids) expect((await served.ask("GET", `/api/conversations/${id}`)).status).toBe(200);
});

test("kill -9 of the command itself: its processes end by themselves", async () => {
  await using served = await TogetherCommand.start({ processes: 2 });
  const children = served.processes();
  expect(children).toHaveLength(2);
  await served.end("SIGKILL");
  await expect.poll(() => children.filter(isAlive), pollOptions).toEqual([]);
  await expect(served.ask("GET", "/alive")).rejects.toThrow();
});

test("a start that cannot succeed says why once, and ends with the code that one process would have", async () => {
  const refused = await TogetherCommand.refusedStart({
    processes: 2,
    environment: { OH_DEFERRED_INIT: "true", OH_INIT_API_KEY: "k" },
  });
  expect(refused).toEqual({
    code: 2,
    output: expect.stringMatching(/^Deferred initialisation .*\n$/) as string,
  });
});

test("a login is one at all processes: its ticket works once, its cookie everywhere, its end at once; wrong ones are counted together", async () => {
  await using served = await TogetherCommand.start({ processes: 2 });
  const everywhere = async <Value>(ask: () => Promise<Value>): Promise<Value[]> => [await ask(), await ask()];
  const origin = { origin: served.url };
  const { json: made } = await served.ask("POST", "/api/auth/tickets");
  const ticket = (made as { url: string }).url.split("#t=")[1];
  const login = await served.ask("POST", "/api/auth/login", { ticket }, origin);
  expect(login.status, login.text).toBe(200);
  const cookie = login.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
  const halves = { ...origin, cookie, "X-Convoke-Proof": (login.json as { proof: string }).proof };
  const listLogins = () => served.ask("GET", "/api/auth/logins", undefined, halves);
  expect((await everywhere(listLogins)).map(({ status }) => status)).toEqual([200, 200]);
  expect(
    (await everywhere(() => served.ask("GET", "/api/auth/logins", undefined, origin))).map(
      ({ status }) => status,
    ),
  ).toEqual([401, 401]);
  expect((await served.ask("POST", "/api/auth/logout", undefined, halves)).status).toBe(204);
  expect((await everywhere(listLogins)).map(({ status }) => status)).toEqual([401, 401]);
  const tries = [];
  for (let count = 0; count < 5; count += 1)
    tries.push(await served.ask("POST", "/api/auth/login", { ticket: `${ticket}${count}` }, origin));
  expect(tries.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
  await expect
    .poll(
      async () =>
        (await everywhere(() => served.ask("POST", "/api/auth/login", { ticket }, origin))).map(
          ({ status }) => status,
        ),
      pollOptions,
    )
    .toEqual([429, 429]);
});

test("a page of another origin, and a name that is not the server's, are refused by every process", async () => {
  await using served = await TogetherCommand.start({ processes: 2 });
  const key = { "X-Session-API-Key": served.key };
  for (const foreign of [{ origin: "https://evil.example" }, { host: "evil.example" }]) {
    for (const _ of [1, 2])
      expect((await served.ask("GET", "/api/nodes", undefined, { ...key, ...foreign })).status).toBe(403);
  }
});

test("the internal listener of a process accepts other nodes alone: no key and no login opens it", async () => {
  await using served = await TogetherCommand.start({ processes: 2 });
  const { json } = await served.ask("GET", "/api/nodes");
  for (const { address } of (json as { nodes: { address: string }[] }).nodes) {
    for (const path of ["/api/nodes", "/alive", "/", "/sockets/overview"]) {
      const reply = await fetch(`${address}${path}`, { headers: { "X-Session-API-Key": served.key } });
      expect([path, reply.status]).toEqual([path, 401]);
    }
  }
});

function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    // There is no such process.
    return false;
  }
}
