import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * Writes declarations to read the client's with in the place of the protocol's: each type that the client imports, as a name alone. With the
 * real ones the reference spells every event out at each method, because the compiler forgets the names of types made from schemas.
 */
export function writeProtocolNames(clientFolder: string, file: string): void {
  const declarations = readdirSync(clientFolder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".d.ts"))
    .map((name) => readFileSync(path.join(clientFolder, name), "utf8"));
  const lines = protocolNames(declarations).map(
    (name) => `export interface ${name}<T = unknown> { readonly [field: string]: any }`,
  );
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `${lines.join("\n")}\n`);
}

function protocolNames(declarations: readonly string[]): readonly string[] {
  const names = declarations
    .flatMap((text) => [...text.matchAll(/import (?:type )?\{([^}]*)\} from "@convoke\/protocol"/g)])
    .flatMap(([, list = ""]) => list.split(","))
    .map((name) => name.replace(/^\s*type\s/, "").trim())
    .filter((name) => name !== "");
  return [...new Set(names)].toSorted();
}
