import { expect, test } from "vitest";
import type { ConversationConfig } from "./conversation-config.ts";
import { secretValues, sparedTexts } from "./secret-values.ts";

test("a_short_model_key_hides_no_words: a model's key is masked from eight characters on, a secret from four", () => {
  const sources = { S: { kind: "StaticSecret" as const, value: "abcd" } };
  expect(secretValues({ llm: { api_key: "test" }, sources })).toEqual(["abcd"]);
  expect(
    secretValues({ llm: { api_key: "test-key" }, sources: {}, condenser: { "llm.api_key": "k" } }),
  ).toEqual(["test-key"]);
});

test("S25, S26: values of a model's headers, and of the query of a lookup, are secret; names of programs are not", () => {
  const values = secretValues({
    llm: {
      extra_headers: {
        "X-Gateway": "Bearer gw-5f1e2d",
        "HTTP-Referer": "https://my.app",
        "User-Agent": "x y",
      },
    },
    sources: { L: { kind: "LookupSecret", url: "https://h/s?token=tok-90cd&v=2", headers: {} } },
    serverKeys: ["server-key-01"],
  });
  expect(values).toEqual(["Bearer gw-5f1e2d", "gw-5f1e2d", "tok-90cd", "server-key-01"]);
});

test("P56: paths that the configuration names, and the model's name, are spared; an address of a hook is not", () => {
  const command = 'node "/repo/hooks/test.js" ./scripts/a.sh $HOME/b.sh --url=https://h/T0/SECRET --x=/etc/x';
  const config = {
    workspace: { kind: "LocalWorkspace", working_dir: "/home/me/test" },
    agent: { kind: "Agent", llm: { model: "openai/test" }, tools: [] },
    hook_config: { stop: [{ hooks: [{ command }] }] },
  } as unknown as ConversationConfig;
  expect(sparedTexts(config)).toEqual([
    "/home/me/test",
    "openai/test",
    "/repo/hooks/test.js",
    "./scripts/a.sh",
    "$HOME/b.sh",
    "/etc/x",
  ]);
});
