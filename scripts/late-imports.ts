import { readFileSync } from "node:fs";
import path from "node:path";
import type { Metafile } from "esbuild";

/**
 * Own sources that load a CommonJS package late and take named exports of it. In the checkout Node finds those by reading
 * the package; in the bundle such a module has a default export alone, and each name is undefined. As `file: package`.
 */
export function findNamedLateImports(
  root: string,
  { inputs }: Pick<Metafile, "inputs">,
  isOwnSource: (file: string) => boolean,
): string[] {
  return Object.entries(inputs)
    .filter(([file]) => isOwnSource(file))
    .flatMap(([file, { imports }]) =>
      imports
        .filter(({ kind, external }) => kind === "dynamic-import" && external !== true)
        .filter(({ path: target }) => !isOwnSource(target) && inputs[target]?.format === "cjs")
        .map(({ original, path: target }) => ({ file, specifier: original ?? target })),
    )
    .filter(({ file, specifier }) => !takesDefault(readFileSync(path.join(root, file), "utf8"), specifier))
    .map(({ file, specifier }) => `${file}: ${specifier}`);
}

/** Whether every `import("specifier")` of the source uses only the default export. */
export function takesDefault(source: string, specifier: string): boolean {
  const name = RegExp.escape(specifier);
  const late = new RegExp(`(?<!typeof )\\bimport\\(\\s*["'\`]${name}["'\`],?\\s*\\)`, "g");
  const right = new RegExp(
    `(?:\\{ default: \\w+ \\} = await import\\(\\s*["'\`]${name}["'\`],?\\s*\\)|\\(await import\\(\\s*["'\`]${name}["'\`],?\\s*\\)\\)\\.default\\b)`,
    "g",
  );
  return count(source, late) === count(source, right);
}

function count(source: string, pattern: RegExp): number {
  return [...source.matchAll(pattern)].length;
}
