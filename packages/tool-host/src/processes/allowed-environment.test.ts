import { expect, test } from "vitest";
import { allowedEnvironment } from "./allowed-environment.ts";

test("W9, P13: no key, token or server setting reaches a child", () => {
  const secrets = {
    SESSION_API_KEY: "k",
    OH_SECRET_KEY: "k",
    OH_SESSION_API_KEYS_0: "k",
    CONVOKE_API_KEY: "k",
    CONVOKE_HOST: "other",
    LLM_API_KEY: "k",
    OPENAI_API_KEY: "k",
    AWS_SECRET_ACCESS_KEY: "k",
    GITHUB_TOKEN: "k",
    DATABASE_URL: "k",
    BASH_ENV: "/x",
    LD_PRELOAD: "/x",
    NODE_OPTIONS: "--x",
  };
  expect(allowedEnvironment({ ...secrets, PATH: "/bin", HOME: "/h", LC_ALL: "C", TZ: undefined })).toEqual({
    PATH: "/bin",
    HOME: "/h",
    LC_ALL: "C",
    AI_AGENT: "convoke",
  });
});

test("P60: proxies pass, without the password in them", () => {
  const environment = allowedEnvironment({
    https_proxy: "http://user:pass@proxy:3128/",
    NO_PROXY: "localhost,.lan",
  });
  expect(environment).toEqual({
    https_proxy: "http://proxy:3128/",
    NO_PROXY: "localhost,.lan",
    AI_AGENT: "convoke",
  });
});
