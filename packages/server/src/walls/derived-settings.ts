import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { readIfThere } from "../lib/read-if-there.ts";

export type DerivedSettings = {
  /** Content of files by their path inside. */
  readonly files: Readonly<Record<string, string>>;
  readonly variables: Readonly<Record<string, string>>;
  /** Settings that were left out, because they contain credentials or start programs, by name and without values. */
  readonly leftOut: readonly string[];
  /** Hosts of the registries that the settings name. */
  readonly registries: readonly string[];
};

const execute = promisify(execFile);
const gitMs = 5_000;

/**
 * What a wall shows of a person's settings: names, addresses of registries and the like, never a credential and nothing that starts a
 * program. They are settings of the system inside, so that the agent can have its own in the private home.
 */
export async function deriveSettings(
  home: string,
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
  { moreGit = "" }: { /** Lines of ours behind the person's. */ readonly moreGit?: string } = {},
): Promise<DerivedSettings> {
  const leftOut: string[] = [];
  const git = deriveGit(await readGit(environment), leftOut);
  const npm = deriveLines(await readText(join(home, ".npmrc")), npmKeys, leftOut, "npm");
  const pip = derivePip(
    (await readText(join(home, ".config/pip/pip.conf"))) ?? (await readText("/etc/pip.conf")),
    leftOut,
  );
  return {
    files: {
      "/etc/gitconfig": `${git}${gitRules(folder)}${moreGit}`,
      "/etc/npmrc": npm,
      ...(pip === "" ? {} : { "/etc/pip.conf": pip }),
    },
    registries: hostsIn(`${npm}\n${pip}`),
    variables: { NPM_CONFIG_GLOBALCONFIG: "/etc/npmrc" },
    leftOut,
  };
}

/** Keys that only say how git writes and shows. */
const gitKeys =
  /^(user\.(name|email)|init\.defaultbranch|core\.(autocrlf|eol|quotepath|ignorecase)|pull\..*|push\.default|merge\.conflictstyle|rebase\.(autostash|autosquash|updaterefs)|diff\.(algorithm|renames|mnemonicprefix)|filter\.lfs\..*|color\..*|column\..*|log\.date|i18n\..*|url\..*\.insteadof|url\..*\.pushinsteadof)$/i;

/** A rule that makes addresses of ssh out of others: there is no ssh inside. */
const leadsToSsh = /^url\.(ssh:|[^/]*@[^/]*:)/i;

/** No key to sign with is inside, and a new branch must not need to write the configuration, which is read-only. */
function gitRules(folder: string): string {
  return [
    "[branch]\n\tautoSetupMerge = false",
    "[push]\n\tdefault = current",
    "[commit]\n\tgpgSign = false",
    "[tag]\n\tgpgSign = false",
    `[safe]\n\tdirectory = ${quoted(folder)}\n\tdirectory = ${quoted(`${folder}/*`)}\n`,
  ].join("\n");
}

function deriveGit(entries: readonly (readonly [string, string])[], leftOut: string[]): string {
  const lines: string[] = [];
  for (const [key, value] of entries) {
    const isPlain =
      gitKeys.test(key) && !hasCredential(key) && !hasCredential(value) && !leadsToSsh.test(key);
    const isAlias = /^alias\./i.test(key) && !value.startsWith("!");
    if (!isPlain && !isAlias) {
      // The middle part is often an address, which may have a password in it.
      leftOut.push(`git ${key.replace(/^([^.]+)\..+\.([^.]+)$/, "$1.*.$2")}`);
      continue;
    }
    const first = key.indexOf(".");
    const last = key.lastIndexOf(".");
    const part = first === last ? "" : ` ${quoted(key.slice(first + 1, last))}`;
    lines.push(`[${key.slice(0, first)}${part}]\n\t${key.slice(last + 1)} = ${quoted(value)}\n`);
  }
  return lines.join("");
}

function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("\t", "\\t")}"`;
}

/** Key and value of the settings of the system and the person, without those of any repository. */
async function readGit(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<(readonly [string, string])[]> {
  try {
    const { stdout } = await execute("git", ["config", "--list", "-z"], {
      cwd: "/",
      timeout: gitMs,
      maxBuffer: 4 * 1024 * 1024,
      env: {
        PATH: environment["PATH"] ?? "/usr/bin:/bin",
        HOME: environment["HOME"] ?? "/",
        GIT_DIR: "/dev/null",
      },
    });
    return stdout
      .split("\0")
      .filter((entry) => entry !== "")
      .map((entry) => {
        const end = entry.indexOf("\n");
        return end === -1 ? [entry, "true"] : [entry.slice(0, end), entry.slice(end + 1)];
      });
  } catch {
    // Without git there are no settings of it.
    return [];
  }
}

/** Settings of npm that name registries and how to reach them. */
const npmKeys =
  /^((@[^:]+:)?registry|strict-ssl|fund|audit|save-exact|engine-strict|legacy-peer-deps|init-.*)$/i;

function deriveLines(text: string | null, allowed: RegExp, leftOut: string[], program: string): string {
  const lines: string[] = [];
  for (const line of (text ?? "").split("\n")) {
    const [, key = "", value = ""] = /^\s*([^=;#\s][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key === "") continue;
    if (allowed.test(key) && !hasCredential(value)) lines.push(`${key}=${value}`);
    else leftOut.push(`${program} ${key.replace(/^\/\/.*:/, "//*:")}`);
  }
  return lines.map((line) => `${line}\n`).join("");
}

const pipKeys = /^(index-url|extra-index-url|trusted-host|timeout|retries|find-links|no-index)$/i;

function derivePip(text: string | null, leftOut: string[]): string {
  if (text === null) return "";
  // Only the sections matter besides the lines.
  return text
    .split(/^(?=\s*\[)/m)
    .map((section) => {
      const title = /^\s*(\[[^\]]+\])/.exec(section)?.[1] ?? "";
      const lines = deriveLines(section.replace(/^\s*\[[^\]]+\]/, ""), pipKeys, leftOut, "pip");
      return lines === "" ? "" : `${title}\n${lines}`;
    })
    .join("");
}

function hostsIn(text: string): string[] {
  const hosts = (text.match(/https?:\/\/[^\s"']+/g) ?? []).flatMap((address) =>
    URL.canParse(address) ? [new URL(address).host] : [],
  );
  return [...new Set(hosts)];
}

/** An address with a name or password before its host. */
function hasCredential(text: string): boolean {
  return /:\/\/[^/\s]*@/.test(text);
}

/** What cannot be read is as good as none: the settings of others are not for this user either. */
async function readText(path: string): Promise<string | null> {
  return await readIfThere(path).catch(() => null);
}
