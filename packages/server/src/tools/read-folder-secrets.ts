import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { urlSecrets } from "../security/url-secrets.ts";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const maxFiles = 20;
const maxBytes = 256 * 1024;
/** Masking shorter ones would damage texts. */
const minCharacters = 8;

/** `.env`, `.env.local` and the like. */
const envFile = /^\.env(\.[\w-]+)*$/;
/** Files that people share, with values that are none. */
const sharedFile = /\.(example|sample|template|dist|defaults?|schema)$/;
const namedLikeSecret =
  /(^|_)(\w*key|\w*token|\w*secret|pass|\w*passw(or)?d|\w*passphrase|pwd|\w*credentials?|auth|private|salt|dsn)(_|$)/i;

/**
 * The values in `.env` files of a folder that look like secrets: those whose name says so, and the credentials in URLs. Plain words are left
 * out, because masking them would damage texts. `folder`: absolute. Empty for a folder that cannot be read; follows no link.
 */
export async function readFolderSecrets(folder: string): Promise<readonly string[]> {
  // The tools say what is wrong with the folder.
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => envFile.test(name) && !sharedFile.test(name)).slice(0, maxFiles);
  const texts = await Promise.all(files.map((name) => readSmall(join(folder, name))));
  const values = texts.flatMap((text) => Object.entries(parseEnv(text)).flatMap(secretsOf));
  return [...new Set(values)].filter((value) => value.length >= minCharacters);
}

function secretsOf([name, value = ""]: readonly [string, string | undefined]): string[] {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(value)) return urlSecrets(value).filter(isVaried);
  return namedLikeSecret.test(name) && isVaried(value) && !isPath(value) ? [value.trim()] : [];
}

/** False for what could be a word. */
function isVaried(value: string): boolean {
  return !/^([a-z]+|[A-Z]+|[A-Z][a-z]+)$/.test(value.trim());
}

function isPath(value: string): boolean {
  return /^(\.{0,2}|~)\//.test(value);
}

async function readSmall(path: string): Promise<string> {
  try {
    // An agent may have put a link or a pipe there.
    await using file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stat = await file.stat();
    return stat.isFile() && stat.size <= maxBytes ? await file.readFile("utf8") : "";
  } catch {
    // Closed to the server, or gone: then there is nothing that it could show.
    return "";
  }
}
