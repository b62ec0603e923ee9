import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempDisposableSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/**
 * Images that the Dockerfiles and Compose files begin with. Where no registry has them, each is made of Debian's packages, with the
 * programs and the start of the real one; such an image loses its name when the tests are over, so that nobody builds a release on it.
 */
const substitutes: Readonly<Record<string, () => string>> = {
  "node:24-bookworm-slim": nodeImage,
  "nginx:1.28.0-bookworm": () =>
    build("nginx", [
      "FROM convoke-test/debian",
      `RUN apt-get update && apt-get install -y --no-install-recommends nginx-light`,
      `CMD ["nginx", "-g", "daemon off;"]`,
    ]),
  "postgres:17.6-bookworm": () =>
    build("postgres", [
      "FROM convoke-test/debian",
      "RUN apt-get update && apt-get install -y --no-install-recommends postgresql && ln -sf /usr/lib/postgresql/*/bin/* /usr/local/bin",
      "RUN mkdir /var/lib/postgresql/data && chown postgres /var/lib/postgresql/data",
      "COPY start.sh /start.sh",
      "USER postgres",
      `ENTRYPOINT ["bash", "/start.sh"]`,
    ]),
};

/** What the official image does at its first start, and then. */
const startPostgres = `set -e
data=/var/lib/postgresql/data
if [ ! -s $data/PG_VERSION ]; then
  initdb --pgdata=$data --encoding=UTF8 --username="$POSTGRES_USER" --auth-host=scram-sha-256 --pwfile=<(echo "$POSTGRES_PASSWORD")
  pg_ctl --pgdata=$data --options="-c listen_addresses=" --wait start
  createdb --username="$POSTGRES_USER" --host=/var/run/postgresql "$POSTGRES_DB" || [ "$POSTGRES_DB" = "$POSTGRES_USER" ]
  pg_ctl --pgdata=$data --wait stop
  echo "host all all all scram-sha-256" >> $data/pg_hba.conf
fi
exec postgres -D $data -c listen_addresses='*'
`;

/** Of what makes them: a machine that is busy installs the packages of a Debian for a long time. */
export const longestBuildMs = 1_800_000;

export type RegistryImages = Disposable & {
  /** Those that stand for one of a registry. */
  readonly substituted: readonly string[];
};

export function provideImages(names: readonly string[]): RegistryImages {
  const substituted: string[] = [];
  for (const name of names) {
    // One that a killed test left is none of a registry.
    const known = run("image", "inspect", name) && labelOf(name) !== mark;
    if (known || run("pull", "--quiet", name)) continue;
    docker("tag", substitutes[name]!(), name);
    substituted.push(name);
  }
  return {
    substituted,
    [Symbol.dispose]: () => {
      for (const name of substituted) docker("rmi", "--no-prune", name);
    },
  };
}

/** Node and npm of this machine, on Debian. */
function nodeImage(): string {
  return build(
    "node",
    [
      "FROM convoke-test/debian",
      "COPY local /usr/local",
      // As this machine reaches npm's registry.
      "ENV NODE_EXTRA_CA_CERTS=/usr/local/etc/authorities.pem",
      `CMD ["node"]`,
    ],
    (folder) => {
      const local = path.join(folder, "local");
      for (const name of ["bin", "etc", "lib/node_modules"])
        mkdirSync(path.join(local, name), { recursive: true });
      copyFileSync(process.execPath, path.join(local, "bin/node"));
      const modules = execFileSync("npm", ["root", "--global"], { encoding: "utf8" }).trim();
      cpSync(path.join(modules, "npm"), path.join(local, "lib/node_modules/npm"), { recursive: true });
      for (const name of ["npm", "npx"])
        symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, path.join(local, "bin", name));
      const { NODE_EXTRA_CA_CERTS: given } = process.env;
      copyFileSync(given ?? "/etc/ssl/certs/ca-certificates.crt", path.join(local, "etc/authorities.pem"));
    },
  );
}

/** A Debian of `debootstrap`; kept, because it takes minutes. */
function debianImage(): void {
  if (run("image", "inspect", "convoke-test/debian")) return;
  using folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-debian-"));
  const tree = path.join(folder.path, "root");
  const mirror = "http://deb.debian.org/debian";
  execFileSync("debootstrap", ["--variant=minbase", "--include=ca-certificates", "bookworm", tree, mirror], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const archive = path.join(folder.path, "root.tar");
  execFileSync("tar", ["-C", tree, "--exclude=./var/cache/apt/archives/*.deb", "-cf", archive, "."]);
  const variables = "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  docker("import", "--change", variables, archive, "convoke-test/debian");
}

function build(name: string, lines: readonly string[], fill: (folder: string) => void = () => {}): string {
  debianImage();
  using folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-image-"));
  writeFileSync(path.join(folder.path, "Dockerfile"), lines.join("\n"));
  writeFileSync(path.join(folder.path, "start.sh"), startPostgres);
  fill(folder.path);
  docker("build", "--quiet", "--label", `kind=${mark}`, "--tag", `convoke-test/${name}`, folder.path);
  return `convoke-test/${name}`;
}

const mark = "convoke-test";

function labelOf(name: string): string {
  return docker("image", "inspect", `--format={{index .Config.Labels "kind"}}`, name);
}

export function docker(...words: string[]): string {
  return execFileSync("docker", words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

function run(...words: string[]): boolean {
  return spawnSync("docker", words, { stdio: "ignore" }).status === 0;
}
