import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { unitText } from "../../packages/cli/src/service/unit-text.ts";
import type { Target } from "./target.ts";

export type DebianPackage = {
  readonly root: string;
  /** As it lies below `/usr`. */
  readonly tree: string;
  readonly target: Target;
  readonly version: string;
  /** Seconds since 1970; files are no newer. */
  readonly builtAt: number;
  /** Of the compression, 0 to 9, or none. */
  readonly level: string;
};

const maintainer = "Convoke maintainers <maintainers@convoke.invalid>";

/** Makes a folder of `staging` and the package `file` of it. */
export function buildDebianPackage(of: DebianPackage, staging: string, file: string): void {
  const at = (name: string): string => path.join(staging, name);
  const source = (name: string): string => path.join(of.root, "deploy/debian", name);
  mkdirSync(at("DEBIAN"), { recursive: true });
  cpSync(of.tree, at("usr"), { recursive: true });
  const documents = at("usr/share/doc/convoke");
  writeFileSync(path.join(documents, "copyright"), copyright(of.root));
  writeFileSync(path.join(documents, "changelog.gz"), gzipSync(changelog(of), { level: 9 }));
  put(at("usr/lib/systemd/system/convoke.service"), packagedUnit());
  put(at("usr/share/lintian/overrides/convoke"), readFileSync(source("lintian-overrides"), "utf8"));
  put(at("etc/convoke/environment"), readFileSync(source("environment"), "utf8"));
  // It may hold keys; the manager of services reads it as root.
  chmodSync(at("etc/convoke/environment"), 0o600);
  for (const name of ["postinst", "prerm", "postrm"]) {
    cpSync(source(name), at(`DEBIAN/${name}`));
    chmodSync(at(`DEBIAN/${name}`), 0o755);
  }
  put(at("DEBIAN/conffiles"), "/etc/convoke/environment\n");
  put(at("DEBIAN/control"), control(of, installedKib(staging)));
  const packed = of.level === "none" ? ["-Znone"] : ["-Zxz", `-z${of.level}`];
  execFileSync("dpkg-deb", ["--build", "--root-owner-group", ...packed, staging, file], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, SOURCE_DATE_EPOCH: String(of.builtAt) },
  });
}

/** What `convoke service install --system` writes, for the command that the package installs. */
export function packagedUnit(): string {
  const text = unitText({
    scope: "system",
    command: ["/usr/bin/convoke"],
    user: "convoke",
    host: null,
    port: null,
  });
  return text.slice(text.indexOf("[Unit]"));
}

export function control({ target, version }: Pick<DebianPackage, "target" | "version">, kib: number): string {
  return `\
Package: convoke
Version: ${version}
Architecture: ${target.architecture}
Maintainer: ${maintainer}
Installed-Size: ${kib}
Depends: libc6 (>= 2.28), libstdc++6, git, passwd
Recommends: bubblewrap
Suggests: chromium
Section: net
Priority: optional
Description: agent conversation server: durable, searchable, live
 Serves conversations with agents over REST and WebSocket, with a page for
 browsers, and runs agents on the command line. Their tools work behind walls
 of bubblewrap, in sandboxes or in containers.
 .
 Node comes with it. The service is installed and not started:
 systemctl enable --now convoke
`;
}

function changelog({ version, builtAt }: DebianPackage): string {
  const date = new Date(builtAt * 1_000).toUTCString().replace("GMT", "+0000");
  return `convoke (${version}) unstable; urgency=medium\n\n  * See CHANGELOG.md of the repository.\n\n -- ${maintainer}  ${date}\n`;
}

function copyright(root: string): string {
  const licence = readFileSync(path.join(root, "LICENSE"), "utf8");
  const holder = /^Copyright \(c\) (.*)$/m.exec(licence)?.[1];
  if (holder === undefined) throw new Error("LICENSE names no holder of the copyright");
  const text = licence
    .trim()
    .split("\n")
    .map((line) => (line === "" ? " ." : ` ${line}`))
    .join("\n");
  return readFileSync(path.join(root, "deploy/debian/copyright"), "utf8")
    .replace("@HOLDER@", holder)
    .replace("@LICENCE@", text);
}

function installedKib(staging: string): number {
  const [size = ""] = execFileSync("du", ["--summarize", "--apparent-size", "--block-size=1024", staging], {
    encoding: "utf8",
  }).split("\t");
  return Number(size);
}

function put(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, 0o644);
}
