import { ConvokeClient } from "@convoke/client";
import type { ShellList, ShellSummary } from "@convoke/protocol";
import { allowedEnvironment, findMarkedProcesses } from "@convoke/tool-host";
import type { XtermPerson } from "@convoke/tool-host/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { openShellPerson } from "../../../testing/shell-person.ts";
import { TestSocket } from "../../../testing/test-socket.ts";

const size = { columns: 90, rows: 25 };
const secret = "s3cr3t-of-the-conversation-42";

let server: TestServer;
let strangerKey = "";
beforeAll(async () => {
  server = await startTestServer({
    environment: allowedEnvironment({ PATH: process.env["PATH"], HOME: "/nonexistent" }),
  });
  await using keys = await server.openKeys();
  strangerKey = (await keys.store.create("bob", "")).key;
});
afterAll(() => server[Symbol.asyncDispose]());

async function newConversation(start: object = {}): Promise<string> {
  return (await server.createConversation(start)).id;
}

async function open(id: string, wanted = size): Promise<ShellSummary> {
  const { status, json } = await server.call("POST", `/api/conversations/${id}/shells`, wanted);
  expect(status).toBe(201);
  return json as ShellSummary;
}

async function list(id: string): Promise<ShellList["items"]> {
  return ((await server.call("GET", `/api/conversations/${id}/shells`)).json as ShellList).items;
}

const personAt = (id: string, shell: string, client = server.client): XtermPerson =>
  openShellPerson(client, id, shell);

test("J18: a shell begins in the workspace, and a reconnected person sees its past output", async () => {
  const id = await newConversation();
  const shell = await open(id);
  expect(shell).toMatchObject({ ...size, is_running: true, exit_code: null });
  {
    await using person = personAt(id, shell.id);
    person.press("pwd; stty size; for i in $(seq 1 3000); do echo line $i; done; read answer\r");
    await person.sees("line 3000");
    expect(person.received).toContain(server.workspaceDir);
    expect(person.received).toContain("25 90");
  }
  await using again = personAt(id, shell.id);
  await again.sees("line 3000");
  for (const number of [1, 1_499, 3_000]) expect(again.received).toContain(`line ${number}\r\n`);
  await using beside = personAt(id, shell.id);
  beside.do({ type: "resize", columns: 70, rows: 20 });
  await again.until(() => again.updates.some((update) => update.type === "size" && update.columns === 70));
  again.press("yes\rstty size; exit 3\r");
  await again.left;
  expect(again.received).toContain("20 70");
  expect(again.received).toContain("[ended 3]");
  expect(again.updates).toContainEqual({ type: "size", columns: 70, rows: 20 });
  expect(await list(id)).toMatchObject([{ id: shell.id, is_running: false, exit_code: 3 }]);
  await using late = personAt(id, shell.id);
  await late.left;
  expect(late.received).toContain("line 1\r\n");
  expect(late.received).toContain("[ended 3]");
});

test("J18: four shells may be open; ending one frees a slot, and ends its processes", async () => {
  const id = await newConversation();
  const mark = `SHELL_OF=${id}`;
  const first = await open(id);
  for (let more = 0; more < 3; more += 1) await open(id);
  const fifth = await server.call("POST", `/api/conversations/${id}/shells`, size);
  expect([fifth.status, (fifth.json as { code: string }).code]).toEqual([409, "too_many_shells"]);
  await using person = personAt(id, first.id);
  person.press(`${mark} setsid sleep 600 &\r`);
  await expect.poll(() => findMarkedProcesses(mark)).toHaveLength(1);
  const path = `/api/conversations/${id}/shells/${first.id}`;
  expect((await server.call("DELETE", path)).status).toBe(200);
  await expect.poll(() => findMarkedProcesses(mark)).toEqual([]);
  expect((await server.call("DELETE", path)).status).toBe(404);
  await open(id);
  const last = (await list(id)).at(-1)!;
  await using other = personAt(id, last.id);
  other.press(`${mark} setsid sleep 600 &\r`);
  await expect.poll(() => findMarkedProcesses(mark)).toHaveLength(1);
  await server.client.deleteConversation(id);
  await expect.poll(() => findMarkedProcesses(mark)).toEqual([]);
});

test("P13: a shell shows no secret of its conversation", async () => {
  const secrets = { TOKEN: { kind: "StaticSecret", value: secret } };
  const id = await newConversation({ secrets });
  const shell = await open(id);
  await using person = personAt(id, shell.id);
  person.press(`a=${secret.slice(0, 12)}; b=${secret.slice(12)}; echo $a$b; echo the end\r`);
  await person.sees(/^the end$/m);
  expect(person.received).not.toContain(secret);
  expect(person.received).toContain("<secret-hidden>");
});

test("U21: nobody else reads, types or ends: another user, no key, another origin, a page without an origin", async () => {
  const id = await newConversation();
  const shell = await open(id);
  const path = `/api/conversations/${id}/shells`;
  for (const [method, address, body] of [
    ["GET", path, undefined],
    ["POST", path, size],
    ["DELETE", `${path}/${shell.id}`, undefined],
  ] as const) {
    const asBob = await server.call(method, address, body, { "X-Session-API-Key": strangerKey });
    expect([method, asBob.status]).toEqual([method, 404]);
    const asNobody = await server.call(method, address, body, { "X-Session-API-Key": "wrong" });
    expect([method, asNobody.status]).toEqual([method, 401]);
    for (const origin of ["https://evil.example", "null"]) {
      const foreign = await server.call(method, address, body, { origin });
      expect([method, origin, foreign.status]).toEqual([method, origin, 403]);
    }
  }
  const bob = personAt(id, shell.id, new ConvokeClient({ baseUrl: server.url, apiKey: strangerKey }));
  await expect(bob.left).rejects.toMatchObject({ status: 404 });
  const nobody = personAt(id, shell.id, new ConvokeClient({ baseUrl: server.url, apiKey: "wrong" }));
  await expect(nobody.left).rejects.toMatchObject({ status: 401 });
  const socketPath = `/sockets/shells/${id}?shell=${shell.id}&session_api_key=${server.key}`;
  for (const origin of ["https://evil.example", "null"]) {
    using foreign = new TestSocket(`${server.url}${socketPath}`, { headers: { origin } });
    expect(await foreign.opened).toBe(403);
  }
  expect(await list(id)).toMatchObject([{ id: shell.id, is_running: true }]);
});

test("U21: a user who may not run commands on the machine has no shell there either", async () => {
  const asBob = (method: string, path: string, body?: unknown) =>
    server.call(method, path, body, { "X-Session-API-Key": strangerKey });
  const { json } = await asBob("POST", "/api/conversations", server.startRequest());
  const { id } = json as { id: string };
  const refused = await asBob("POST", `/api/conversations/${id}/shells`, size);
  expect([refused.status, (refused.json as { code: string }).code]).toEqual([403, "machine_refused"]);
  expect((await asBob("GET", `/api/conversations/${id}/shells`)).status).toBe(403);
});
