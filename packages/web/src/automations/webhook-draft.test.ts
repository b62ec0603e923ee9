import { expect, test } from "vitest";
import { fromWebhook, newWebhook, toWebhook } from "./webhook-draft.ts";

test("lists and conditions are read from their texts, and shown as they were", () => {
  const draft = {
    ...newWebhook,
    events: "push, pull_request.opened",
    branches: "main,release/*",
    fields: 'pull_request.draft = false\nlabel = bug | "1" | 2 | null',
  };
  const trigger = toWebhook(draft);
  expect(trigger).toEqual({
    kind: "webhook",
    form: "github",
    events: ["push", "pull_request.opened"],
    branches: ["main", "release/*"],
    fields: [
      { path: "pull_request.draft", one_of: [false] },
      { path: "label", one_of: ["bug", "1", 2, null] },
    ],
  });
  expect(fromWebhook(trigger)).toEqual({ ...draft, branches: "main, release/*" });
});

test("headers are sent with an HMAC of one's own only, and only those that are given", () => {
  const draft = { ...newWebhook, signatureHeader: "X-Gitea-Signature", idHeader: " " };
  expect(toWebhook(draft)).not.toHaveProperty("signature_header");
  const trigger = toWebhook({ ...draft, form: "hmac" });
  expect(trigger).toMatchObject({ form: "hmac", signature_header: "X-Gitea-Signature" });
  expect(trigger).not.toHaveProperty("id_header");
});

test("a condition without a value is sent as it is, so that the server names it", () => {
  expect(toWebhook({ ...newWebhook, fields: "draft\n\n" }).fields).toEqual([{ path: "draft", one_of: [] }]);
});
