import {
  agentServerRoutes,
  appConversationRoutes,
  ErrorReply,
  HTTPValidationError,
  legacyRoutes,
  sandboxRoutes,
  sandboxSpecRoutes,
  startTaskRoutes,
  type Route,
} from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConvokeProcess } from "../testing/convoke-process.ts";
import { startScriptedModel, type Reply, type ScriptedModelServer } from "../testing/index.ts";
import { openV1 } from "../testing/v1-client.ts";

/** Every endpoint of the contract (sections 4.1 to 4.4) against the command as users start it. */
let model: ScriptedModelServer;
let server: ConvokeProcess;
let conversation = "";
let sandbox = "";
const validator = createValidator();
beforeAll(async () => {
  model = await startScriptedModel({ script: { turns: [{ text: "Hello." }], loop: true } });
  server = await ConvokeProcess.start();
  const v1 = await openV1(server, model);
  const task = await v1.start({ initial_message: { content: [{ type: "text", text: "Find me." }] } });
  conversation = (await v1.ready(task.id)).app_conversation_id!;
  sandbox = (await v1.untilStatus(conversation, "finished")).sandbox_id;
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
});

type Case = readonly [what: string, path: () => string, status: number, body?: unknown];
const unknown = "00000000-0000-7000-8000-000000000000";
const events = (id: string, query = ""): string => `/api/conversations/${id}/events/search${query}`;
const badLimits = ["0", "-1", "101", "x", "1.5"];

const endpoints: readonly { route: Route; cases: readonly Case[] }[] = [
  {
    route: agentServerRoutes.searchEvents,
    cases: [
      ["all", () => events(conversation), 200],
      ["a page of one", () => events(conversation, "?limit=1"), 200],
      [
        "every filter",
        () =>
          events(
            conversation,
            "?kind=MessageEvent&source=user&body=FIND&sort_order=TIMESTAMP_DESC&timestamp__gte=2020-01-01T00:00:00Z&timestamp__lt=2090-01-01T00:00:00Z&limit=100",
          ),
        200,
      ],
      ...badLimits.map((limit): Case => [
        `limit ${limit}`,
        () => events(conversation, `?limit=${limit}`),
        422,
      ]),
      ["unknown order", () => events(conversation, "?sort_order=UP"), 422],
      ["no date-time", () => events(conversation, "?timestamp__gte=yesterday"), 422],
      ["unknown page", () => events(conversation, "?page_id=nowhere"), 422],
      ["no UUID", () => events("nobody"), 422],
      ["unknown conversation", () => events(unknown), 404],
    ],
  },
  {
    route: agentServerRoutes.stopConversation,
    cases: [
      ["a conversation", () => `/api/conversations/${conversation}/stop`, 200],
      ["no UUID", () => "/api/conversations/nobody/stop", 422],
      ["unknown conversation", () => `/api/conversations/${unknown}/stop`, 200],
    ],
  },
  { route: legacyRoutes.loadSettings, cases: [["the settings", () => "/api/settings", 200]] },
  {
    route: startTaskRoutes.startAppConversation,
    cases: [
      [
        "in the same sandbox",
        () => "/api/v1/app-conversations",
        200,
        { sandbox_id: "SANDBOX", title: "Second" },
      ],
      ["no UUID", () => "/api/v1/app-conversations", 422, { conversation_id: "x" }],
      ["a title that is none", () => "/api/v1/app-conversations", 422, { title: "" }],
      [
        "an agent that plans",
        () => "/api/v1/app-conversations",
        200,
        { sandbox_id: "SANDBOX", agent_type: "plan" },
      ],
      [
        "what is not supported",
        () => "/api/v1/app-conversations",
        422,
        { processors: [{ kind: "LoggingCallbackProcessor" }] },
      ],
      [
        "a repository with a shell in it",
        () => "/api/v1/app-conversations",
        422,
        { selected_repository: "a/b;c" },
      ],
      [
        "a branch that is an option",
        () => "/api/v1/app-conversations",
        422,
        { selected_branch: "--upload-pack=x" },
      ],
      ["unknown parent", () => "/api/v1/app-conversations", 404, { parent_conversation_id: unknown }],
      ["no object", () => "/api/v1/app-conversations", 422, []],
    ],
  },
  {
    route: appConversationRoutes.listAppConversations,
    cases: [
      ["a page", () => "/api/v1/app-conversations", 200],
      ["by ids in both forms", () => `/api/v1/app-conversations?ids=${conversation}&ids=${unknown}`, 200],
      [
        "every filter",
        () =>
          `/api/v1/app-conversations?title__contains=conv&created_at__gte=2020-01-01T00:00:00Z&created_at__lt=2090-01-01T00:00:00Z&updated_at__gte=2020-01-01T00:00:00Z&updated_at__lt=2090-01-01T00:00:00Z&sandbox_id__eq=${sandbox}&include_sub_conversations=true&sort_order=TITLE_DESC&limit=5`,
        200,
      ],
      ...badLimits.map((limit): Case => [
        `limit ${limit}`,
        () => `/api/v1/app-conversations?limit=${limit}`,
        422,
      ]),
      ["no UUID", () => "/api/v1/app-conversations?ids=nobody", 422],
      ["too many ids", () => `/api/v1/app-conversations?${`ids=${unknown}&`.repeat(101)}`, 422],
      ["unknown page", () => `/api/v1/app-conversations?page_id=${unknown}`, 422],
      ["no date-time", () => "/api/v1/app-conversations?updated_at__lt=tomorrow", 422],
    ],
  },
  {
    route: sandboxRoutes.searchSandboxes,
    cases: [
      ["a page", () => "/api/v1/sandboxes/search?limit=1", 200],
      ...badLimits.map((limit): Case => [
        `limit ${limit}`,
        () => `/api/v1/sandboxes/search?limit=${limit}`,
        422,
      ]),
      ["unknown page", () => "/api/v1/sandboxes/search?page_id=nowhere", 422],
    ],
  },
  {
    route: sandboxRoutes.startSandbox,
    cases: [
      ["the default template", () => "/api/v1/sandboxes", 200],
      ["unknown template", () => "/api/v1/sandboxes?sandbox_spec_id=nothing", 404],
      ["a template that is no text", () => "/api/v1/sandboxes", 422, { sandbox_spec_id: 1 }],
    ],
  },
  {
    route: sandboxRoutes.pauseSandbox,
    cases: [
      ["a sandbox", () => `/api/v1/sandboxes/${sandbox}/pause`, 200],
      ["again", () => `/api/v1/sandboxes/${sandbox}/pause`, 200],
      ["unknown sandbox", () => "/api/v1/sandboxes/nothing/pause", 404],
    ],
  },
  {
    route: sandboxRoutes.resumeSandbox,
    cases: [
      ["a sandbox", () => `/api/v1/sandboxes/${sandbox}/resume`, 200],
      ["again", () => `/api/v1/sandboxes/${sandbox}/resume`, 200],
      ["unknown sandbox", () => "/api/v1/sandboxes/nothing/resume", 404],
    ],
  },
  {
    route: sandboxSpecRoutes.searchSandboxSpecs,
    cases: [
      ["a page", () => "/api/v1/sandbox-specs/search?limit=1", 200],
      ...badLimits.map((limit): Case => [
        `limit ${limit}`,
        () => `/api/v1/sandbox-specs/search?limit=${limit}`,
        422,
      ]),
    ],
  },
];

describe.each(endpoints.map(({ route, cases }) => [`${route.method} ${route.path}`, route, cases] as const))(
  "%s",
  (_name, route, cases) => {
    test("without a key, and with a wrong one: 401", async () => {
      const [, path, , body] = cases[0]!;
      for (const key of [null, "wrong"]) {
        const reply = await server.call(route.method, path(), filled(body), key);
        expect(reply).toMatchObject({ status: 401, json: { code: "unauthorized" } });
        expectBody(ErrorReply, reply);
      }
    });

    test.each(cases.map(([what, ...rest]) => ({ what, rest })))(
      "$what",
      async ({ rest: [path, status, body] }) => {
        const reply = await server.call(route.method, path(), filled(body));
        expect(reply.status, reply.text).toBe(status);
        expect(reply.headers.get("content-type")).toMatch(/^application\/json/);
        if (status === 422) expectBody(HTTPValidationError, reply);
        else expectBody(route.responses[status]!.schema!, reply);
      },
    );
  },
);

function filled(body: unknown): unknown {
  return body === undefined ? undefined : JSON.parse(JSON.stringify(body).replace("SANDBOX", sandbox));
}

function expectBody(schema: NonNullable<Route["responses"][number]["schema"]>, { json }: Reply): void {
  expect(json).toBeDefined();
  expect(validator.check(schema, structuredClone(json))).toMatchObject({ ok: true });
}
