import { afterAll, beforeAll, expect, test } from "vitest";
import { startScriptedModel } from "../../../testing/index.ts";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server[Symbol.asyncDispose]());

type Verdict = {
  readonly valid: boolean;
  readonly error: { readonly type: string; readonly message: string } | null;
};

async function validate(llm: object): Promise<Verdict> {
  const reply = await server.call("POST", "/api/profiles/first/validate", {
    llm: { model: "openai/scripted", api_key: "sk-typed-by-hand", ...llm },
  });
  expect(reply.status).toBe(200);
  return reply.json as Verdict;
}

test.each([
  [
    401,
    "Incorrect API key provided",
    "LLMAuthenticationError",
    /refused the key \(401\).*Check llm\.api_key/,
  ],
  [404, "model not found", "LLMBadRequestError", /does not know .*Check llm\.model and llm\.base_url/],
  [402, "no credit", "LLMRateLimitError", /no credit or quota left.*Add credit/],
  [
    503,
    "overloaded",
    "LLMServiceUnavailableError",
    /is unavailable \(503\): overloaded.*Check llm\.base_url/,
  ],
])(
  "U2: a try that the provider answers with %i says what is wrong and what to do",
  async (status, message, type, sentence) => {
    await using model = await startScriptedModel({
      script: { turns: [{ error: { status, message } }], loop: true },
    });
    const { valid, error } = await validate({ base_url: `${model.url}/v1` });
    expect({ valid, type: error?.type }).toEqual({ valid: false, type });
    expect(error?.message).toMatch(sentence);
    expect(error?.message).not.toContain("sk-typed-by-hand");
  },
);

test.each([
  [
    "an address where nothing is",
    { base_url: "http://127.0.0.1:59997/v1" },
    /^Nothing listens at 127\.0\.0\.1.*change llm\.base_url\.$/,
  ],
  ["no address at all", { base_url: "nowhere" }, /not an address/],
  ["a model of nobody", { model: "no-such-model", base_url: null }, /./],
])("U2: %s is told too", async (_what, llm, sentence) => {
  const { valid, error } = await validate(llm);
  expect(valid).toBe(false);
  expect(error?.message).toMatch(sentence);
});

test("U2: transient failures do not count against a model", async () => {
  await using model = await startScriptedModel({
    script: { turns: [{ error: { status: 429, message: "slow down" } }], loop: true },
  });
  expect(await validate({ base_url: `${model.url}/v1` })).toEqual({ valid: true, error: null });
});
