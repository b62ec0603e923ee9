import { expect, test } from "vitest";
import { reachLoopback } from "./reach-loopback.ts";

const own = "127.0.0.1,localhost,[::1],::1";

test.each([
  [{ NODE_USE_ENV_PROXY: "1" }, { NO_PROXY: own }],
  [
    { NODE_USE_ENV_PROXY: "1", NO_PROXY: ".corp, localhost" },
    { NO_PROXY: ".corp,localhost,127.0.0.1,[::1],::1" },
  ],
  [
    { NODE_USE_ENV_PROXY: "1", no_proxy: ".corp", NO_PROXY: "x" },
    { no_proxy: `.corp,${own}`, NO_PROXY: "x" },
  ],
  [{ NODE_USE_ENV_PROXY: "1", NO_PROXY: "*" }, { NO_PROXY: "*" }],
  [{ NO_PROXY: ".corp" }, { NO_PROXY: ".corp" }],
])("with %o the machine itself is reached straight", (given, wanted) => {
  const environment: Record<string, string | undefined> = { ...given };
  reachLoopback(environment);
  expect(environment).toEqual({ ...given, ...wanted });
});
