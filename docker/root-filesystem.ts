import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";

/** What any image has besides its own packages: those of every Debian. */
const basics = [
  "env ls cat cp mv rm mkdir rmdir ln chmod chown touch echo printf pwd head tail wc sort uniq tr cut tee seq sleep",
  "date id stat du df dirname basename readlink realpath mktemp mkfifo true false test timeout nohup uname stty tty yes nl",
  "od paste comm join split sha256sum md5sum base64 install sync nproc whoami tac shuf fold truncate unlink expr dd awk",
  "which grep sed find xargs diff cmp tar gzip gunzip kill setsid perl patch",
].flatMap((line) => line.split(" "));

/** The root of an image, in a folder of this machine: its programs with the libraries that they need. */
export class RootFilesystem {
  readonly #tree: string;

  constructor(tree: string) {
    this.#tree = tree;
    // It becomes the root of the image, which everybody inside has to pass.
    chmodSync(tree, 0o755);
    // Links into `/usr`, as on every present distribution.
    for (const name of ["bin", "lib", "lib64", "sbin"]) {
      mkdirSync(this.at(`usr/${name}`), { recursive: true });
      execFileSync("ln", ["-s", `usr/${name}`, this.at(name)]);
    }
    for (const folder of ["tmp", "var/tmp", "etc", "dev", "proc", "sys"])
      mkdirSync(this.at(folder), { recursive: true });
    // Some runtimes give a temporary filesystem the mode of the folder that it is mounted on, whatever was asked for.
    for (const folder of ["tmp", "var/tmp"]) chmodSync(this.at(folder), 0o1777);
    for (const program of basics) this.addProgram(program);
  }

  at(name: string): string {
    return path.join(this.#tree, name);
  }

  addFolder(name: string): void {
    mkdirSync(this.at(name), { recursive: true });
  }

  addProgram(name: string): void {
    const found = ["/usr/bin", "/bin", "/usr/sbin"].map((folder) => path.join(folder, name)).find(existsSync);
    if (found === undefined) return console.warn(`${name} is not installed here and will be missing`);
    const target = realpathSync(found);
    this.addFile(target, `/usr/bin/${name}`);
    this.addLibraries(target);
    if (name === "git" && existsSync("/usr/lib/git-core"))
      this.addFile("/usr/lib/git-core", "/usr/lib/git-core");
  }

  /** Debian's Chromium, with what it loads by itself and the fonts and settings that it cannot do without. */
  addBrowser(): void {
    const folder = "/usr/lib/chromium";
    if (!existsSync(folder)) return console.warn("chromium is not installed here and will be missing");
    this.addFile(folder, folder);
    // Images get the package chromium alone, as those that are built from the Dockerfiles do.
    rmSync(this.at(path.join(folder, "chromium-headless-shell")), { force: true });
    const loaded = globSync("/usr/lib/*-linux-gnu/lib{softokn3,freebl3,freeblpriv3,nssckbi}.{so,chk}");
    for (const library of loaded) this.addFile(realpathSync(library), library);
    for (const file of [path.join(folder, "chromium"), ...loaded.filter((name) => name.endsWith(".so"))])
      this.addLibraries(file);
    for (const shared of ["/usr/share/fontconfig", "/usr/share/fonts", "/usr/share/xml/fontconfig"])
      if (existsSync(shared)) this.addFile(shared, shared);
    this.#addSettings("/etc/fonts");
  }

  /** Python's own modules, without tests and what this machine has installed besides. */
  addPython(): void {
    this.addProgram("python3");
    for (const folder of globSync("/usr/lib/python3.*")) {
      cpSync(folder, this.at(folder), {
        recursive: true,
        verbatimSymlinks: true,
        filter: (file) => !/\/(?:__pycache__|test|tests|idlelib|tkinter|ensurepip)$/.test(file),
      });
      for (const module of globSync(`${folder}/lib-dynload/*.so`)) this.addLibraries(module);
    }
  }

  addCertificates(): void {
    const file = "/etc/ssl/certs/ca-certificates.crt";
    if (!existsSync(file)) return console.warn("ca-certificates is not installed here and will be missing");
    mkdirSync(this.at("etc/ssl/certs"), { recursive: true });
    cpSync(file, this.at(file), { dereference: true });
  }

  addLibraries(file: string): void {
    for (const library of librariesOf(file)) this.addFile(realpathSync(library), library);
  }

  addFile(source: string, target: string): void {
    const place = this.at(target.startsWith("/usr/") ? target : `/usr${target}`);
    if (existsSync(place)) return;
    mkdirSync(path.dirname(place), { recursive: true });
    cpSync(source, place, { recursive: true, verbatimSymlinks: true });
  }

  addScript(target: string, text: string): void {
    mkdirSync(path.dirname(this.at(target)), { recursive: true });
    writeFileSync(this.at(target), text);
    chmodSync(this.at(target), 0o755);
  }

  addUsers(lines: readonly (readonly [name: string, id: number, home: string])[]): void {
    const users = lines.map(([name, id, home]) => `${name}:x:${id}:${id}::${home}:/bin/bash\n`);
    writeFileSync(this.at("etc/passwd"), users.join(""));
    writeFileSync(this.at("etc/group"), lines.map(([name, id]) => `${name}:x:${id}:\n`).join(""));
  }

  #addSettings(folder: string): void {
    if (existsSync(folder)) cpSync(folder, this.at(folder), { recursive: true, verbatimSymlinks: true });
  }
}

function librariesOf(file: string): string[] {
  try {
    const listed = execFileSync("ldd", [file], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return [...listed.matchAll(/(\/\S+) \(0x/g)].flatMap(([, library]) => library ?? []);
  } catch {
    return []; // A script or a static program: it needs none.
  }
}
