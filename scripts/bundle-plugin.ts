import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import type { Plugin } from "esbuild";
import { outputName } from "./loaded-files.ts";
import { scanSource } from "./scan-source.ts";
import type { WorkspaceExports } from "./workspace-exports.ts";

/** Bundles this repository's packages, and rewrites addresses of loaded files to their names in the flat output folder. */
export function bundlePlugin(root: string, workspace: WorkspaceExports): Plugin {
  return {
    name: "convoke",
    setup: (build) => {
      build.onResolve({ filter: /^[^./]/ }, ({ path: specifier }) => {
        if (!workspace.owns(specifier)) return null;
        const { file } = workspace.resolve(specifier);
        if (file === null) return { errors: [{ text: `${specifier} is not exported` }] };
        return { path: path.join(root, file) };
      });
      // An ES module view of these reads every export at once; one of `node:http` loads all of `fetch` (20 % of a start).
      build.onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
        kind === "import-statement" ? { path: "http", namespace: lazyBuiltin } : null,
      );
      build.onLoad({ filter: /.*/, namespace: lazyBuiltin }, ({ path: name }) => ({
        contents: `module.exports = process.getBuiltinModule(${JSON.stringify(`node:${name}`)});`,
        loader: "js",
      }));
      // Packages require these while loading, but no start uses them. They are loaded on first use.
      build.onResolve({ filter: /^(node:)?(http2|https|tls)$/ }, ({ path: name }) => ({
        path: name.replace("node:", ""),
        namespace: lateBuiltin,
      }));
      build.onLoad({ filter: /.*/, namespace: lateBuiltin }, ({ path: name }) => ({
        contents: loadedWhenRead(name),
        loader: "js",
      }));
      build.onLoad({ filter: /\/find-my-way\/lib\/node\.js$/ }, async ({ path: file }) => ({
        contents: withoutCompiledPrefixes(await readFile(file, "utf8"), file),
        loader: "js",
      }));
      build.onLoad({ filter: /\/find-my-way\/lib\/handler-storage\.js$/ }, async ({ path: file }) => ({
        contents: withParamsCompiledOnce(await readFile(file, "utf8"), file),
        loader: "js",
      }));
      build.onLoad({ filter: /\.tsx?$/ }, async ({ path: file }) => {
        const source = await readFile(file, "utf8");
        const directory = path.posix.dirname(path.relative(root, file).split(path.sep).join("/"));
        return { contents: pointAtOutput(source, directory), loader: file.endsWith("x") ? "tsx" : "ts" };
      });
    },
  };
}

const lazyBuiltin = "lazy-builtin";
const lateBuiltin = "late-builtin";

/** A CommonJS module with the export names of a Node module, which is loaded when the first export is read. */
function loadedWhenRead(name: string): string {
  const names = Object.keys(createRequire(import.meta.url)(`node:${name}`) as object);
  const getters = names.map((one) => `get ${one}() { return load().${one}; },`);
  return [
    `const load = () => process.getBuiltinModule("node:${name}");`,
    "module.exports = {",
    ...getters,
    "};",
  ].join("\n");
}

const startOfCompiledPrefix = /^  const lines = \[\]\n(?=  for \(let i = 1; i < prefix\.length; i\+\+\))/m;

/** The router compiles a function per node of its tree, many times while routes are added: 10 % of a start. */
function withoutCompiledPrefixes(source: string, file: string): string {
  if (!startOfCompiledPrefix.test(source)) throw new Error(`${file} compares prefixes in another way now`);
  return source.replace(
    startOfCompiledPrefix,
    (start) => `  return (path, i) => path.startsWith(prefix, i)\n${start}`,
  );
}

const startOfCompiledParams = /^  _compileCreateParamsObject \(params\) \{\n/m;

/** The router compiles a function per route from the names of its parameters, which are a few dozen lists: 1 % of a start. */
function withParamsCompiledOnce(source: string, file: string): string {
  if (!startOfCompiledParams.test(source)) throw new Error(`${file} compiles parameters in another way now`);
  const once = `  _compileCreateParamsObject (params) {
    return (compiledParams[JSON.stringify(params)] ??= this._compileParams(params))
  }

  _compileParams (params) {
`;
  return `${source.replace(startOfCompiledParams, () => once)}\nconst compiledParams = Object.create(null)\n`;
}

/** Rewrites every address in place, line by line, so that source maps stay right. `directory` is the source's, relative to the root. */
function pointAtOutput(source: string, directory: string): string {
  const lines = source.split("\n");
  for (const { form, specifier, line } of scanSource(source).references) {
    if (form !== "url" || !specifier.startsWith(".")) continue;
    const before = lines[line - 1] ?? "";
    const isFolder = specifier.endsWith("/");
    const address = `./${outputName(path.posix.join(directory, specifier))}${isFolder ? "/" : ""}`;
    lines[line - 1] = ['"', "'", "`"].reduce(
      (text, quote) => text.replace(`${quote}${specifier}${quote}`, () => JSON.stringify(address)),
      before,
    );
  }
  return lines.join("\n");
}
