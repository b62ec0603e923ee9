import { mkdir, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { dataFile, importModules, schemaDataPlugin, toSchemaData } from "./schema-data.ts";

const root = path.resolve(import.meta.dirname, "..");

/** The modules of `folder` as a bundle has them. */
async function importBundled(folder: string): Promise<ReadonlyMap<string, Record<string, unknown>>> {
  const modules = await importModules(folder);
  const data = toSchemaData(modules);
  // Below the root, where the packages that are not bundled are found.
  const caches = path.join(root, "node_modules/.cache");
  await mkdir(caches, { recursive: true });
  await using output = await mkdtempDisposable(path.join(caches, "convoke-schema-data-"));
  const files = [...modules.keys()];
  await build({
    absWorkingDir: root,
    stdin: {
      contents: files.map((file, index) => `export * as m${index} from ${JSON.stringify(file)};`).join("\n"),
      resolveDir: root,
    },
    outfile: path.join(output.path, "bundle.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["ajv", "ajv-formats", "re2js"],
    plugins: [schemaDataPlugin(data, folder)],
    logLevel: "error",
  });
  await writeFile(path.join(output.path, dataFile), data.json);
  const bundled = (await import(path.join(output.path, "bundle.mjs"))) as Record<
    string,
    Record<string, unknown>
  >;
  return new Map(files.map((file, index) => [file, bundled[`m${index}`]!]));
}

/** Functions by their names, because those of the bundle are others. */
function withoutFunctions(value: unknown): unknown {
  if (typeof value === "function") return `function ${value.name}`;
  if (value instanceof Map) return new Map([...value].map(([key, part]) => [key, withoutFunctions(part)]));
  if (Array.isArray(value)) return value.map(withoutFunctions);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutFunctions(part)]));
}

test("the bundled data of the protocol is what its modules export, with the same objects shared", async () => {
  const folder = path.join(root, "packages/protocol/src");
  const modules = await importModules(folder);
  const data = toSchemaData(modules);
  expect(data.modules.size).toBeGreaterThan(120);
  const bundled = await importBundled(folder);
  const twins = new Map<object, object>();
  for (const file of data.modules.keys()) {
    for (const [name, value] of Object.entries(modules.get(file)!)) {
      const twin = bundled.get(file)?.[name];
      expect(withoutFunctions(twin), `${name} of ${file}`).toEqual(withoutFunctions(value));
      compare(value, twin);
    }
  }

  function compare(value: unknown, twin: unknown): void {
    if (typeof value !== "object" || value === null) return;
    const known = twins.get(value);
    if (known !== undefined) {
      if (known !== twin) expect.fail(`An object that is shared was copied: ${JSON.stringify(value)}`);
      return;
    }
    twins.set(value, twin as object);
    const parts = value instanceof Map ? [...value.values()] : Object.values(value);
    const twinParts = twin instanceof Map ? [...twin.values()] : Object.values(twin as object);
    for (const [index, part] of parts.entries()) compare(part, twinParts[index]);
  }
});

test("a module with a function that no other exports stays as it is, and so does what needs it", async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), "convoke-schema-data-"));
  const files = {
    "plain.ts": `export const plain = { a: 1 };`,
    "read.ts": `export function read() { return "read"; }`,
    "route.ts": `import { read } from "./read.ts"; import { plain } from "./plain.ts"; export const route = { read, plain };`,
    "hidden.ts": `export const hidden = { read: () => "hidden" };`,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder.path, name), text);
  const data = toSchemaData(await importModules(folder.path));
  expect([...data.modules.keys()].map((file) => path.basename(file))).toEqual(["plain.ts", "route.ts"]);
  const bundled = await importBundled(folder.path);
  const at = (name: string) => bundled.get(path.join(folder.path, name))!;
  const { route } = at("route.ts") as { route: { read: () => string; plain: unknown } };
  expect(route.read()).toBe("read");
  expect(route.plain).toBe(at("plain.ts")["plain"]);
  expect((at("hidden.ts") as { hidden: { read: () => string } }).hidden.read()).toBe("hidden");
});
