import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { egressPort } from "@convoke/tool-host";
import { toJavaStore } from "../egress/certificates/java-store.ts";
import { isBelow } from "./refused-folder.ts";

export type Java = {
  /** Absolute paths of trust stores, without links. */
  readonly stores: readonly string[];
  /** Absolute paths of files with the settings of connections, without links. */
  readonly networkSettings: readonly string[];
  /** Folders in `/etc` that an installation leads to by links, and does not start without. */
  readonly settingsFolders: readonly string[];
};

const systemFolder = "/usr/lib/jvm";
/** Of Java 9 and later, and of Java 8 as an installation with tools or without. */
const storePaths = ["lib/security/cacerts", "jre/lib/security/cacerts"];
const settingsPaths = ["conf/net.properties", "lib/net.properties", "jre/lib/net.properties"];

/** The installations of Java of the machine and of the person. */
export async function findJava(
  home: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Java> {
  const people = join(home, ".sdkman/candidates/java");
  const homes = [...(await below(systemFolder)), ...(await below(people)), environment["JAVA_HOME"] ?? ""];
  const [stores, networkSettings] = await Promise.all(
    [storePaths, settingsPaths].map(async (names) => {
      const paths = homes
        .filter((folder) => folder.startsWith("/"))
        .flatMap((folder) => names.map((name) => join(folder, name)));
      return unique(await Promise.all(paths.map(fileOf)));
    }),
  );
  const folders = (networkSettings ?? []).map(dirname).filter((folder) => isBelow(folder, "/etc"));
  return { stores: stores ?? [], networkSettings: networkSettings ?? [], settingsFolders: unique(folders) };
}

/** With what Java uses the way out of a wall, by path: it obeys no variable. `bundle`: what the inside trusts, as PEM. */
export async function javaFiles(
  { stores, networkSettings }: Java,
  bundle: string,
): Promise<Record<string, string | Buffer>> {
  if (stores.length + networkSettings.length === 0) return {};
  const store = toJavaStore(bundle);
  const files: Record<string, string | Buffer> = Object.fromEntries(stores.map((path) => [path, store]));
  for (const path of networkSettings) files[path] = `${await readFile(path, "latin1")}\n${proxySettings}`;
  return files;
}

const proxySettings = [
  "# The way out of the wall. The last line of a name counts.",
  ...["http", "https"].flatMap((kind) => [`${kind}.proxyHost=127.0.0.1`, `${kind}.proxyPort=${egressPort}`]),
  "http.nonProxyHosts=localhost|127.*|[::1]",
  "",
].join("\n");

async function below(folder: string): Promise<string[]> {
  // Nothing of Java is there.
  const names = await readdir(folder).catch(() => []);
  return names.map((name) => join(folder, name));
}

/** Where a file is without links; null for what is none. */
async function fileOf(path: string): Promise<string | null> {
  try {
    const found = await realpath(path);
    return (await stat(found)).isFile() ? found : null;
  } catch {
    // Not of this version of Java, or not readable, and so not for tools either.
    return null;
  }
}

function unique(paths: readonly (string | null)[]): string[] {
  return [...new Set(paths.filter((path) => path !== null))];
}
