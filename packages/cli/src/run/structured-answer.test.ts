import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readAnswerSchema } from "./structured-answer.ts";
import { withoutFence } from "./without-fence.ts";

async function schemaOf(text: string) {
  const folder = await mkdtempDisposable(join(tmpdir(), "convoke-schema-"));
  onTestFinished(() => folder.remove());
  const file = join(folder.path, "schema.json");
  await writeFile(file, text);
  return await readAnswerSchema(file);
}

const schema = JSON.stringify({
  type: "object",
  properties: { verdict: { enum: ["pass", "fail"] }, lines: { type: "integer" }, id: { pattern: "^a" } },
  required: ["verdict"],
});

test("an answer is valid with or without a fence, and each fault is named by its place", async () => {
  const { faultsOf, instruction } = await schemaOf(schema);
  expect(instruction).toContain(schema);
  expect(faultsOf('{"verdict":"pass"}')).toEqual([]);
  expect(faultsOf('```json\n{"verdict":"fail","lines":1}\n```')).toEqual([]);
  expect(faultsOf('{"lines":"one","id":"b"}')).toEqual([
    "The answer must have required property 'verdict'.",
    "/lines must be integer.",
    '/id must match pattern "^a".',
  ]);
  expect(faultsOf("It passes.")).toEqual(["The answer is not JSON."]);
  expect(withoutFence("```json\n[1]\n```")).toBe("[1]");
});

test.each(["{", '{"type": "thing"}', '{"$ref": "#/nowhere"}'])(
  "%s is no schema, which is said at once",
  async (text) => {
    await expect(schemaOf(text)).rejects.toThrow(/schema/);
  },
);
