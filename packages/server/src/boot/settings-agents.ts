import { choice, decimal, path, text, whole } from "./setting.ts";

/** What agents run behind, how much they may use, and who is asked before they act. */
export const agentSettings = {
  wall: choice({
    variable: "CONVOKE_WALL",
    flag: "--wall",
    choices: ["auto", "bubblewrap", "docker", "off"],
    fallback: "auto",
    doc: "what agents outside of sandboxes run behind, see [walls](walls.md)",
  }),
  network: text({
    variable: "CONVOKE_NETWORK",
    flag: "--network",
    fallback: "registries",
    doc: "[what walls and sandboxes let out](walls.md#the-way-out): `none`, `registries`, `all`, or hosts with commas between",
  }),
  wall_memory_mb: whole({
    variable: "CONVOKE_WALL_MEMORY_MB",
    shownDefault: "3/4 of the memory",
    least: 64,
    doc: "memory of everything behind one wall, see [limits](walls.md#limits)",
  }),
  wall_cpus: decimal({
    variable: "CONVOKE_WALL_CPUS",
    shownDefault: "all",
    least: 0.1,
    doc: "processors of one wall",
  }),
  wall_pids: whole({
    variable: "CONVOKE_WALL_PIDS",
    fallback: 8192,
    least: 32,
    doc: "processes and threads of one wall",
  }),
  max_walls: whole({
    variable: "CONVOKE_MAX_WALLS",
    shownDefault: "one for each 256 MB",
    least: 1,
    doc: "walls that run at one time",
  }),
  wall_home_mb: whole({
    variable: "CONVOKE_WALL_HOME_MB",
    fallback: 4096,
    least: 64,
    doc: "size of a private home",
  }),
  wall_home_days: whole({
    variable: "CONVOKE_WALL_HOME_DAYS",
    fallback: 30,
    least: 1,
    doc: "how long a private home stays without use",
  }),
  sandbox: text({
    variable: "CONVOKE_SANDBOX",
    flag: "--sandbox",
    fallback: "auto",
    doc: "`auto`, `off`, or some of `bubblewrap`, `process`, `docker` with commas between, see [sandboxes](sandboxes.md)",
  }),
  sandbox_specs: path({
    variable: "CONVOKE_SANDBOX_SPECS",
    flag: "--sandbox-specs",
    doc: "file with [specs of your own](sandbox-specs.md), which then are the only ones",
  }),
  sandbox_network: text({
    variable: "CONVOKE_SANDBOX_NETWORK",
    shownDefault: "as `CONVOKE_NETWORK`",
    doc: "what sandboxes reach",
  }),
  sandbox_image: text({
    variable: "CONVOKE_SANDBOX_IMAGE",
    doc: "image for docker and podman",
  }),
  sandbox_engine_socket: path({
    variable: "CONVOKE_SANDBOX_ENGINE_SOCKET",
    fallback: "/var/run/docker.sock",
    doc: "socket of the engine",
  }),
  sandbox_user: text({
    variable: "CONVOKE_SANDBOX_USER",
    fallback: "65534:65534",
    doc: "`uid:gid` that sandboxes run as when the server is root; never root",
  }),
  sandbox_memory_mb: whole({
    variable: "CONVOKE_SANDBOX_MEMORY_MB",
    fallback: 2048,
    least: 64,
    doc: "memory of a sandbox",
  }),
  sandbox_cpus: decimal({
    variable: "CONVOKE_SANDBOX_CPUS",
    fallback: 2,
    least: 0.1,
    doc: "its processors",
  }),
  sandbox_pids: whole({
    variable: "CONVOKE_SANDBOX_PIDS",
    fallback: 512,
    least: 32,
    doc: "its processes and threads",
  }),
  sandbox_disk_mb: whole({
    variable: "CONVOKE_SANDBOX_DISK_MB",
    fallback: 1024,
    least: 1,
    doc: "each of its private temporary directories, which is the machine's memory",
  }),
  sandbox_warm: whole({
    variable: "CONVOKE_SANDBOX_WARM",
    fallback: 0,
    least: 0,
    doc: "sandboxes of the default kind that are kept ready",
  }),
  approval_timeout_seconds: decimal({
    variable: "CONVOKE_APPROVAL_TIMEOUT_SECONDS",
    shownDefault: "they wait for ever",
    least: 0.001,
    max: 31_536_000,
    doc: "actions that nobody answers for so long are answered by the server, in conversations that do not say otherwise",
  }),
  approval_on_timeout: choice({
    variable: "CONVOKE_APPROVAL_ON_TIMEOUT",
    choices: ["accept", "reject"],
    fallback: "reject",
    doc: "that answer",
  }),
  approval_reviewer: text({
    variable: "CONVOKE_APPROVAL_REVIEWER",
    doc: "the name of a stored model that is asked about actions before a person is ([reviewer](approvals.md#a-reviewer)), in conversations that do not say otherwise",
  }),
  approval_reviewer_up_to: choice({
    variable: "CONVOKE_APPROVAL_REVIEWER_UP_TO",
    choices: ["LOW", "MEDIUM", "HIGH"],
    fallback: "MEDIUM",
    doc: "the highest risk that it decides about",
  }),
  rules: path({
    variable: "CONVOKE_RULES",
    doc: "a file with [rules](approvals.md#rules) about what agents may do, for everybody",
  }),
  llm_model: text({
    variable: "LLM_MODEL",
    flag: "--model",
    doc: "the model of `run`; clients of the server send their own",
  }),
  llm_api_key: text({
    variable: "LLM_API_KEY",
    isSecret: true,
    doc: "its key",
  }),
  llm_base_url: text({
    variable: "LLM_BASE_URL",
    flag: "--base-url",
    shownDefault: "the provider's",
    doc: "its address",
  }),
  chat_theme: text({
    variable: "CONVOKE_CHAT_THEME",
    fallback: "default",
    doc: "how `convoke chat` looks: `default`, `mono`, `high-contrast`, or [a theme file](chat.md#themes)",
  }),
  chat_notify: choice({
    variable: "CONVOKE_CHAT_NOTIFY",
    choices: ["bell", "osc9", "osc99", "osc777", "off"],
    fallback: "bell",
    doc: "how `convoke chat` calls you when its window has no focus",
  }),
};
