import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type BuildOptions, type ImportKind, type Metafile, type Plugin, build } from "esbuild";

export type ProgramParts = {
  readonly root: string;
  /** Output file of the program; its late parts go beside it. */
  readonly library: string;
  readonly script: string;
  /** Entry file, relative to the root. */
  readonly main: string;
  /** Late imports that every start needs: files relative to the root, or packages. They become part of the start script. */
  readonly loadedAtStart: readonly string[];
  /** npm packages that no start may load: their static import is an error. */
  readonly loadedLate: readonly string[];
  /** Bundler options that all builds share. */
  readonly options: BuildOptions;
};

export type BuiltProgram = {
  /** The source files that went into the program. */
  readonly inputs: Metafile["inputs"];
  readonly bytes: number;
};

/**
 * Bundles the program into one script that `runCachedScript` runs, plus late parts that Node requires. The bundler can split only
 * ES modules, so it does that first. Then the modules of a start become one script and every other module a CommonJS file,
 * which reads its imports from the start script.
 */
export async function buildProgram(parts: ProgramParts): Promise<BuiltProgram> {
  using modules = mkdtempDisposableSync(path.join(tmpdir(), "convoke-build-"));
  // The module format is unset: so the default export of a late part is its own default export, not its namespace.
  writeFileSync(path.join(modules.path, "package.json"), "{}");
  const { inputs, parts: files } = await split(parts, modules.path);
  const start = startOf(files);
  rejectLateOnly(
    parts.loadedLate,
    [...start].flatMap((file) => files.get(file)?.inputs ?? []),
  );
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
    // An `import()` of an external module stays a promise.
    supported: { "dynamic-import": false },
    metafile: true,
  };
  const whole = await build({
    ...common,
    stdin: {
      // Each part runs on its first import, like a module.
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

/** Prologue of the program and its late parts: strict mode, as in ES modules. */
const asModule = `"use strict";const ownAddress = require("node:url").pathToFileURL(__filename).href;`;

/** Files of the split program: the entry, and one that lists the late imports of a start. */
const entries = { main: "main.js", start: "stdin.js" };

/** A file of the split program. */
type Part = {
  /** Files that it imports statically. */
  readonly imports: readonly string[];
  /** Files that it imports dynamically. */
  readonly lateImports: readonly string[];
  /** The source files in it. None for files that only re-export what is imported dynamically. */
  readonly inputs: readonly string[];
};

type Parts = ReadonlyMap<string, Part>;

/** Writes the split program to `folder`, as ES modules. */
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
        inputs: Object.keys(inputs),
      },
    ];
  });
  return { inputs: metafile.inputs, parts: new Map(parts) };
}

function rejectLateOnly(packages: readonly string[], inputs: readonly string[]): void {
  const found = packages.filter((name) => inputs.some((input) => input.includes(`/${name}/`)));
  if (found.length === 0) return;
  throw new Error(`Every start would load ${found.join(", ")}: load them late, by \`await import()\`.`);
}

/** Files loaded with the entries, and files that only re-export those. */
function startOf(parts: Parts): ReadonlySet<string> {
  const start = new Set<string>();
  const add = (file: string): void => {
    if (start.has(file)) return;
    start.add(file);
    for (const imported of parts.get(file)?.imports ?? []) add(imported);
  };
  add(entries.main);
  add(entries.start);
  for (const [file, { inputs, imports }] of parts) {
    if (inputs.length === 0 && imports.every((imported) => start.has(imported))) start.add(file);
  }
  return start;
}

const ofStart = "of-start";

/** Path by which one part loads another. Late parts read modules of the `start` from the start script. */
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
