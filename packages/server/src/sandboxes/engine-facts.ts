/** What `GET /info` of Docker or Podman says of its rights. */
type EngineInfo = {
  readonly SecurityOptions?: readonly string[] | null;
  readonly Rootless?: boolean;
  readonly CgroupVersion?: string;
};

/** The engine runs as an ordinary user. */
export function isRootless(info: unknown): boolean {
  const { SecurityOptions, Rootless } = info as EngineInfo;
  return Rootless === true || SecurityOptions?.includes("name=rootless") === true;
}

/** Such an engine can neither limit nor pause what it runs. */
export function isRootlessOnVersionOne(info: unknown): boolean {
  return isRootless(info) && (info as EngineInfo).CgroupVersion === "1";
}

/** What engines say when the machine lacks something, and what to do. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [
    /container-init binary not found/i,
    "Install catatonit, with which podman runs the first process of a container.",
  ],
  [
    /setting rlimit/i,
    'The machine allows fewer open files or processes than the engine asks for: set default_ulimits in /etc/containers/containers.conf, such as ["nofile=1024:1024", "nproc=4096:4096"], and start the engine again.',
  ],
  [
    /cannot run with network enabled in root network namespace/i,
    "gVisor is started with a network: name a runtime that starts it with --network=none.",
  ],
  [
    /unknown or invalid runtime name|runtime .* not found|invalid runtime/i,
    "Name the runtime in the engine's settings, or leave it out.",
  ],
];

/** A sentence behind the engine's own; empty where none fits. */
export function remedyOf(message: string): string {
  const found = remedies.find(([pattern]) => pattern.test(message));
  return found === undefined ? "" : `. ${found[1]}`;
}
