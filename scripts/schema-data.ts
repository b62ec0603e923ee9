import { readdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "esbuild";

const sourceFolder = "packages/protocol/src";
const dataModule = "convoke-schema-data";
/** Written beside the bundle. */
export const dataFile = "protocol-schemas.json";

type Exports = Readonly<Record<string, unknown>>;
type Modules = ReadonlyMap<string, Exports>;

/** What is imported by name from a module that stays as it is. */
type Imported = { readonly file: string; readonly name: string };

/** The place of a value in the data: the number of the root, then keys. */
type Place = readonly (string | number)[];

export type SchemaData = {
  /** By file: what its module is in the bundle. */
  readonly modules: ReadonlyMap<string, string>;
  /** The module that has the data of all of them. It reads `json`, which is a file beside the bundle. */
  readonly contents: string;
  readonly json: string;
};

/**
 * Bundles the schemas and route tables of the protocol as the data that they are: a start then parses one text, and does not run the
 * builders of thousands of objects, nor load their library. A module with anything that is neither data nor exported as a function
 * elsewhere stays as it is.
 *
 * Only for speed: B1, B1.first
 */
export function schemaDataPlugin({ modules, contents }: SchemaData, folder: string): Plugin {
  return {
    name: "convoke-schema-data",
    setup: (build) => {
      build.onResolve({ filter: new RegExp(`^${dataModule}$`) }, ({ path: name }) => ({
        path: name,
        namespace: dataModule,
      }));
      build.onLoad({ filter: /.*/, namespace: dataModule }, () => ({
        contents,
        loader: "js",
        resolveDir: folder,
      }));
      build.onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
        const stub = modules.get(file);
        return stub === undefined ? null : { contents: stub, loader: "js" };
      });
    },
  };
}

/** Reads the modules of the protocol in the checkout `root`. */
export async function readSchemaData(root: string): Promise<SchemaData> {
  return toSchemaData(await importModules(path.join(root, sourceFolder)));
}

export async function importModules(folder: string): Promise<Modules> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !/\.test\.ts$|(^|\/)(testing|golden)\//.test(file))
    .map((file) => path.join(folder, file))
    .toSorted();
  const modules = new Map<string, Exports>();
  for (const file of files) modules.set(file, (await import(pathToFileURL(file).href)) as Exports);
  return modules;
}

export function toSchemaData(modules: Modules): SchemaData {
  const dataFiles = findDataFiles(modules);
  const imports = importable(modules, dataFiles);
  const roots = findRoots(
    dataFiles.map((file) => modules.get(file)!),
    imports,
  );
  const used: Imported[] = [];
  const links: [Place, number][] = [];
  const texts = [...roots].map(([value, index]) => {
    const copy = copyOf(value, [index], (part, place) => {
      const target = part === value ? undefined : roots.get(part);
      const outside = target === undefined ? imports.get(part) : undefined;
      if (target !== undefined) links.push([place, target]);
      else if (outside !== undefined) links.push([place, -used.push(outside)]);
      return target !== undefined || outside !== undefined;
    });
    return JSON.stringify(copy);
  });
  const maps = [...roots].flatMap(([value, index]) => (value instanceof Map ? [index] : []));
  const json = JSON.stringify({ roots: "ROOTS", links, maps }).replace(
    '"ROOTS"',
    () => `[${texts.join(",")}]`,
  );
  return {
    modules: new Map(dataFiles.map((file) => [file, stubOf(modules.get(file)!, roots)])),
    contents: [
      ...used.map(
        ({ file, name }, index) => `import { ${name} as imported${index} } from ${JSON.stringify(file)};`,
      ),
      `const imported = [${used.map((_, index) => `imported${index}`).join(", ")}];`,
      'import { readFileSync } from "node:fs";',
      `const { roots, links, maps } = JSON.parse(readFileSync(new URL("./${dataFile}", import.meta.url), "utf8"));`,
      "for (const [place, target] of links) {",
      "  let parent = roots;",
      "  for (const key of place.slice(0, -1)) parent = parent[key];",
      "  parent[place.at(-1)] = target < 0 ? imported[-1 - target] : roots[target];",
      "}",
      "for (const index of maps) roots[index] = new Map(roots[index]);",
      "export { roots };",
    ].join("\n"),
    json,
  };
}

/** What is exported, and what is part of several others; with the number of each. */
function findRoots(
  exported: readonly Exports[],
  imports: ReadonlyMap<unknown, Imported>,
): ReadonlyMap<object, number> {
  const roots = new Map<object, number>();
  const seen = new Set<object>();
  const add = (value: object): void => {
    if (!roots.has(value)) roots.set(value, roots.size);
  };
  const visit = (value: unknown): void => {
    if (!isObject(value) || imports.has(value)) return;
    if (seen.has(value)) return add(value);
    seen.add(value);
    for (const part of value instanceof Map ? [...value].flat() : Object.values(value)) visit(part);
  };
  for (const value of exported.flatMap((one) => Object.values(one))) {
    visit(value);
    if (isObject(value)) add(value);
  }
  return roots;
}

function stubOf(exports: Exports, roots: ReadonlyMap<object, number>): string {
  const lines = Object.entries(exports).map(
    ([name, value]) =>
      `export const ${name} = ${isObject(value) ? `roots[${roots.get(value)}]` : JSON.stringify(value)};`,
  );
  return [`import { roots } from "${dataModule}";`, ...lines].join("\n");
}

/** The files of modules that are data, with functions of others in it at most. */
function findDataFiles(modules: Modules): readonly string[] {
  let files = [...modules.keys()].filter((file) => {
    const values = Object.values(modules.get(file)!);
    return values.length > 0 && values.every((value) => typeof value !== "function");
  });
  for (;;) {
    const imports = importable(modules, files);
    const data = files.filter((file) =>
      Object.values(modules.get(file)!).every((value) => isData(value, imports)),
    );
    if (data.length === files.length) return data;
    files = data;
  }
}

/** Functions and objects that only modules besides `dataFiles` export; of several, the deepest file is taken. */
function importable(modules: Modules, dataFiles: readonly string[]): ReadonlyMap<unknown, Imported> {
  const data = new Set(dataFiles.flatMap((file) => Object.values(modules.get(file)!)));
  const depth = (file: string): number => file.split(path.sep).length;
  const found = new Map<unknown, Imported>();
  for (const file of [...modules.keys()].toSorted((a, b) => depth(b) - depth(a)))
    for (const [name, value] of Object.entries(modules.get(file)!))
      if (isReference(value) && !data.has(value) && !found.has(value)) found.set(value, { file, name });
  return found;
}

function isData(value: unknown, imports: ReadonlyMap<unknown, Imported>): boolean {
  if (imports.has(value)) return true;
  if (value instanceof Map) return [...value].every((entry) => isData(entry, imports));
  if (!isObject(value)) return value === null || ["string", "number", "boolean"].includes(typeof value);
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  return isPlain && Object.values(value).every((part) => isData(part, imports));
}

/** A copy as JSON can hold it, with null where `isElsewhere` says that the part is linked. */
function copyOf(value: object, place: Place, isElsewhere: (part: object, place: Place) => boolean): unknown {
  const copy = (part: unknown, key: string | number): unknown => {
    if (!isReference(part)) return part;
    const at = [...place, key];
    return isElsewhere(part, at) ? null : copyOf(part, at, isElsewhere);
  };
  if (value instanceof Map) return copyOf([...value], place, isElsewhere);
  if (Array.isArray(value)) return value.map(copy);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copy(part, key)]));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isReference(value: unknown): value is object {
  return isObject(value) || typeof value === "function";
}
