import { expect, test } from "vitest";
import type { ConversationRow } from "../journal/journal.ts";
import { createSecretBox } from "../security/seal.ts";
import { withPlaceholders } from "./bound-secrets.ts";
import type { ConversationSecrets } from "./conversation-config.ts";
import { StoredSecrets } from "./stored-secrets.ts";

const logger = { info: () => {}, warn: () => {}, error: () => {} };
const box = createSecretBox(Buffer.alloc(32, 1));
const stored = new StoredSecrets({ secretBox: box, logger, serverKeys: ["key-of-the-server"] });
const rowOf = (sealedSecrets: string | null): ConversationRow =>
  ({ id: "c", sealedSecrets }) as ConversationRow;

test("a fork has placeholders of its own, and the same values", () => {
  const bound = { kind: "StaticSecret" as const, value: "value-of-the-token", hosts: ["git.example.com"] };
  const given: ConversationSecrets = withPlaceholders({ llm: {}, sources: { TOKEN: bound } });
  const forked = stored.sealForFork(rowOf(box.seal(JSON.stringify(given))));
  const secrets = JSON.parse(box.unseal(forked!)) as ConversationSecrets;
  expect(secrets.sources).toEqual(given.sources);
  expect(secrets.placeholders?.["TOKEN"]).toMatch(/^cvk_TOKEN_/);
  expect(secrets.placeholders?.["TOKEN"]).not.toBe(given.placeholders?.["TOKEN"]);
  expect(secrets.serverKeys).toBeUndefined();
});

test("P8: without bound secrets, or where they cannot be opened, a fork gets what is stored", () => {
  const plain = box.seal(JSON.stringify({ llm: {}, sources: {} }));
  const foreign = createSecretBox(Buffer.alloc(32, 2)).seal("{}");
  for (const sealed of [null, plain, foreign]) expect(stored.sealForFork(rowOf(sealed))).toBe(sealed);
});
