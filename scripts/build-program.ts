import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type BuildOptions, type ImportKind, type Metafile, type Plugin, build } from "esbuild";

export type ProgramParts = {
  readonly root: string;
  /** Where the program is written, as `script` with its late parts beside it. */
  readonly library: string;
  readonly script: string;
  /** Its first file, relative to the root. */
  readonly main: string;
  /** What every start loads late, by its sources: files relative to the root, or packages. It becomes part of the one script. */
  readonly loadedAtStart: readonly string[];
  /** How sources become text, the same for everything that is built. */
  readonly options: BuildOptions;
};

export type BuiltProgram = {
  /** What the sources were. */
  readonly inputs: Metafile["inputs"];
  readonly bytes: number;
};

/**
 * Bundles the program into one script that `runKeptScript` runs, and late parts that Node requires. The bundler splits
 * modules alone, so it does that first; then the modules of a start become one, and each other one a CommonJS file, which
 * reads what it imports of a start from the script.
 */
export async function buildProgram(parts: ProgramParts): Promise<BuiltProgram> {
  using modules = mkdtempDisposableSync(path.join(tmpdir(), "convoke-build-"));
  // No kind of module is named: a default export of a late part is what the part says, not the whole of it.
  writeFileSync(path.join(modules.path, "package.json"), "{}");
  const { inputs, parts: files } = await split(parts, modules.path);
  const start = startOf(files);
  const late = [...files.keys()].filter((file) => !start.has(file));
  const wanted = late
    .map((file) => files.get(file))
    .flatMap((part) => [part?.imports ?? [], part?.lateImports ?? []]);
  const shared = new Set(wanted.flat().filter((file) => start.has(file)));
  const common: BuildOptions = {
    ...parts.options,
    absWorkingDir: modules.path,
    outdir: parts.library,
    bundle: true,
    format: "cjs",
    // `import` of what is outside stays a promise.
    supported: { "dynamic-import": false },
    metafile: true,
  };
  const whole = await build({
    ...common,
    stdin: {
      // Each runs when it is first asked for, as a module would.
      contents: [
        `export { main } from "./${entries.main}";`,
        `export const parts = {`,
        ...[...shared].map((file) => `"${file}": () => require("./${file}"),`),
        `};`,
      ].join("\n"),
      resolveDir: modules.path,
    },
    entryNames: path.parse(parts.script).name,
    banner: { js: `(function (exports, require, module, __filename, __dirname) {\n${asModule}` },
    footer: { js: "\n})" },
    plugins: [linkParts(start, null)],
  });
  const others = await build({
    ...common,
    entryPoints: late.map((file) => path.join(modules.path, file)),
    outExtension: { ".js": ".cjs" },
    banner: { js: asModule },
    plugins: [linkParts(start, parts.script)],
  });
  const written = Object.entries({ ...whole.metafile?.outputs, ...others.metafile?.outputs });
  return {
    inputs,
    bytes: written.filter(([file]) => /\.c?js$/.test(file)).reduce((sum, [, { bytes }]) => sum + bytes, 0),
  };
}

/** What the program and each of its late parts begins with, in the place of what modules have: they are strict. */
const asModule = `"use strict";const ownAddress = require("node:url").pathToFileURL(__filename).href;`;

/** Files of the split program: the program itself, and one that only says what a start loads. */
const entries = { main: "main.js", start: "stdin.js" };

/** A file of the split program, by its name. */
type Part = {
  /** Files that it imports at once. */
  readonly imports: readonly string[];
  /** Files that it imports when they are wanted. */
  readonly lateImports: readonly string[];
  /** Something of the sources is in it; the others only pass on what is imported of them late. */
  readonly hasCode: boolean;
};

type Parts = ReadonlyMap<string, Part>;

/** Writes the program as modules to `folder`. */
async function split(
  { root, main, loadedAtStart, options }: ProgramParts,
  folder: string,
): Promise<{ inputs: Metafile["inputs"]; parts: Parts }> {
  const late = loadedAtStart.map((name, index) => `export * as late${index} from "${name}";`);
  const { metafile } = await build({
    ...options,
    absWorkingDir: root,
    entryPoints: [{ in: path.join(root, main), out: path.parse(entries.main).name }],
    stdin: { contents: late.join("\n"), resolveDir: root },
    outdir: folder,
    bundle: true,
    splitting: true,
    chunkNames: "part-[hash]",
    format: "esm",
    define: { "import.meta.url": "ownAddress" },
    legalComments: "inline",
    metafile: true,
  });
  const files = Object.entries(metafile.outputs).filter(([file]) => file.endsWith(".js"));
  const parts = files.map(([file, { imports, inputs }]): [string, Part] => {
    const named = (wanted: ImportKind): string[] =>
      imports
        .filter(({ kind, external }) => kind === wanted && external !== true)
        .map((imported) => path.basename(imported.path));
    return [
      path.basename(file),
      {
        imports: named("import-statement"),
        lateImports: named("dynamic-import"),
        hasCode: Object.keys(inputs).length > 0,
      },
    ];
  });
  return { inputs: metafile.inputs, parts: new Map(parts) };
}

/** What is loaded with the entries, and what only passes such files on. */
function startOf(parts: Parts): ReadonlySet<string> {
  const start = new Set<string>();
  const add = (file: string): void => {
    if (start.has(file)) return;
    start.add(file);
    for (const imported of parts.get(file)?.imports ?? []) add(imported);
  };
  add(entries.main);
  add(entries.start);
  for (const [file, { hasCode, imports }] of parts) {
    if (!hasCode && imports.every((imported) => start.has(imported))) start.add(file);
  }
  return start;
}

const ofStart = "of-start";

/** Where a part finds another. Late parts read those of the `start` from the `script`, which itself consists of them. */
function linkParts(start: ReadonlySet<string>, script: string | null): Plugin {
  return {
    name: "convoke-parts",
    setup: (builder) => {
      builder.onResolve({ filter: /.*/ }, ({ path: target, kind, namespace }) => {
        if (kind === "entry-point") return null;
        if (namespace === ofStart || !target.startsWith("./")) return { path: target, external: true };
        const file = path.basename(target);
        if (!start.has(file)) return { path: `./${path.parse(file).name}.cjs`, external: true };
        return script === null ? null : { path: file, namespace: ofStart };
      });
      builder.onLoad({ filter: /.*/, namespace: ofStart }, ({ path: file }) => ({
        contents: `module.exports = require("./${script}").parts["${file}"]();`,
        loader: "js",
      }));
    },
  };
}
