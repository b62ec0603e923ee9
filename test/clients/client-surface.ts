import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

type Class = abstract new (...args: never[]) => object;

const folder = dirname(fileURLToPath(import.meta.resolve("@openhands/typescript-client")));

/** The version of the installed package. */
export function clientVersion(): string {
  const description = JSON.parse(readFileSync(join(folder, "../package.json"), "utf8")) as {
    version: string;
  };
  return description.version;
}

/** Every exported class with the public methods and accessors that it defines itself; inherited ones are their parent's. */
export function readSurface(exports: object): Map<string, readonly string[]> {
  const hidden = readHiddenMembers();
  const surface = new Map<string, readonly string[]>();
  for (const [name, value] of Object.entries(exports)) {
    if (!isClass(value)) continue;
    const own = Object.getOwnPropertyNames(value.prototype).filter((member) => member !== "constructor");
    surface.set(
      name,
      own.filter((member) => hidden.get(name)?.has(member) !== true),
    );
  }
  return new Map([...surface].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Every address in the package's code, its parameters written as `{}`. */
export function readPaths(): string[] {
  const paths = new Set<string>();
  for (const file of globSync("**/*.js", { cwd: folder, exclude: ["__tests__/**"] })) {
    const source = readFileSync(join(folder, file), "utf8");
    for (const [, text] of source.matchAll(addressPattern)) paths.add(toTemplate(text!));
    for (const [text] of source.matchAll(/\/sockets\/[^`"']+/g)) paths.add(toTemplate(text));
    // Addresses that one client derives from its own base.
    for (const [, rest] of source.matchAll(/`\$\{this\.profileBasePath\(\)\}([^`]*)`/g)) {
      paths.add(`/api/v1/settings/profiles${toTemplate(rest!)}`);
      paths.add(`/api/organizations/{}/profiles${toTemplate(rest!)}`);
    }
  }
  return [...paths].sort();
}

const addressPattern = /["'`](\/(?:api|oauth|v1|alive|health|ready|server_info)(?:[/?][^"'`]*)?)["'`]/g;

function toTemplate(text: string): string {
  return text
    .replaceAll(/\$\{(?:[^{}]|\{[^}]*\})*\}/g, "{}")
    .replace(/\?.*$/, "")
    .replace(/([^/])\{\}$/, "$1");
}

function isClass(value: unknown): value is Class {
  return typeof value === "function" && value.toString().startsWith("class ");
}

/** What TypeScript calls private or protected, by class. */
function readHiddenMembers(): Map<string, Set<string>> {
  const hidden = new Map<string, Set<string>>();
  for (const file of globSync("**/*.d.ts", { cwd: folder })) {
    const classes = readFileSync(join(folder, file), "utf8").split(/^export declare (?:abstract )?class /m);
    for (const text of classes.slice(1)) {
      const name = /^\w+/.exec(text)![0];
      const body = text.slice(0, text.indexOf("\n}"));
      const members = [...body.matchAll(/^\s+(?:private|protected)(?: readonly| static| get)* (\w+)/gm)];
      hidden.set(name, new Set(members.map(([, member]) => member!)));
    }
  }
  return hidden;
}
