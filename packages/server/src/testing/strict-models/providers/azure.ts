import { openai } from "./openai.ts";
import type { StrictProvider } from "../strict-provider.ts";

/** OpenAI behind Azure: the deployment is in the path, the key in a header of its own. */
export const azure: StrictProvider = {
  ...openai,
  name: "azure",
  llm: { model: "azure/gpt-4.1" },
  path: "",
  models: ["gpt-4.1", "gpt-4o"],
  checks: [
    ({ path }) =>
      /^\/openai\/(?:deployments\/[^/]+|v1)\/chat\/completions$/u.test(path)
        ? null
        : { status: 404, message: "Resource not found", code: "404" },
    ({ headers }) =>
      typeof headers["api-key"] === "string"
        ? null
        : {
            status: 401,
            message:
              "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key " +
              "for an active subscription and use a correct regional API endpoint for your resource.",
            code: "401",
          },
    ...openai.checks,
  ],
  window: 128_000,
};
