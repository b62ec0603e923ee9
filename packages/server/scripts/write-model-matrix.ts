/**
 * Writes the table of `docs/models.md` from what the wires really do, against scripted providers on this machine.
 *
 * Usage: npx node packages/server/scripts/write-model-matrix.ts
 */
import { readFileSync, writeFileSync } from "node:fs";
import { renderBehaviourMatrix } from "../src/models/behaviour-matrix.ts";
import { withMatrix } from "../src/models/matrix-page.ts";

const page = new URL("../../../docs/models.md", import.meta.url);
writeFileSync(page, withMatrix(readFileSync(page, "utf8"), await renderBehaviourMatrix()));
