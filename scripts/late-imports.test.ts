import { expect, test } from "vitest";
import { findNamedLateImports, takesDefault } from "./late-imports.ts";

test.each([
  ['const { default: yaml } = await import("yaml");', true],
  ['const { Agent } = (await import("yaml")).default;', true],
  ['const { parse } = await import("yaml");', false],
  ['const [{ parse }] = await Promise.all([import("yaml")]);', false],
  ['const { default: yaml } = await import("yaml");\nconst library = await import("yaml");', false],
  ['const { parse } = await import("another");', true],
  ['type Library = typeof import("yaml");', true],
])("a late import is read for its default: %s", (source, isRight) => {
  expect(takesDefault(source, "yaml")).toBe(isRight);
});

test("a CommonJS package whose names are taken late is found, a module is not", () => {
  const self = "scripts/late-imports.test.ts";
  const late = (target: string, original: string) => ({
    kind: "dynamic-import" as const,
    path: target,
    original,
  });
  const inputs = {
    [self]: { bytes: 1, imports: [late("node_modules/a/a.js", "yaml"), late("node_modules/b/b.js", "also")] },
    "node_modules/a/a.js": { bytes: 1, imports: [], format: "cjs" as const },
    "node_modules/b/b.js": { bytes: 1, imports: [], format: "esm" as const },
  };
  const found = findNamedLateImports(process.cwd(), { inputs }, (file) => !file.startsWith("node_modules/"));
  expect(found).toEqual([`${self}: yaml`]);
});
