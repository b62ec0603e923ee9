import { expect, test } from "vitest";
import type { ConversationConfig } from "../engine/conversation-config.ts";
import { leaveOutBound } from "./leave-out-bound.ts";

const config = {
  warnings: [{ code: "earlier", detail: "An earlier one." }],
} as unknown as ConversationConfig;
const open = { kind: "StaticSecret" as const, value: "a value" };
const bound = { ...open, hosts: ["git.example.com"] };

test("secrets that are bound to hosts are left out, with a warning that names them", () => {
  const { config: next, secrets } = leaveOutBound({
    config,
    secrets: { llm: {}, sources: { OPEN: open, TOKEN: bound }, placeholders: { TOKEN: "placeholder" } },
  });
  expect(secrets).toEqual({ llm: {}, sources: { OPEN: open } });
  expect(next.warnings).toMatchObject([
    { code: "earlier" },
    { code: "bound_secrets_left_out", secrets: ["TOKEN"] },
  ]);
});

test("without any nothing changes", () => {
  const started = { config, secrets: { llm: {}, sources: { OPEN: open } } };
  expect(leaveOutBound(started)).toEqual(started);
});
