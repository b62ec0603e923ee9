import { expect, test } from "vitest";
import { oidcSettingsOf } from "../testing/oidc/oidc-settings-of.ts";
import { startTestServer } from "../testing/start-server.ts";
import { webhookDefaults } from "../webhooks/webhook.ts";

test("hardening 10: the configuration's secrets for webhooks, traces and logins are masked in messages", async () => {
  const webhook = {
    ...webhookDefaults,
    base_url: "http://127.0.0.1:9/hook?token=query-token-77",
    secret: "signing-secret-77",
    headers: { Authorization: "Bearer header-token-77" },
    num_retries: 0,
  };
  const secrets = "signing-secret-77 query-token-77 header-token-77 trace-token-77 client-secret-77";
  await using server = await startTestServer({
    script: { turns: [{ text: secrets }] },
    config: {
      webhooks: [webhook],
      oidc: oidcSettingsOf({ issuer: "http://127.0.0.1:9", clientId: "c", clientSecret: "client-secret-77" }),
      tracing: {
        url: "http://127.0.0.1:9/v1/traces",
        headers: { "x-key": "trace-token-77" },
        serviceName: "convoke",
        hasContent: false,
      },
    },
  });
  const id = await server.runTo("finished", `Say ${secrets}`);
  const log = (await server.eventTexts(id)).join("\n");
  expect(log).not.toMatch(/(?:signing-secret|query-token|header-token|trace-token|client-secret)-77/);
  expect(log).toContain("<secret-hidden>");
});
