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
