/**
 * Writes the table of `docs/compatibility-tables.md` from what the official client gets from a running server.
 *
 * Usage: npx node test/clients/write-client-table.ts
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readPaths, readSurface } from "./client-surface.ts";
import { renderClientTable, withClientTable } from "./client-table.ts";
import { ClientWorld } from "./client-world.ts";
import { scenarios } from "./scenarios.ts";

const page = join(import.meta.dirname, "../..", "docs/compatibility-tables.md");
await using world = await ClientWorld.open();
for (const scenario of Object.values(scenarios)) await scenario(world);
const table = renderClientTable(readSurface(world.client), world.record.outcomes, readPaths());
writeFileSync(page, withClientTable(readFileSync(page, "utf8"), table));
