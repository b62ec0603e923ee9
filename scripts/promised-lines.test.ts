import { expect, test } from "vitest";
import { brokenPromises, mayBreak } from "./promised-lines.ts";

const wire = (shape: object): string => JSON.stringify({ "GET /alive": shape });

test("a field of the wire that is gone, or has another type, breaks a promise; one more does not", () => {
  const older = wire({ items: [{ id: "string", title: "null | string" }], total: "number" });
  const more = wire({ items: [{ id: "string", size: "number", title: "null | string" }], total: "number" });
  const less = wire({ items: [{ title: "string" }], total: "number" });
  expect(brokenPromises("wire.json", older, more)).toEqual([]);
  expect(brokenPromises("wire.json", older, less)).toEqual([
    "GET /alive.items[].id: string",
    "GET /alive.items[].title: null | string",
  ]);
});

test("a member of an export that is gone breaks a promise, also where another export has the same line", () => {
  const report = (members: string, other: string): string =>
    `# x\n\n\`\`\`ts\n\n// @public\nexport class Client {\n${members}}\n\n// @public (undocumented)\nexport type Options = {\n${other}};\n\`\`\`\n`;
  const older = report("    close(): void;\n    readonly url: string;\n", "    readonly url: string;\n");
  expect(
    brokenPromises(
      "client.api.md",
      older,
      report(
        "    close(): void;\n    open(): void;\n    readonly url: string;\n",
        "    // why\n    readonly url: string;\n",
      ),
    ),
  ).toEqual([]);
  expect(
    brokenPromises(
      "client.api.md",
      older,
      report("    close(): void;\n", "    readonly url: string;\n    readonly url: string;\n"),
    ),
  ).toEqual(["Client: readonly url: string;"]);
});

test.each([
  ["1.2.3", "2.0.0", true],
  ["1.2.3", "1.3.0", false],
  ["0.1.4", "0.2.0", true],
  ["0.1.4", "0.1.5", false],
  ["0.9.0", "1.0.0", true],
  ["1.2.3", "1.2.3", false],
  ["2.0.0", "1.0.0", false],
])("from %s to %s promises may be broken: %s", (from, to, expected) => {
  expect(mayBreak(from, to)).toBe(expected);
});

test("what is no version is refused", () => {
  expect(() => mayBreak("1.2", "2.0.0")).toThrow('"1.2" is no version like 1.2.3');
});
