import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { settingsTable } from "../src/configuration/settings-table.ts";
import { referenceDocuments } from "../src/reference-documents.ts";

/** Writes what documents have of the sources: docs/reference, and the table of docs/guides/configuration.md. */
const docs = path.resolve(import.meta.dirname, "../../../docs");
for (const [name, document] of Object.entries(referenceDocuments()))
  await writeFile(path.join(docs, "reference", name), `${JSON.stringify(document, null, 2)}\n`);
const guide = path.join(docs, "guides/configuration.md");
const text = await readFile(guide, "utf8");
const place = /(?<=<!-- settings -->\n)[^]*(?=<!-- \/settings -->)/;
if (!place.test(text)) throw new Error(`${guide} has no place for the table of settings.`);
await writeFile(
  guide,
  text.replace(place, () => `\n${settingsTable()}\n\n`),
);
