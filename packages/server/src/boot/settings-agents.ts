import { choice, decimal, named, path, text, whole } from "./setting.ts";

/** What agents run behind, how much they may use, and who is asked before they act. */
export const agentSettings = named({
  wall: choice({
    flag: "--wall",
    choices: ["auto", "bubblewrap", "docker", "off"],
    fallback: "auto",
    doc: "what agents outside of sandboxes run behind, see [walls](walls.md)",
  }),
  network: text({
    flag: "--network",
    fallback: "registries",
    doc: "[what walls and sandboxes let out](walls.md#the-way-out): `none`, `registries`, `all`, or hosts with commas between",
  }),
  wall_memory_mb: whole({
    shownDefault: "3/4 of the memory",
    least: 64,
    doc: "memory of everything behind one wall, see [limits](walls.md#limits)",
  }),
  wall_cpus: decimal({
    shownDefault: "all",
    least: 0.1,
    doc: "processors of one wall",
  }),
  wall_pids: whole({
    fallback: 8192,
    least: 32,
    doc: "processes and threads of one wall",
  }),
  max_walls: whole({
    shownDefault: "one for each 256 MB",
    least: 1,
    doc: "walls that run at one time",
  }),
  wall_home_mb: whole({
    fallback: 4096,
    least: 64,
    doc: "size of a private home",
  }),
  wall_home_days: whole({
    fallback: 30,
    least: 1,
    doc: "how long a private home stays without use",
  }),
  sandbox: text({
    flag: "--sandbox",
    fallback: "auto",
    doc: "`auto`, `off`, or some of `bubblewrap`, `process`, `docker` with commas between, see [sandboxes](sandboxes.md)",
  }),
  sandbox_specs: path({
    flag: "--sandbox-specs",
    doc: "file with [specs of your own](sandbox-specs.md), which then are the only ones",
  }),
  sandbox_network: text({
    shownDefault: "as `CONVOKE_NETWORK`",
    doc: "what sandboxes reach",
  }),
  sandbox_image: text({
    doc: "image for docker and podman",
  }),
  sandbox_engine_socket: path({
    fallback: "/var/run/docker.sock",
    doc: "socket of the engine",
  }),
  sandbox_user: text({
    fallback: "65534:65534",
    doc: "`uid:gid` that sandboxes run as when the server is root; never root",
  }),
  sandbox_memory_mb: whole({
    fallback: 2048,
    least: 64,
    doc: "memory of a sandbox",
  }),
  sandbox_cpus: decimal({
    fallback: 2,
    least: 0.1,
    doc: "its processors",
  }),
  sandbox_pids: whole({
    fallback: 512,
    least: 32,
    doc: "its processes and threads",
  }),
  sandbox_disk_mb: whole({
    fallback: 1024,
    least: 1,
    doc: "each of its private temporary directories, which is the machine's memory",
  }),
  sandbox_warm: whole({
    fallback: 0,
    least: 0,
    doc: "sandboxes of the default kind that are kept ready",
  }),
  approval_timeout_seconds: decimal({
    shownDefault: "they wait for ever",
    least: 0.001,
    max: 31_536_000,
    doc: "actions that nobody answers for so long are answered by the server, in conversations that do not say otherwise",
  }),
  approval_on_timeout: choice({
    choices: ["accept", "reject"],
    fallback: "reject",
    doc: "that answer",
  }),
  approval_reviewer: text({
    doc: "the name of a stored model that is asked about actions before a person is ([reviewer](approvals.md#a-reviewer)), in conversations that do not say otherwise",
  }),
  approval_reviewer_up_to: choice({
    choices: ["LOW", "MEDIUM", "HIGH"],
    fallback: "MEDIUM",
    doc: "the highest risk that it decides about",
  }),
  rules: path({
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
    fallback: "default",
    doc: "how `convoke chat` looks: `default`, `mono`, `high-contrast`, or [a theme file](chat.md#themes)",
  }),
  chat_notify: choice({
    choices: ["bell", "osc9", "osc99", "osc777", "off"],
    fallback: "bell",
    doc: "how `convoke chat` calls you when its window has no focus",
  }),
});
