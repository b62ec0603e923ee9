import { afterAll, beforeAll, expect, test } from "vitest";
import { closeCodes } from "./agent-server/sockets/close-codes.ts";
import { openKeyStore } from "../settings/open-stores.ts";
import { ConvokeProcess } from "../testing/convoke-process.ts";
import { startScriptedModel, type Reply, type ScriptedModelServer } from "../testing/index.ts";
import { leastValue } from "../testing/least-value.ts";
import { TestSocket } from "../testing/test-socket.ts";
import { openV1 } from "../testing/v1-client.ts";

/** Every address of every face that the running command documents, asked by a user whose object it is not. */
type Operation = {
  readonly operationId: string;
  readonly parameters?: readonly { in: string; name: string; required?: boolean; schema: object }[];
  readonly requestBody?: { content: Record<string, { schema: object }> };
};
type Document = {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { schemas: Record<string, object> };
};

/** Objects whose ids are the same for everybody: for others they must not be there. */
const objectParameters = ["conversation_id", "runtime_conversation_id", "sandbox_id"];
/** Where a conversation or a sandbox is named in the query instead. */
const queryParameters: Readonly<Record<string, () => string>> = {
  conversation_id__eq: () => conversation,
};

/** Where the least that the document allows is not served. */
const bodies: Readonly<Record<string, unknown>> = { setSecurityAnalyzer: { security_analyzer: null } };

let model: ScriptedModelServer;
let server: ConvokeProcess;
let document: Document;
let adaKey = "";
let bobKey = "";
let conversation = "";
let sandbox = "";
let event = "";
let task = "";
beforeAll(async () => {
  model = await startScriptedModel({ script: { turns: [{ text: "Hello." }], loop: true } });
  server = await ConvokeProcess.start();
  await using keys = await openKeyStore(server.dataDir);
  adaKey = (await keys.store.create("ada", "")).key;
  bobKey = (await keys.store.create("bob", "")).key;
  const v1 = await openV1({ call: (method, path, body) => server.call(method, path, body, adaKey) }, model);
  task = (await v1.start({ initial_message: { content: [{ type: "text", text: "Mine." }] } })).id;
  conversation = (await v1.ready(task)).app_conversation_id!;
  sandbox = (await v1.untilStatus(conversation, "finished")).sandbox_id;
  const page = await server.call(
    "GET",
    `/api/v1/conversation/${conversation}/events/search?limit=1`,
    undefined,
    adaKey,
  );
  event = (page.json as { items: { id: string }[] }).items[0]!.id;
  document = (await server.call("GET", "/openapi.json")).json as Document;
});
afterAll(async () => {
  await server?.call("DELETE", `/api/v1/app-conversations/${conversation}`, undefined, adaKey);
  await server?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
});

const asBob = (method: string, path: string, body?: unknown): Promise<Reply> =>
  server.call(method, path, body, bobKey);

test("nothing of a conversation or a sandbox is there for another user, on any face, and nothing changes", async () => {
  const before = await whatAdaHas();
  const answers: string[] = [];
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const ofObjects = operations.filter(({ path, operation }) => {
    const inPath = objectParameters.some((name) => path.includes(`{${name}}`));
    return (
      inPath ||
      operation.parameters?.some(({ name }) => name in queryParameters && isRequired(operation, name))
    );
  });
  expect(ofObjects.length).toBeGreaterThan(30);
  for (const { path, method, operation } of ofObjects) {
    const body = method === "GET" ? undefined : bodyOf(operation);
    const reply = await asBob(method, addressOf(path, operation), body);
    // What is not there does not run: a stop says so, of an unknown conversation as of another user's.
    const isStop = path === "/api/conversations/{conversation_id}/stop";
    if (isStop && reply.status === 200 && reply.text.includes('"STOPPED"')) continue;
    if (reply.status !== 404) answers.push(`${method} ${path}: ${reply.status} ${reply.text.slice(0, 200)}`);
  }
  expect(answers).toEqual([]);
  expect(await whatAdaHas()).toEqual(before);
});

test("batches have null for them, and lists and counts do not know them", async () => {
  for (const path of [
    `/api/conversations?ids=${conversation}`,
    `/api/v1/app-conversations?ids=${conversation}`,
    `/api/v1/app-conversations/start-tasks?ids=${task}`,
    `/api/v1/sandboxes?id=${sandbox}`,
  ]) {
    expect((await asBob("GET", path)).json).toEqual([null]);
  }
  for (const path of [
    "/api/conversations/search",
    "/api/v1/app-conversations",
    "/api/v1/app-conversations/search",
    "/api/v1/app-conversations/start-tasks/search",
    "/api/v1/sandboxes/search",
  ]) {
    expect((await asBob("GET", path)).json).toMatchObject({ items: [] });
  }
  for (const path of ["conversations", "v1/app-conversations", "v1/app-conversations/start-tasks"]) {
    expect((await asBob("GET", `/api/${path}/count`)).json).toBe(0);
  }
  const filtered = await asBob(
    "GET",
    `/api/v1/app-conversations/start-tasks/search?conversation_id__eq=${conversation}`,
  );
  expect(filtered.json).toMatchObject({ items: [] });
});

test("a start cannot name what belongs to another user", async () => {
  const start = (body: object): Promise<Reply> => asBob("POST", "/api/v1/app-conversations", body);
  await asBob("POST", "/api/settings", { llm_model: "openai/scripted", llm_base_url: `${model.url}/v1` });
  expect((await start({ parent_conversation_id: conversation })).status).toBe(404);
  expect((await start({ conversation_id: conversation })).status).toBe(409);
  const { id } = (await start({ sandbox_id: sandbox })).json as { id: string };
  for (;;) {
    const [now] = (await asBob("GET", `/api/v1/app-conversations/start-tasks?ids=${id}`)).json as [
      { status: string; detail: string },
    ];
    if (now.status === "ERROR") {
      expect(now.detail).toContain("There is no sandbox");
      break;
    }
    expect(now.status).not.toBe("READY");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(
    (await asBob("POST", `/api/v1/conversations/task-${task}/pending-messages`, { content: [{ text: "x" }] }))
      .status,
  ).toBe(404);
});

test.each([
  ["the events", () => `/sockets/events/${conversation}`],
  ["the events of the sandbox's own surface", () => `/sandboxes/${sandbox}/sockets/events/${conversation}`],
])("the socket of %s is closed", async (_what, path) => {
  using socket = new TestSocket(`${server.url}${path()}`, { headers: { "X-Session-API-Key": bobKey } });
  const opened = await socket.opened;
  if (opened === "open") expect((await socket.closed).code).toBe(closeCodes.notFound);
  else expect([401, 403, 404]).toContain(opened);
  expect(socket.frames).toEqual([]);
});

test.each(["", "/api/conversations/search", "/ports/8080/", "/server_info"])(
  "below /sandboxes/{id}%s nothing is there",
  async (rest) => {
    expect([401, 404]).toContain((await asBob("GET", `/sandboxes/${sandbox}${rest}`)).status);
  },
);

function addressOf(path: string, operation: Operation): string {
  const places: Readonly<Record<string, string>> = {
    conversation_id: conversation,
    runtime_conversation_id: conversation,
    sha: "0123abcd",
    sandbox_id: sandbox,
    event_id: event,
  };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => places[name] ?? "x");
  const query = (operation.parameters ?? [])
    .filter(
      ({ in: where, name, required }) => where === "query" && (required === true || name in queryParameters),
    )
    .map(({ name, schema }) => {
      const value = queryParameters[name]?.() ?? leastValue(schema, document.components.schemas);
      return `${name}=${encodeURIComponent([value].flat().map(String)[0] ?? event)}`;
    });
  return query.length === 0 ? filled : `${filled}?${query.join("&")}`;
}

function isRequired({ parameters }: Operation, name: string): boolean {
  return parameters?.some((parameter) => parameter.name === name && parameter.required === true) === true;
}

function bodyOf({ operationId, requestBody }: Operation): unknown {
  if (operationId in bodies) return bodies[operationId];
  const schema = requestBody?.content["application/json"]?.schema;
  return schema === undefined ? undefined : leastValue(schema, document.components.schemas);
}

/** Everything that Ada can see of what was asked about. */
async function whatAdaHas(): Promise<unknown[]> {
  const paths = [
    `/api/conversations/${conversation}`,
    `/api/conversations/${conversation}/events/count`,
    `/api/v1/app-conversations?ids=${conversation}`,
    `/api/v1/sandboxes?id=${sandbox}`,
    "/api/v1/app-conversations/start-tasks/count",
  ];
  return await Promise.all(
    paths.map(async (path) => (await server.call("GET", path, undefined, adaKey)).json),
  );
}
