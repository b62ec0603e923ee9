import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, globSync, mkdtempDisposableSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { buildCommand } from "../scripts/build-command.ts";
import { buildWeb } from "../scripts/build-web.ts";
import { copyDependencies } from "../scripts/packages/copy-dependencies.ts";
import { convokeScript, type Image, programFolder, sandboxImage, serverImage } from "./images.ts";
import { RootFilesystem } from "./root-filesystem.ts";

/**
 * Builds an image without any registry: this machine's Node, shell and everyday programs with the libraries they need, and our
 * bundle; `docker import` makes an image of it. `--kind sandbox` (as it is without) or `server`, `--browser` for a server with one,
 * `--built dist/convoke` for what `npm run build` wrote. For machines that reach no registry; others use the Dockerfiles.
 */
const root = path.resolve(import.meta.dirname, "..");
const kinds: Readonly<Record<string, Image>> = { sandbox: sandboxImage, server: serverImage };

const { values } = parseArgs({
  options: {
    kind: { type: "string", default: "sandbox" },
    browser: { type: "boolean", default: false },
    built: { type: "string" },
    image: { type: "string" },
    host: { type: "string" },
  },
});
const image = Object.hasOwn(kinds, values.kind) ? kinds[values.kind] : undefined;
if (image === undefined) throw new Error(`--kind must be one of ${Object.keys(kinds).join(", ")}.`);
using folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-image-"));
await fill(new RootFilesystem(folder.path), image);
importImage(folder.path, image, values.image ?? `${image.name}:offline`);

async function fill(
  tree: RootFilesystem,
  { packages, browserPackages, folders, user, volumes }: Image,
): Promise<void> {
  for (const program of Object.values(packages).flat()) tree.addProgram(program);
  if ("python3" in packages) tree.addPython();
  tree.addCertificates();
  if (browserPackages === null || values.browser) tree.addBrowser();
  tree.addFile(realpathSync(process.execPath), "/usr/bin/node");
  tree.addLibraries(process.execPath);
  const place = tree.at(programFolder);
  await putProgram(place, volumes.length > 0);
  copyDependencies(root, place, process.arch);
  for (const part of globSync("node_modules/**/*.node", { cwd: place }))
    tree.addLibraries(path.join(place, part));
  tree.addScript("/usr/local/bin/convoke", convokeScript("/usr/bin/node"));
  for (const name of folders) tree.addFolder(name);
  for (const name of volumes) chmodSync(tree.at(name), 0o700);
  tree.addUsers([
    ["root", 0, "/root"],
    user === null ? ["agent", 1000, "/home/agent"] : ["convoke", Number(user), "/home/convoke"],
  ]);
}

/** A server has its page; what runs in a sandbox needs none. */
async function putProgram(place: string, isServer: boolean): Promise<void> {
  if (values.built !== undefined) {
    const filter = (file: string): boolean => !file.endsWith(".map");
    return cpSync(values.built, place, { recursive: true, filter });
  }
  await buildCommand(root, place);
  if (isServer) cpSync(await buildWeb(root), path.join(place, "web"), { recursive: true });
}

function importImage(tree: string, described: Image, name: string): void {
  const archive = `${tree}.tar`;
  const owned = described.user === null ? [] : described.folders;
  try {
    const as = (id: string): string[] => [`--owner=${id}`, `--group=${id}`];
    const without = owned.map((place) => `--exclude=.${place}`);
    execFileSync("tar", ["-C", tree, ...as("0"), ...without, "-cf", archive, "."]);
    if (owned.length > 0) {
      const places = owned.map((place) => `.${place}`);
      execFileSync("tar", ["-C", tree, ...as(described.user ?? "0"), "-rf", archive, ...places]);
    }
    const host = values.host === undefined ? [] : ["--host", values.host];
    const changes = changesOf(described).flatMap((change) => ["--change", change]);
    const id = execFileSync("docker", [...host, "import", ...changes, archive, name], { encoding: "utf8" });
    console.log(`${name} ${id.trim()}`);
  } finally {
    rmSync(archive, { force: true });
  }
}

function changesOf(described: Image): string[] {
  const { environment, user, volumes, ports, command, healthcheck } = described;
  const variables = { PATH: "/usr/local/bin:/usr/bin:/bin", ...environment };
  return [
    `ENV ${Object.entries(variables)
      .map(([name, value]) => `${name}=${value}`)
      .join(" ")}`,
    `WORKDIR ${described.workdir}`,
    `ENTRYPOINT ${JSON.stringify(described.entrypoint)}`,
    ...(command.length === 0 ? [] : [`CMD ${JSON.stringify(command)}`]),
    ...(user === null ? [] : [`USER ${user}:${user}`]),
    ...volumes.map((volume) => `VOLUME ${volume}`),
    ...ports.map((port) => `EXPOSE ${port}`),
    ...(healthcheck === null ? [] : [`HEALTHCHECK ${healthcheck}`]),
  ];
}
