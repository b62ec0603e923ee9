/**
 * Writes the table of `docs/models.md` from what the wires really do, against scripted providers on this machine.
 *
 * Usage: npx node packages/server/scripts/write-model-matrix.ts
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderBehaviourMatrix } from "../src/testing/model-matrix/behaviour-matrix.ts";
import { withMatrix } from "../src/testing/model-matrix/matrix-page.ts";

const page = join(import.meta.dirname, "../../..", "docs/models.md");
writeFileSync(page, withMatrix(readFileSync(page, "utf8"), await renderBehaviourMatrix()));
