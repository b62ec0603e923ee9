import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { renderBehaviourMatrix } from "./behaviour-matrix.ts";
import { withMatrix } from "./matrix-page.ts";

test("the table of docs/models.md matches the wires; scripts/write-model-matrix.ts writes it", async () => {
  const page = readFileSync(join(import.meta.dirname, "../../../../..", "docs/models.md"), "utf8");
  expect(page).toBe(withMatrix(page, await renderBehaviourMatrix()));
});
