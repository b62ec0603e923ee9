import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { renderBehaviourMatrix } from "./behaviour-matrix.ts";
import { withMatrix } from "./matrix-page.ts";

test("the table of docs/models.md says what the wires do; scripts/write-model-matrix.ts writes it", async () => {
  const page = readFileSync(new URL("../../../../docs/models.md", import.meta.url), "utf8");
  expect(page).toBe(withMatrix(page, await renderBehaviourMatrix()));
}, 30_000);
