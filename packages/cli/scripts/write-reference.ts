import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { apiCommandsText } from "../src/reference/api-commands-text.ts";
import { jsonOutputsText } from "../src/reference/json-outputs-text.ts";
import { describeCommands } from "../src/completion/describe-commands.ts";
import { settingsTable } from "../src/configuration/settings-table.ts";
import { referenceDocuments } from "../src/reference/reference-documents.ts";

/** Writes what documents have of the sources: docs/reference, and parts of the guides. */
const docs = path.resolve(import.meta.dirname, "../../../docs");
for (const [name, document] of Object.entries(referenceDocuments()))
  await writeFile(path.join(docs, "reference", name), `${JSON.stringify(document, null, 2)}\n`);
await writeFile(
  path.resolve(import.meta.dirname, "../src/completion/completion-table.generated.json"),
  `${JSON.stringify(await describeCommands())}\n`,
);
await writePart("configuration.md", "settings", settingsTable());
await writePart("cli.md", "api commands", await apiCommandsText());
await writePart("cli.md", "json", jsonOutputsText());

/** Replaces what stands between the marks of `name`. */
async function writePart(file: string, name: string, part: string): Promise<void> {
  const guide = path.join(docs, "guides", file);
  const text = await readFile(guide, "utf8");
  const place = new RegExp(`(?<=<!-- ${name} -->\\n)[^]*(?=<!-- /${name} -->)`);
  if (!place.test(text)) throw new Error(`${guide} has no place for ${name}.`);
  await writeFile(
    guide,
    text.replace(place, () => `\n${part}\n\n`),
  );
}
