import { expect, test } from "vitest";
import { createBoundSecretRegistry } from "../egress/bound-secret-registry.ts";
import type { BoundSecret } from "../egress/egress.ts";
import { silentLogger } from "../lib/logger.ts";
import { SandboxSecrets } from "./sandbox-secrets.ts";

const place = { conversationId: "one", wallOf: "sandbox" };
const token: BoundSecret = {
  name: "TOKEN",
  placeholder: "placeholder",
  value: "value-of-the-token",
  hosts: ["git.example.com"],
  as: ["header"],
};

function open() {
  const boundSecrets = createBoundSecretRegistry();
  const sent: [string, readonly BoundSecret[]][] = [];
  const failing = { next: false };
  const sandboxes = {
    sendSecrets: async (_id: string, conversationId: string, secrets: readonly BoundSecret[]) => {
      if (failing.next) throw new Error("no connection");
      sent.push([conversationId, secrets]);
    },
  };
  return {
    boundSecrets,
    sent,
    failing,
    secrets: new SandboxSecrets({ boundSecrets, sandboxes, logger: silentLogger }),
  };
}

test("what conversations bind is sent when tools open, at each change, and once more when it is gone", async () => {
  const { boundSecrets, sent, secrets } = open();
  await secrets.send("sandbox");
  expect(sent).toEqual([]);
  boundSecrets.set(place, [token]);
  await secrets.send("sandbox");
  boundSecrets.set(place, [{ ...token, value: "another value" }]);
  boundSecrets.set(place, []);
  await secrets.send("sandbox");
  expect(sent.at(0)).toEqual(["one", [token]]);
  expect(sent.at(-1)).toEqual(["one", []]);
  const count = sent.length;
  // Nobody watches any more.
  boundSecrets.set(place, [token]);
  await secrets.send("other");
  expect(sent).toHaveLength(count);
});

test("a failure is no failure of the tools, and the next opening sends again", async () => {
  const { boundSecrets, sent, failing, secrets } = open();
  boundSecrets.set(place, [token]);
  failing.next = true;
  await secrets.send("sandbox");
  failing.next = false;
  await secrets.send("sandbox");
  expect(sent).toEqual([["one", [token]]]);
});
