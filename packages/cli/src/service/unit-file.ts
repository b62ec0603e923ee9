import { mkdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { unitMark, unitName, type ServiceScope } from "./unit-text.ts";

/** Where `convoke service` writes the unit. */
export function unitPath(scope: ServiceScope, environment: NodeJS.ProcessEnv, home: string): string {
  if (scope === "system") return join("/etc/systemd/system", unitName);
  const configuration = environment["XDG_CONFIG_HOME"] || join(home, ".config");
  return join(configuration, "systemd/user", unitName);
}

/** Null when there is no unit. One that somebody else wrote is refused. */
export async function readOwnUnit(path: string): Promise<string | null> {
  const text = await readIfThere(path);
  if (text === null || text.startsWith(`${unitMark}\n`)) return text;
  throw new CommandError(
    `${path} was not written by convoke service. Move it away first, or change it by hand.`,
    exitCodes.usage,
  );
}

/** True when a unit with other content was there. */
export async function writeUnit(path: string, text: string): Promise<boolean> {
  const before = await readOwnUnit(path);
  await withPermission(path, async () => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { mode: 0o644 });
  });
  return before !== null && before !== text;
}

/** With the links that enable it. False when there is none. */
export async function removeUnit(path: string): Promise<boolean> {
  if ((await readOwnUnit(path)) === null) return false;
  await withPermission(path, async () => {
    for (const target of ["multi-user.target", "default.target"]) {
      const link = join(dirname(path), `${target}.wants`, unitName);
      if (await isLink(link)) await rm(link);
    }
    await rm(path);
  });
  return true;
}

async function withPermission(path: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EACCES" && code !== "EPERM") throw error;
    throw new CommandError(`${path} cannot be written. Use sudo, or --user for a service of your own.`);
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    await readlink(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "EINVAL") return false;
    throw error;
  }
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
