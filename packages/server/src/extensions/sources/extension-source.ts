import { isAbsolute, posix } from "node:path";
import { Fault } from "../../lib/fault.ts";
import { isPort, toHost, type Target } from "../../lib/host-name.ts";

/** Where a plugin, a skill or a canvas extension comes from, as requests name it. */
export type GivenSource = {
  readonly source: string;
  readonly ref?: string | null | undefined;
  readonly repo_path?: string | null | undefined;
};

/** A folder of the machine that tools run on; it is read where it is. */
export type FolderSource = { readonly kind: "folder"; readonly directory: string };

/** A folder of a git repository that is reached over HTTPS. */
export type GitSource = {
  readonly kind: "git";
  /** `https://...`, without a name, a password, a query and a fragment. */
  readonly address: string;
  readonly target: Target;
  /** A branch, a tag or a commit; null: what the repository shows first. */
  readonly ref: string | null;
  /** The folder below the root of the repository; empty for the root. */
  readonly inside: string;
};

type Loc = readonly (string | number)[];

const shorthands: Readonly<Record<string, string>> = { "github:": "github.com", "gitlab:": "gitlab.com" };
const otherWays = /^(?:ssh|git|http|ext|ftps?|rsync|file):|^[\w.-]+@[\w.-]+:/i;

/** Throws a `Fault` that names the field below `loc` and the fix. */
export function readSource(given: GivenSource, loc: Loc): FolderSource | GitSource {
  const source = given.source.trim();
  const inside = readInside(given.repo_path ?? "", loc);
  const path = source.replace(/^file:\/\//, "");
  if (isAbsolute(path) && !path.includes("\0")) {
    if (given.ref) throw refused([...loc, "ref"], "A directory is used as it is. Leave this field out.");
    return { kind: "folder", directory: posix.join(path, inside) };
  }
  const url = toAddress(source, [...loc, "source"]);
  const host = toHost(url.hostname);
  const port = url.port === "" ? 443 : Number(url.port);
  if (host === null || !isPort(port)) throw refused([...loc, "source"], "This address has no usable host.");
  const ref = readRef(given.ref ?? "", [...loc, "ref"]);
  return { kind: "git", address: url.href, target: { host, port }, ref, inside };
}

/** A commit in full: only that says what is in it. */
export function isCommit(ref: string | null): ref is string {
  return ref !== null && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(ref);
}

function toAddress(source: string, loc: Loc): URL {
  const [prefix, host] = Object.entries(shorthands).find(([name]) => source.startsWith(name)) ?? [];
  const text = prefix === undefined ? source : `https://${host}/${source.slice(prefix.length)}`;
  if (otherWays.test(text))
    throw refused(
      loc,
      "Repositories are fetched over https only, through the server's network policy. Send the https:// address; for a private one, bind a secret to its host.",
    );
  const isWeb = /^https:\/\//i.test(text) && URL.canParse(text) && !/[\s\p{Cc}\\]/u.test(text);
  if (!isWeb)
    throw refused(
      loc,
      "Send the absolute path of a directory of the machine that tools run on, an https:// address of a git repository, or github:owner/repository.",
    );
  const url = new URL(text);
  if (url.username !== "" || url.password !== "")
    throw refused(
      loc,
      "Leave name and password out of the address. Store the token as a secret that is bound to the host.",
    );
  if (url.search !== "" || url.hash !== "" || url.pathname.length < 2)
    throw refused(loc, "Send the address of a repository, without a query and a fragment.");
  return url;
}

function readInside(given: string, loc: Loc): string {
  const parts = given.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw refused([...loc, "repo_path"], "This leads outside.", "value_error");
  if (/\p{Cc}/u.test(given)) throw refused([...loc, "repo_path"], "This is no path.", "value_error");
  return parts.join("/");
}

/** As git itself takes names of references, and nothing that its commands read as an option or as a pattern. */
function readRef(given: string, loc: Loc): string | null {
  const ref = given.trim();
  if (ref === "") return null;
  const isUsable =
    /^[^\s\p{Cc}~^:?*[\\]+$/u.test(ref) &&
    !/^[-+/]|\.\.|@\{|\/\/|\/$|\.$|\.lock$/.test(ref) &&
    ref.length <= 256;
  if (!isUsable)
    throw refused(loc, "Send the name of a branch or a tag, or a commit in full.", "value_error");
  return ref;
}

function refused(loc: Loc, msg: string, type = "not_supported"): Fault {
  return new Fault("caller", type === "not_supported" ? type : "validation", msg, [
    { loc: [...loc], msg, type },
  ]);
}
