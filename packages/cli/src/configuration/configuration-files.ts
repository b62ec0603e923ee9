import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Environment } from "@convoke/server/setting";

/** The file for all users of the machine. */
const systemFile = "/etc/convoke/convoke.toml";

/** The file of this user, which `convoke config set` changes. */
export function userFile(environment: Environment): string {
  const folder = environment["XDG_CONFIG_HOME"] || join(environment["HOME"] || homedir(), ".config");
  return join(folder, "convoke", "config.toml");
}

export type ConfigurationFile = {
  /** Absolute. */
  readonly path: string;
  /** True: somebody named it, so it has to be there. */
  readonly isNamed: boolean;
};

/**
 * The files of the configuration; later ones win. None is of the working folder: a repository must not choose servers or walls
 * for those who work in it.
 */
export function configurationFiles(environment: Environment): readonly ConfigurationFile[] {
  const named = environment["CONVOKE_CONFIG"] || null;
  return [
    { path: systemFile, isNamed: false },
    { path: userFile(environment), isNamed: false },
    ...(named === null ? [] : [{ path: resolve(named), isNamed: true }]),
  ];
}
