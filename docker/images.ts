/** What `build-offline.ts` makes without a registry; a test holds the Dockerfiles to it. */
export type Image = {
  readonly name: string;
  /** Debian's packages that the Dockerfile installs, each with its programs that are copied from this machine. */
  readonly packages: Readonly<Record<string, readonly string[]>>;
  /** Packages of the target `with-browser`, or null where each image has a browser. */
  readonly browserPackages: readonly string[] | null;
  /** Owner of what it writes, by number; null for root. */
  readonly user: string | null;
  readonly folders: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly volumes: readonly string[];
  readonly ports: readonly string[];
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthcheck: string | null;
};

const shared = {
  bash: ["bash", "sh"],
  "ca-certificates": [],
  git: ["git"],
  less: ["less"],
  procps: ["ps", "pgrep", "pkill"],
} as const;

/** Node and the program; `convoke` starts it. */
export const programFolder = "/opt/convoke/program";

/** What `/usr/local/bin/convoke` is. */
export const convokeScript = (node: string): string =>
  `#!/bin/sh\nexec ${node} --disable-sigusr1 ${programFolder}/lib/bin.js "$@"\n`;

export const sandboxImage: Image = {
  name: "convoke-sandbox",
  packages: { ...shared, chromium: [], curl: ["curl"], python3: [], ripgrep: ["rg"], unzip: ["unzip"] },
  browserPackages: null,
  user: null,
  folders: ["/workspace", "/home/agent", "/run/convoke", "/var/lib/convoke"],
  environment: { CONVOKE_WALL: "off" },
  workdir: "/workspace",
  volumes: [],
  ports: [],
  entrypoint: ["convoke"],
  command: [],
  healthcheck: null,
};

/** `/workspaces` is for a volume that several servers share. The data folder is one below the volume: a new volume is open to its group, and on some disks not empty. */
export const serverImage: Image = {
  name: "convoke",
  packages: { ...shared, bubblewrap: ["bwrap"] },
  browserPackages: ["chromium", "fonts-liberation"],
  user: "10001",
  folders: ["/data", "/workspaces", "/home/convoke"],
  environment: {
    HOME: "/home/convoke",
    CONVOKE_WALL: "off",
    CONVOKE_HOST: "0.0.0.0",
    CONVOKE_DATA_DIR: "/data/server",
    CONVOKE_WORKSPACE_ROOT: "/data/workspaces",
  },
  workdir: "/home/convoke",
  volumes: ["/data"],
  ports: ["8000"],
  entrypoint: ["convoke"],
  command: ["serve"],
  healthcheck: `--interval=30s --timeout=10s --start-period=60s --retries=3 CMD ["convoke", "health"]`,
};
