import { createHmac } from "node:crypto";
import type { AutomationRun, CreatedAutomation, HookReply, RotatedHookSecret } from "@convoke/protocol";
import { expect, test } from "vitest";
import { readAudit } from "../../../testing/read-audit.ts";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

const answer = { script: { turns: [{ text: "Done." }], loop: true } };

async function create(server: TestServer, trigger: object = {}): Promise<CreatedAutomation> {
  const stored = await server.call("POST", "/api/settings", {
    llm_model: "openai/scripted",
    llm_base_url: `${server.model.url}/v1`,
    llm_api_key: "canary-key",
  });
  expect(stored.status, stored.text).toBe(200);
  const { status, text, json } = await server.call("POST", "/api/automations", {
    name: "reviews",
    trigger: { kind: "webhook", form: "github", ...trigger },
    prompt: "Review {{payload.pull_request.title}}.",
    conversation: { working_dir: server.workspaceDir },
  });
  expect(status, text).toBe(201);
  return json as CreatedAutomation;
}

type Post = {
  readonly secret: string;
  readonly body?: string;
  readonly delivery?: string;
  readonly event?: string;
  readonly type?: string;
};

async function post(server: TestServer, id: string, given: Post): Promise<Response> {
  const { secret, body = '{"pull_request":{"title":"Fix it"}}', delivery = "d1" } = given;
  return await fetch(`${server.url}/api/automations/${id}/hook`, {
    method: "POST",
    headers: {
      "content-type": given.type ?? "application/json",
      "x-github-event": given.event ?? "pull_request",
      "x-github-delivery": delivery,
      "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
    },
    body,
  });
}

async function runsOf(server: TestServer, id: string): Promise<AutomationRun[]> {
  const { json } = await server.call("GET", `/api/automations/${id}/runs`);
  return (json as { items: AutomationRun[] }).items;
}

test("a signed webhook starts a conversation with its payload as quoted data, once however often it is delivered", async () => {
  await using server = await startTestServer(answer);
  const { id, hook_secret: secret } = await create(server);
  const first = await post(server, id, { secret: secret! });
  expect(first.status).toBe(202);
  const reply = (await first.json()) as HookReply;
  expect(reply).toEqual({ run_id: expect.any(String), is_repeated: false, detail: null });
  const again = await Promise.all([1, 2, 3].map(() => post(server, id, { secret: secret! })));
  for (const response of again)
    expect(await response.json()).toMatchObject({ run_id: reply.run_id, is_repeated: true });
  await expect.poll(async () => (await runsOf(server, id))[0]?.state).toBe("finished");
  const runs = await runsOf(server, id);
  expect(runs).toMatchObject([{ id: reply.run_id, origin: "webhook" }]);
  const { json } = await server.call(
    "GET",
    `/api/conversations/${runs[0]!.conversation_id}/events/search?kind=MessageEvent&source=user`,
  );
  const prompt = JSON.stringify(json);
  expect(prompt).toContain("Review [data: payload.pull_request.title].");
  expect(prompt).toContain("Fix it");
});

test("a wrong signature and a missing automation are refused alike, counted, and said to the audit log", async () => {
  await using server = await startTestServer(answer);
  const { id, hook_secret: secret } = await create(server);
  const missing = "11111111-1111-4111-8111-111111111111";
  const refused = { detail: "Unauthorized", code: "unauthorized" };
  for (const [at, target] of [id, missing, "no-id", id, id].entries()) {
    const response = await post(server, target, { secret: `another secret ${at}` });
    expect([response.status, await response.json()]).toEqual([401, refused]);
  }
  const limited = await post(server, id, { secret: "another secret 6" });
  expect(limited.status).toBe(429);
  expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
  // Nobody guesses a signature, and many senders share an address.
  expect((await post(server, id, { secret: secret! })).status).toBe(202);
  // People behind that address are not affected: their keys are counted apart, and so is a login.
  expect((await server.call("GET", "/api/automations")).status).toBe(200);
  const wrongKey = await server.call("GET", "/api/automations", undefined, { "X-Session-API-Key": "wrong" });
  expect(wrongKey.status).toBe(401);
  const login = await server.call(
    "POST",
    "/api/auth/login",
    { key: server.key },
    { "X-Session-API-Key": "" },
  );
  expect(login.status, login.text).toBe(200);
  await expect
    .poll(async () => (await readAudit(server.dataDir)).refusals.map(({ route }) => route))
    .toContain("/api/automations/:automation_id/hook");
});

test("wrong keys of people do not hold up webhooks from the same address", async () => {
  await using server = await startTestServer(answer);
  const { id, hook_secret: secret } = await create(server);
  for (const wrong of ["a", "b", "c", "d", "e"])
    await server.call("GET", "/api/automations", undefined, { "X-Session-API-Key": wrong });
  expect((await server.call("GET", "/api/automations")).status).toBe(429);
  expect((await post(server, id, { secret: "another secret" })).status).toBe(401);
  expect((await post(server, id, { secret: secret! })).status).toBe(202);
});

test("the secret is never shown again, and one that was replaced still works", async () => {
  await using server = await startTestServer(answer);
  const { id, hook_secret: secret } = await create(server, { events: ["push"] });
  const rotated = await server.call("POST", `/api/automations/${id}/hook_secret`);
  expect(rotated.headers.get("cache-control")).toBe("no-store");
  const { hook_secret: next, previous_until: until } = rotated.json as RotatedHookSecret;
  expect(next).not.toBe(secret);
  expect(Date.parse(until!)).toBeGreaterThan(Date.now());
  for (const path of ["", "/runs"]) {
    const { text } = await server.call("GET", `/api/automations/${id}${path}`);
    expect(text).not.toContain(next);
    expect(text).not.toContain(secret);
  }
  for (const known of [next, secret!]) {
    const ignored = await post(server, id, { secret: known, delivery: known });
    expect([ignored.status, await ignored.json()]).toEqual([
      202,
      { run_id: null, is_repeated: false, detail: "The event pull_request is not among the wanted ones." },
    ]);
  }
  expect(await runsOf(server, id)).toEqual([]);
});

test("bodies are bounded, and must be JSON once their sender is known", async () => {
  await using server = await startTestServer(answer);
  const { id, hook_secret: secret } = await create(server);
  const large = await post(server, id, { secret: secret!, body: "x".repeat(1024 * 1024 + 1) });
  expect(large.status).toBe(413);
  const form = await post(server, id, {
    secret: secret!,
    body: "payload=%7B%7D",
    type: "application/x-www-form-urlencoded",
  });
  expect([form.status, await form.text()]).toEqual([422, expect.stringContaining("application/json")]);
  expect((await post(server, id, { secret: secret!, body: "" })).status).toBe(202);
});

test("a paused automation records what was delivered as skipped", async () => {
  await using server = await startTestServer(answer);
  const { id, hook_secret: secret } = await create(server);
  await server.call("POST", `/api/automations/${id}/pause`);
  const response = await post(server, id, { secret: secret! });
  expect(await response.json()).toMatchObject({ detail: "The automation is paused." });
  expect(await runsOf(server, id)).toMatchObject([{ state: "skipped", origin: "webhook" }]);
});
