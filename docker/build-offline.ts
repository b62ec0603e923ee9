import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { buildCommand } from "../scripts/build-command.ts";

/**
 * Builds a sandbox image without any registry: this machine's Node, shell and everyday programs with the libraries they
 * need, and our bundle; `docker import` makes an image of it. For machines that reach no registry; others use the Dockerfile.
 */
const programs = [
  "bash sh env ls cat cp mv rm mkdir rmdir ln chmod chown touch echo printf pwd head tail wc sort uniq tr cut tee seq sleep",
  "date id stat du df dirname basename readlink realpath mktemp mkfifo true false test timeout nohup uname stty tty yes nl",
  "od paste comm join split sha256sum md5sum base64 install sync nproc whoami tac shuf fold truncate unlink expr dd less awk",
  "which grep sed find xargs diff cmp tar gzip gunzip git ps pgrep pkill kill setsid perl patch",
].flatMap((line) => line.split(" "));

const root = path.resolve(import.meta.dirname, "..");

const { values } = parseArgs({
  options: { image: { type: "string", default: "convoke-sandbox:offline" }, host: { type: "string" } },
});
const tree = mkdtempSync(path.join(tmpdir(), "convoke-image-"));
// It becomes the root of the image, which everybody inside has to pass.
chmodSync(tree, 0o755);
try {
  for (const program of programs) copyProgram(program);
  copyFile(realpathSync(process.execPath), "/usr/bin/node");
  for (const library of librariesOf(process.execPath)) copyFile(realpathSync(library), library);
  copyBrowser();
  await copyCommand();
  for (const folder of [
    "tmp",
    "var/tmp",
    "etc",
    "home/agent",
    "workspace",
    "run/convoke",
    "var/lib/convoke",
    "dev",
    "proc",
    "sys",
  ]) {
    mkdirSync(path.join(tree, folder), { recursive: true });
  }
  // Some runtimes give a temporary filesystem the mode of the folder that it is mounted on, whatever was asked for.
  for (const folder of ["tmp", "var/tmp"]) chmodSync(path.join(tree, folder), 0o1777);
  writeFileSync(
    path.join(tree, "etc/passwd"),
    "root:x:0:0::/root:/bin/bash\nagent:x:1000:1000::/home/agent:/bin/bash\n",
  );
  writeFileSync(path.join(tree, "etc/group"), "root:x:0:\nagent:x:1000:\n");
  const archive = path.join(tree, "..", `${path.basename(tree)}.tar`);
  execFileSync("tar", ["-C", tree, "--owner=0", "--group=0", "-cf", archive, "."]);
  try {
    const host = values.host === undefined ? [] : ["--host", values.host];
    const changes = [
      "ENV PATH=/usr/local/bin:/usr/bin:/bin CONVOKE_WALL=off",
      "WORKDIR /workspace",
      'ENTRYPOINT ["convoke"]',
    ];
    const id = execFileSync(
      "docker",
      [...host, "import", ...changes.flatMap((change) => ["--change", change]), archive, values.image],
      { encoding: "utf8" },
    );
    console.log(`${values.image} ${id.trim()}`);
  } finally {
    rmSync(archive, { force: true });
  }
} finally {
  rmSync(tree, { recursive: true, force: true });
}

function copyProgram(name: string): void {
  const found = ["/usr/bin", "/bin", "/usr/sbin"].map((folder) => path.join(folder, name)).find(existsSync);
  if (found === undefined) return console.warn(`${name} is not installed here and will be missing`);
  const target = realpathSync(found);
  copyFile(target, `/usr/bin/${name}`);
  for (const library of librariesOf(target)) copyFile(realpathSync(library), library);
  if (name === "git" && existsSync("/usr/lib/git-core")) copyFile("/usr/lib/git-core", "/usr/lib/git-core");
}

/** Debian's Chromium, with what it loads by itself and the fonts and settings that it cannot do without. */
function copyBrowser(): void {
  const folder = "/usr/lib/chromium";
  if (!existsSync(folder)) return console.warn("chromium is not installed here and will be missing");
  copyFile(folder, folder);
  const loaded = globSync("/usr/lib/*-linux-gnu/lib{softokn3,freebl3,freeblpriv3,nssckbi}.{so,chk}");
  for (const library of loaded) copyFile(realpathSync(library), library);
  for (const file of [path.join(folder, "chromium"), ...loaded.filter((name) => name.endsWith(".so"))])
    for (const library of librariesOf(file)) copyFile(realpathSync(library), library);
  for (const shared of ["/usr/share/fontconfig", "/usr/share/fonts", "/usr/share/xml/fontconfig"])
    if (existsSync(shared)) copyFile(shared, shared);
  if (existsSync("/etc/fonts"))
    cpSync("/etc/fonts", path.join(tree, "etc/fonts"), { recursive: true, verbatimSymlinks: true });
}

function librariesOf(file: string): string[] {
  try {
    const listed = execFileSync("ldd", [file], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return [...listed.matchAll(/(\/\S+) \(0x/g)].flatMap(([, library]) => library ?? []);
  } catch {
    return []; // A script or a static program: it needs none.
  }
}

/** `/bin` and `/lib*` of the image are links into `/usr`, as on every present distribution. */
function copyFile(source: string, target: string): void {
  const place = path.join(tree, target.startsWith("/usr/") ? target : `/usr${target}`);
  if (existsSync(place)) return;
  mkdirSync(path.dirname(place), { recursive: true });
  cpSync(source, place, { recursive: true, verbatimSymlinks: true });
}

async function copyCommand(): Promise<void> {
  for (const name of ["bin", "lib", "lib64", "sbin"]) {
    mkdirSync(path.join(tree, "usr", name), { recursive: true });
    execFileSync("ln", ["-s", `usr/${name}`, path.join(tree, name)]);
  }
  const place = path.join(tree, "opt/convoke/program");
  await buildCommand(root, place);
  copyDependencies(place);
  for (const library of [...globSync("node_modules/**/*.node", { cwd: place })].flatMap((file) =>
    librariesOf(path.join(place, file)),
  )) {
    copyFile(realpathSync(library), library);
  }
  const command = path.join(tree, "usr/bin/convoke");
  writeFileSync(
    command,
    '#!/bin/sh\nexec /usr/bin/node --disable-sigusr1 /opt/convoke/program/lib/bin.js "$@"\n',
  );
  chmodSync(command, 0o755);
}

/** What the bundle leaves outside, with what that needs for this platform. */
function copyDependencies(place: string): void {
  const waiting = Object.keys(readManifest(place).dependencies ?? {});
  const done = new Set<string>();
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const folder = path.join(root, "node_modules", name);
    if (done.has(name) || !existsSync(folder)) continue;
    done.add(name);
    cpSync(folder, path.join(place, "node_modules", name), { recursive: true, dereference: true });
    const { dependencies = {}, optionalDependencies = {} } = readManifest(folder);
    waiting.push(...Object.keys(dependencies), ...Object.keys(optionalDependencies));
  }
}

type Dependencies = Readonly<Record<string, string>>;

function readManifest(folder: string): { dependencies?: Dependencies; optionalDependencies?: Dependencies } {
  return JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
}
