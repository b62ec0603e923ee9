import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { parse } from "yaml";

const chart = path.join(import.meta.dirname, "convoke");
const read = (name: string): string => readFileSync(path.join(chart, name), "utf8");
const defaults = parse(read("values.yaml")) as Record<string, unknown>;
const schema = JSON.parse(read("values.schema.json")) as {
  readonly $schema: string;
  readonly properties: Record<string, unknown>;
};
const { $schema: _, ...rules } = schema;
const check = new Ajv({ strict: false }).compile(rules);

/** The values as Helm joins them. */
function withDefaults(values: Record<string, unknown>): Record<string, unknown> {
  const joined = Object.entries(values).map(([name, value]) => {
    const before = defaults[name];
    const areObjects = [value, before].every(
      (one) => typeof one === "object" && one !== null && !Array.isArray(one),
    );
    return [name, areObjects ? { ...(before as object), ...(value as object) } : value];
  });
  return { ...defaults, ...Object.fromEntries(joined) };
}

test.each(["values.yaml", ...globSync("ci/*-values.yaml", { cwd: chart }).toSorted()])(
  "the schema of the chart accepts %s",
  (name) => {
    check(withDefaults(parse(read(name)) as Record<string, unknown>));
    expect(check.errors).toBeNull();
  },
);

test.each([
  ["several servers without a database", { replicas: 2 }, "/database/existingSecret"],
  ["a name that no value has", { replica: 3 }, ""],
  ["an ingress without a host", { ingress: { enabled: true } }, "/ingress/host"],
  ["a host with a path", { hosts: ["example.org/convoke"] }, "/hosts/0"],
  ["no secret for the key", { existingSecret: "" }, "/existingSecret"],
])("the schema of the chart refuses %s", (_title, values, place) => {
  expect(check(withDefaults(values))).toBe(false);
  expect(check.errors?.map(({ instancePath }) => instancePath)).toContain(place);
});

test("each value that a template reads has a default and a schema", () => {
  const templates = globSync("templates/*", { cwd: chart }).map(read).join("\n");
  const used = new Set(Array.from(templates.matchAll(/\.Values\.(\w+)/g), ([, name = ""]) => name));
  expect([...used].toSorted()).toEqual(Object.keys(defaults).toSorted());
  const described = Object.keys(schema.properties).filter((name) => name !== "global");
  expect(described.toSorted()).toEqual(Object.keys(defaults).toSorted());
});

test("the chart is of this release", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
  expect(parse(read("Chart.yaml"))).toMatchObject({ version, appVersion: version });
});
