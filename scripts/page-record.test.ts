import { mkdirSync, mkdtempDisposableSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { hashPageSources, readPageRecord, writePageRecord } from "./page-record.ts";

const sizes = { script: 1, style: 2, modules: [["packages/web/src/main.tsx", 3]] } as const;

/** A clone in which the page was built and noted. */
function builtClone() {
  const folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-page-record-"));
  const write = (file: string, text: string): void => {
    mkdirSync(path.dirname(path.join(folder.path, file)), { recursive: true });
    writeFileSync(path.join(folder.path, file), text);
  };
  write("package-lock.json", "{}");
  write("packages/web/index.html", "<main></main>");
  write("packages/web/src/view/main.tsx", "one");
  write("packages/client/src/view/fold.ts", "one");
  const from = hashPageSources(folder.path);
  write("packages/web/dist/assets/main.js", "built");
  writePageRecord(folder.path, from, sizes);
  return { root: folder.path, write, [Symbol.dispose]: () => folder.remove() };
}

test("a page that was built from the same sources is known, with its sizes", () => {
  using clone = builtClone();
  expect(readPageRecord(clone.root)).toEqual(sizes);
  // Neither is a part of the page.
  clone.write("packages/server/src/server.ts", "new");
  clone.write("README.md", "new");
  expect(readPageRecord(clone.root)).toEqual(sizes);
});

test.each([
  "packages/web/src/view/main.tsx",
  "packages/web/src/new.tsx",
  "packages/web/public/early.js",
  "packages/web/index.html",
  "packages/client/src/view/fold.ts",
  "packages/protocol/src/events.ts",
  "package-lock.json",
  "scripts/build-replay.ts",
  "packages/web/dist/assets/main.js",
  "packages/web/dist/assets/added.js",
])("it is not, when %s was written since", (file) => {
  using clone = builtClone();
  clone.write(file, "another");
  expect(readPageRecord(clone.root)).toBe(null);
});

test.each(["packages/web/src/view/main.tsx", "packages/web/dist", "node_modules/.cache"])(
  "it is not, when %s was removed since",
  (file) => {
    using clone = builtClone();
    rmSync(path.join(clone.root, file), { recursive: true });
    expect(readPageRecord(clone.root)).toBe(null);
  },
);

test("sources that changed while the page was built are seen by the next build", () => {
  using clone = builtClone();
  const from = hashPageSources(clone.root);
  clone.write("packages/web/src/view/main.tsx", "changed meanwhile");
  writePageRecord(clone.root, from, sizes);
  expect(readPageRecord(clone.root)).toBe(null);
});
