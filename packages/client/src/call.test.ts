import { expect, test } from "vitest";
import { ApiError } from "./api-error.ts";
import { ConvokeClient, type ClientOptions } from "./convoke-client.ts";

type Seen = { readonly url: string; readonly init: RequestInit };

function open(options: Partial<ClientOptions> = {}, reply: () => Response = () => Response.json({})) {
  const seen: Seen[] = [];
  const client = new ConvokeClient({
    baseUrl: "http://server/prefix/",
    fetch: async (url, init = {}) => {
      seen.push({ url: url as string, init });
      return reply();
    },
    ...options,
  });
  return { client, seen };
}

test("an operation is its method and path; parameters are escaped, empty query values left out", async () => {
  const { client, seen } = open({ apiKey: "key" });
  await client.call("GET /api/conversations/{conversation_id}/events/search", {
    params: { conversation_id: "a/b" },
    query: { limit: 3, body: "a b", source: null },
  });
  await client.call("GET /api/conversations", { query: { ids: ["x", "y"] } });
  await client.call("PUT /api/spend/limits", { body: { max_budget_per_day: null } });
  expect(seen.map(({ url, init }) => [init.method, url, init.body ?? null])).toEqual([
    ["GET", "http://server/prefix/api/conversations/a%2Fb/events/search?limit=3&body=a+b", null],
    ["GET", "http://server/prefix/api/conversations?ids=x&ids=y", null],
    ["PUT", "http://server/prefix/api/spend/limits", '{"max_budget_per_day":null}'],
  ]);
  expect(seen[2]!.init.headers).toEqual({ "X-Session-API-Key": "key", "Content-Type": "application/json" });
});

test("a page gives its proof, and a form goes as it is", async () => {
  const { client, seen } = open({ proof: "half" });
  const body = new FormData();
  await client.call("POST /api/file/upload/{path}", { params: { path: "/a" }, body });
  expect(seen[0]!.init.headers).toEqual({ "X-Convoke-Proof": "half" });
  expect(seen[0]!.init.body).toBe(body);
});

test("what is no JSON is opened, and a refusal says what the server said", async () => {
  const bytes = open({}, () => new Response("text"));
  const opened = await bytes.client.open("GET /api/file/download/{path}", { params: { path: "/a" } });
  expect(await opened.text()).toBe("text");
  const refused = open({}, () => Response.json({ detail: "No.", code: "no" }, { status: 404 }));
  const failure = refused.client.open("GET /api/file/download/{path}", { params: { path: "/a" } });
  await expect(failure).rejects.toMatchObject({ status: 404, code: "no", message: "No." });
  await expect(failure).rejects.toBeInstanceOf(ApiError);
});

test("one call may take longer, or less long, than the others", async () => {
  const silent = new ConvokeClient({
    baseUrl: "http://server",
    timeoutMs: 60_000,
    fetch: (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener("abort", () => reject(new Error("given up")));
      }),
  });
  await expect(silent.call("GET /api/start", { timeoutMs: 1 })).rejects.toMatchObject({
    name: "ConnectionError",
  });
});

test("a body that breaks off is no answer", async () => {
  const { client } = open({}, () => {
    const body = new ReadableStream({ start: (controller) => controller.error(new Error("cut")) });
    return new Response(body);
  });
  await expect(client.serverInfo()).rejects.toMatchObject({ name: "ConnectionError" });
});
