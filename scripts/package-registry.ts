import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { type Server, createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import path from "node:path";
import type { Packed } from "./pack-release.ts";

/**
 * A registry of what a release would publish, on loopback: npm reads it as the registry of the scope `@convoke`, so that it chooses
 * the package with a Node by its `os`, `cpu` and `libc` as it will for users.
 */
export class PackageRegistry implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** `folder` has the tarballs. */
  static async open(folder: string, packed: readonly Packed[]): Promise<PackageRegistry> {
    // Made before it is asked: a hash of a Node is not the time that an installation takes.
    const documents = new Map(packed.map((one) => [one.name, describe(folder, one)] as const));
    const server = createServer((request, response) => {
      const asked = decodeURIComponent((request.url ?? "/").slice(1));
      const file = packed.find((one) => asked === `files/${one.file}`);
      if (file !== undefined) return void response.end(readFileSync(path.join(folder, file.file)));
      const document = documents.get(asked);
      if (document === undefined) return void response.writeHead(404).end("{}");
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(document(`http://${request.headers.host}/files`)));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new PackageRegistry(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** The tarballs that `packRelease` left in the folder. */
export function readPacked(folder: string): readonly Packed[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".tgz") && !file.endsWith("-maps.tgz"))
    .map((file) => {
      const { name, version } = readManifestOf(path.join(folder, file));
      return { name, version, file };
    });
}

/** What a registry says of a package; `files` is the address of its tarballs. */
function describe(folder: string, { name, version, file }: Packed): (files: string) => object {
  const tarball = path.join(folder, file);
  const manifest = readManifestOf(tarball);
  const integrity = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
  return (files) => ({
    name,
    "dist-tags": { latest: version },
    versions: { [version]: { ...manifest, dist: { tarball: `${files}/${file}`, integrity } } },
  });
}

function readManifestOf(tarball: string): { readonly name: string; readonly version: string } {
  const text = execFileSync("tar", ["-xzOf", tarball, "package/package.json"], { encoding: "utf8" });
  return JSON.parse(text) as { readonly name: string; readonly version: string };
}
