import { readFileSync } from "node:fs";
import { ConfigError } from "@convoke/server/config-error";

/** The secret in a file, without the newline at its end. `name` is the variable or key that names the file. */
export function readSecretFile(name: string, path: string): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new ConfigError(`${name} names ${path}, which cannot be read (${code}).`, { cause: error });
  }
  const secret = text.replace(/\r?\n$/, "");
  if (secret === "") throw new ConfigError(`${name} names ${path}, which is empty.`);
  return secret;
}
