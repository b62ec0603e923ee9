import { expect, test } from "vitest";
import { scanSource } from "./scan-source.ts";

/** `form specifier line`, one per reference. */
function references(source: string): string[] {
  return scanSource(source).references.map(({ form, specifier, line }) => `${form} ${specifier} ${line}`);
}

test("every form of import is found, with its line", () => {
  const source = [
    `import "./side-effect.ts";`,
    `import first, { type A, b as c } from "./first.ts";`,
    `import * as all from './all.ts';`,
    `import type { T } from "./types-only.ts";`,
    `import type D from "./default-type.ts"`,
    `import {`,
    `  one,`,
    `  two,`,
    `} from "./many.ts";`,
    `export { x } from "./again.ts";`,
    `export * from "./star.ts";`,
    `export * as named from "./named.ts";`,
    `export type { U } from "./again-type.ts";`,
    `const lazy = await import("./lazy.ts");`,
    `const text = await import(\`./template.ts\`);`,
    `type Far = import("./far.ts").Far;`,
    `const worker = new Worker(new URL("./worker.ts", import.meta.url));`,
    `const asset = import.meta.resolve("./asset.sh");`,
    `import data from "./data.json" with { type: "json" };`,
    `const old = createRequire(import.meta.url); const c = require("./old.cjs");`,
  ].join("\n");
  expect(references(source)).toEqual([
    "static ./side-effect.ts 1",
    "static ./first.ts 2",
    "static ./all.ts 3",
    "static ./types-only.ts 4",
    "static ./default-type.ts 5",
    "static ./many.ts 9",
    "static ./again.ts 10",
    "static ./star.ts 11",
    "static ./named.ts 12",
    "static ./again-type.ts 13",
    "dynamic ./lazy.ts 14",
    "dynamic ./template.ts 15",
    "dynamic ./far.ts 16",
    "url ./worker.ts 17",
    "url ./asset.sh 18",
    "static ./data.json 19",
    "static ./old.cjs 20",
  ]);
});

test("text that only looks like an import is not one", () => {
  const source = [
    `// import "./comment.ts";`,
    `/* export * from "./block.ts"; */`,
    `const a = 'import "./string.ts"';`,
    `const b = \`import "./template.ts" \${inner + \`export * from "./nested.ts"\`} \`;`,
    `const c = /import "\\/regex.ts"['"\`]/g;`,
    `const d = { import: "./key.ts", from: "./also-key.ts" };`,
    `const e = d.import("./method.ts");`,
    `export const f = from;`,
    `export type Where = { from: "./x.ts" };`,
    `export default "./default.ts";`,
    `const g = 4 / 2; const h = "after a division";`,
    `export { a, b };`,
    `const from = "./plain.ts";`,
    `const page = new URL("./relative", base);`,
  ].join("\n");
  expect(references(source)).toEqual([]);
});

test("imports are found after every construct that could hide them", () => {
  const last = `import "./last.ts";`;
  const constructs = [
    "const a = `${`${`deep`}`} } ${ {b: 1}.b }`;",
    "const a = x / y / z;",
    "const a = /[/'\"`]/.test(b);",
    "const a = f(c) / 2; // it's",
    "const a = 'it\\'s'; const b = \"\\\"\";",
    "const a = `\\``;",
    "const a = <p>Don't</p>;",
    "const a = b ? /'/ : /`/;",
    "for (const a of /'/g[Symbol.matchAll]('')) {}",
    "class A { #from = 1; static { } }",
    "export function from() {}",
  ];
  for (const construct of constructs) {
    expect([construct, references(`${construct}\n${last}`)]).toEqual([construct, ["static ./last.ts 2"]]);
  }
});

test("dynamic imports inside template substitutions are found", () => {
  expect(references('const a = `x ${await import("./inside.ts")} y`;')).toEqual(["dynamic ./inside.ts 1"]);
});

test("environment reads are found in every spelling, and only those", () => {
  const reads = [
    "process.env.PATH",
    "process?.env",
    'process["env"]["PATH"]',
    "globalThis.process.env",
    "const { pid, env } = process;",
    'import { env } from "node:process";',
    "const all = { ...process.env };",
  ];
  for (const source of reads) expect([source, scanSource(source).environmentLines]).toEqual([source, [1]]);
  const others = [
    "process.cwd()",
    "config.process.env",
    "// process.env",
    '"process.env"',
    "const { pid } = process;",
    "import.meta.env",
  ];
  for (const source of others) expect([source, scanSource(source).environmentLines]).toEqual([source, []]);
});

test("a file may ask where it is only to load a file it names", () => {
  const asks = [
    "import.meta.url",
    "import.meta.dirname",
    "import.meta.main",
    "new URL(`./${name}.md`, import.meta.url)",
    "new URL(name, import.meta.url)",
    "import.meta.resolve(name)",
  ];
  for (const source of asks) expect([source, scanSource(source).placeLines]).toEqual([source, [1]]);
  const loads = [
    'new URL("./x.ts", import.meta.url)',
    'import.meta.resolve("x")',
    "createRequire(import.meta.url)",
  ];
  for (const source of loads) expect([source, scanSource(source).placeLines]).toEqual([source, []]);
});

test("paths below /proc are found in texts, and comments are left alone", () => {
  const source = [
    "// reads `/proc/self/stat`",
    'readFileSync("/proc/self/stat");',
    "readFileSync(`/proc/${pid}/stat`);",
    " * `/proc`",
    'list("/proc");',
    'const words = "/procedure /proc: x";',
  ];
  expect(scanSource(source.join("\n")).procLines).toEqual([2, 3, 5]);
});
