import type { Duplex } from "node:stream";
import type { RemoteToolHost } from "@convoke/tool-host";
import { describeError } from "../lib/describe-error.ts";
import { inside } from "./bubblewrap-arguments.ts";
import { readLogFrames } from "./read-log-frames.ts";
import type { ContainerEngine } from "./container-engine.ts";
import { SandboxError, type SandboxHandle, type SandboxHealth, type SandboxRecord } from "./sandbox.ts";
import type { ToolHostLink } from "./tool-host-link.ts";

export type DockerSandboxDeps = {
  readonly id: string;
  readonly containerName: string;
  readonly engine: ContainerEngine;
  readonly link: ToolHostLink;
  readonly container: { remove(): Promise<void>; connectPort(port: number): Promise<Duplex> };
};

/** A sandbox in a container; the engine knows its state, so nothing is remembered here. */
export class DockerSandbox implements SandboxHandle {
  readonly id: string;
  readonly record: SandboxRecord;
  readonly workspaceDir = inside.workspace;
  readonly stateDir = inside.state;
  readonly #deps: DockerSandboxDeps;

  constructor(deps: DockerSandboxDeps) {
    this.#deps = deps;
    this.id = deps.id;
    this.record = { backend: "docker", id: deps.id };
  }

  get toolHostAddress(): string {
    return this.#deps.link.address;
  }

  async connect(): Promise<RemoteToolHost> {
    const { state, detail } = await this.#inspect();
    if (state !== "running")
      throw new SandboxError(`The sandbox is ${state}: ${detail ?? "resume it first"}.`);
    return this.#deps.link.connect();
  }

  async pause(): Promise<void> {
    if ((await this.#assertThere()) === "running") await this.#post("pause");
  }

  async resume(): Promise<void> {
    if ((await this.#assertThere()) === "paused") await this.#post("unpause");
    await this.#deps.link.probe();
  }

  async stop(): Promise<void> {
    await this.#deps.container.remove();
  }

  async health(): Promise<SandboxHealth> {
    const seen = await this.#inspect();
    if (seen.state !== "running") return seen;
    try {
      await this.#deps.link.probe();
      return seen;
    } catch (error) {
      const after = await this.#inspect();
      if (after.state !== "running") return after;
      return { state: "silent", detail: `the tool host does not answer (${describeError(error)})` };
    }
  }

  /** Running or paused, whether or not it answers. */
  async isThere(): Promise<boolean> {
    return (await this.#inspect()).state !== "stopped";
  }

  /** For {@link ToolHostLink.untilReady}. */
  async findEnd(): Promise<string | null> {
    const { state, detail } = await this.#inspect();
    return state === "running" ? null : `${detail ?? state} ${await this.logs(2_000)}`.trim();
  }

  async logs(maxBytes: number): Promise<string> {
    const { containerName, engine } = this.#deps;
    const path = `/containers/${containerName}/logs?stdout=1&stderr=1&tail=500`;
    const { status, bytes } = await engine.call("GET", path, { accepted: [404, 409] });
    return status === 200 ? readLogFrames(bytes).slice(-maxBytes) : "";
  }

  async connectPort(port: number): Promise<Duplex> {
    await this.#assertThere();
    return this.#deps.container.connectPort(port);
  }

  async #inspect(): Promise<SandboxHealth> {
    const path = `/containers/${this.#deps.containerName}/json`;
    const { status, body } = await this.#deps.engine.call("GET", path, { accepted: [404] });
    if (status === 404) return { state: "stopped", detail: "the tool host and its container are gone" };
    const { State } = body as ContainerDetails;
    if (State.Status === "paused") return { state: "paused", detail: null };
    if (State.Status === "running" || State.Status === "created") return { state: "running", detail: null };
    const why = State.OOMKilled ? ", it ran out of memory" : "";
    return { state: "stopped", detail: `the tool host has ended with code ${State.ExitCode}${why}` };
  }

  async #assertThere(): Promise<SandboxHealth["state"]> {
    const { state, detail } = await this.#inspect();
    if (state === "stopped") throw new SandboxError(`The sandbox has stopped: ${detail}. Start it again.`);
    return state;
  }

  async #post(what: string): Promise<void> {
    await this.#deps.engine.call("POST", `/containers/${this.#deps.containerName}/${what}`);
  }
}

type ContainerDetails = {
  readonly State: { readonly Status: string; readonly ExitCode: number; readonly OOMKilled: boolean };
};
