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
    const manifests = new Map(
      packed.map(({ name, file }) => [name, readManifestOf(path.join(folder, file))] as const),
    );
    const server = createServer((request, response) => {
      const asked = decodeURIComponent((request.url ?? "/").slice(1));
      const file = packed.find((one) => asked === `files/${one.file}`);
      if (file !== undefined) return void response.end(readFileSync(path.join(folder, file.file)));
      const known = packed.find(({ name }) => name === asked);
      if (known === undefined) return void response.writeHead(404).end("{}");
      const { name, version } = known;
      const bytes = readFileSync(path.join(folder, known.file));
      const dist = {
        tarball: `http://${request.headers.host}/files/${known.file}`,
        integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}`,
      };
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          name,
          "dist-tags": { latest: version },
          versions: { [version]: { ...manifests.get(name), dist } },
        }),
      );
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

function readManifestOf(tarball: string): { readonly name: string; readonly version: string } {
  const text = execFileSync("tar", ["-xzOf", tarball, "package/package.json"], { encoding: "utf8" });
  return JSON.parse(text) as { readonly name: string; readonly version: string };
}
