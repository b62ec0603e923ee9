import type { BoundSecret } from "./egress.ts";
import { formatHost } from "../lib/host-name.ts";
import { parseHostPattern } from "../lib/host-pattern.ts";

/**
 * Names of files in the folder of the way out, which shows inside read-only. `settings` is for sandboxes, whose images have settings of
 * their own. They are written again when secrets change.
 */
export const gitFiles = { config: "git-config", helper: "git-credential", settings: "git-settings" } as const;

/** For hosts that take any name beside a token. An address with a name in it keeps that. */
const anyName = "x-access-token";

const sshWords =
  "git over ssh does not work behind this wall: there is no key and no agent. Use the https address; a secret that is bound to the host is put in.";

/** Variables with which git reads the settings beside those of the system. `folder` is where the files are inside. */
export function gitVariables(folder: string): Record<string, string> {
  return {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "include.path",
    GIT_CONFIG_VALUE_0: `${folder}/${gitFiles.settings}`,
  };
}

/** Settings of git inside, with a way out. `folder` is where the files are inside. */
export function gitSettings(folder: string): string {
  return [
    `[credential]\n\thelper = "!sh ${folder}/${gitFiles.helper}"`,
    // Without the kind of ssh, git would run it once more to find out.
    `[core]\n\tsshCommand = "echo '${sshWords}' >&2; exit 1 #"\n[ssh]\n\tvariant = ssh`,
    // A file that is not there is no settings.
    `[include]\n\tpath = ${folder}/${gitFiles.config}\n`,
  ].join("\n");
}

/** Content of the files by their names: git asks for bound hosts over HTTPS, and gets their placeholders. */
export function gitCredentialFiles(secrets: readonly BoundSecret[]): Record<string, string> {
  const logins = secrets.filter(({ as }) => as.includes("basic")).flatMap(loginsOf);
  // The most special pattern first, as the shell takes the first that fits.
  const sorted = logins.toSorted((a, b) => Number(a.isWildcard) - Number(b.isWildcard));
  const exact = sorted.filter(({ isWildcard }) => !isWildcard);
  const rewritten = new Map(exact.map(({ host, address }) => [host, address]));
  const rules = [...rewritten].map(
    ([host, address]) =>
      `[url "https://${address}/"]\n\tinsteadOf = git@${host}:\n\tinsteadOf = ssh://git@${host}/\n`,
  );
  return { [gitFiles.config]: rules.join(""), [gitFiles.helper]: helperOf(sorted) };
}

type Login = {
  /** As git writes it after `host=`, for a pattern of the shell. */
  readonly pattern: string;
  readonly host: string;
  /** The host with its port where that is not 443. */
  readonly address: string;
  readonly isWildcard: boolean;
  readonly placeholder: string;
};

function loginsOf({ hosts, placeholder }: BoundSecret): Login[] {
  return hosts.flatMap((text): Login[] => {
    const pattern = parseHostPattern(text, "web");
    if (typeof pattern === "string" || pattern.covers === "everything") return [];
    const isWildcard = pattern.covers === "names-below";
    const host = formatHost(pattern.host);
    const name = isWildcard ? `*.${host}` : host;
    const login = { host, isWildcard, placeholder };
    if (pattern.ports === "any")
      return [
        { ...login, address: host, pattern: name },
        { ...login, address: host, pattern: `${name}:*` },
      ];
    return [...pattern.ports]
      .filter((port) => port !== 80)
      .map((port) => {
        const end = port === 443 ? "" : `:${port}`;
        return { ...login, address: `${host}${end}`, pattern: `${name}${end}` };
      });
  });
}

/** A helper as `gitcredentials` describes it: it reads what git asks for, and answers `get` only. */
function helperOf(logins: readonly Login[]): string {
  const cases = logins.map(({ pattern, placeholder }) => `  ${quoted(pattern)}) token='${placeholder}' ;;`);
  return [
    "# Written by Convoke: placeholders of the secrets that are bound to hosts.",
    '[ "$1" = get ] || exit 0',
    "protocol= host= username=",
    "while IFS='=' read -r key value; do",
    '  case "$key" in protocol) protocol=$value ;; host) host=$value ;; username) username=$value ;; esac',
    "done",
    '[ "$protocol" = https ] || exit 0',
    "token=",
    'case "$host" in',
    ...cases,
    "esac",
    '[ -n "$token" ] || exit 0',
    `printf 'username=%s\\npassword=%s\\n' "\${username:-${anyName}}" "$token"`,
    "",
  ].join("\n");
}

/** A pattern of the shell in which only `*` has a meaning. */
function quoted(pattern: string): string {
  return pattern.replaceAll(/[^*]+/g, (text) => `'${text}'`);
}
