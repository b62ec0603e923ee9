import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { CertificateAuthority } from "../../packages/server/src/egress/certificates/certificate-authority.ts";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import { names, type OriginOrder, type OriginPorts, placeholder, type WayOrder } from "./way-order.ts";

const rounds = 5;
const mebibytes = 512;
const requestsARound = 400;

/** The way out of a wall beside a plain CONNECT proxy, in turn, each in a process of its own behind a Unix socket. */
export async function run(): Promise<BenchResult[]> {
  await using scope = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "bench-egress-"));
  scope.defer(async () => rm(folder, { recursive: true }));
  const authority = new CertificateAuthority();
  const { key, cert } = authority.issue("api.example.com");
  const origin = start(scope, "origin-process.ts");
  const ports = await ask<OriginPorts>(origin, { key, cert, mebibytes } satisfies OriginOrder);
  const open = async (kind: WayOrder["kind"]): Promise<Way> => {
    const child = start(scope, "way-process.ts");
    const socketPath = join(folder, `${kind}.sock`);
    const order: WayOrder = { kind, socketPath, ports, trusted: authority.certificate };
    const { certificate } = await ask<{ certificate: string }>(child, order);
    return new Way(child, socketPath, certificate);
  };
  const [plain, ours] = [await open("plain"), await open("egress")];
  for (let round = 0; round < rounds; round += 1) {
    for (const way of [plain, ours]) {
      await way.download();
      await way.sendRequests();
    }
  }
  const added = ours.requestMs - plain.requestMs;
  return [
    {
      id: "egress.request",
      name: "a request on a kept connection with a secret put in: milliseconds more at p50",
      value: added,
      unit: "ms",
      baseline: { name: "the whole request through a plain proxy", value: plain.requestMs },
    },
    compare("egress.tunnel", "bytes of a tunnel, median of rounds", "MiB/s", ours.speed, plain.speed),
    compare(
      "egress.request.cpu",
      "the request: processor time of the proxy",
      "ms",
      ours.requestCpu,
      plain.requestCpu,
    ),
    compare("egress.cpu", "the tunnel: processor time of the proxy", "s/GiB", ours.cpu, plain.cpu),
  ];
}

function compare(id: string, name: string, unit: string, value: number, plain: number): BenchResult {
  return { id, name, value, unit, baseline: { name: "a plain proxy", value: plain }, ratio: value / plain };
}

/** One proxy, and what was measured through it. */
class Way {
  readonly #child: ChildProcess;
  readonly #socketPath: string;
  readonly #certificate: string;
  readonly #speeds: number[] = [];
  readonly #cpus: number[] = [];
  readonly #durations: number[] = [];
  readonly #requestCpus: number[] = [];

  constructor(child: ChildProcess, socketPath: string, certificate: string) {
    this.#child = child;
    this.#socketPath = socketPath;
    this.#certificate = certificate;
  }

  get requestMs(): number {
    return percentile(this.#durations, 0.5);
  }

  get requestCpu(): number {
    return percentile(this.#requestCpus, 0.5);
  }

  get speed(): number {
    return percentile(this.#speeds, 0.5);
  }

  get cpu(): number {
    return percentile(this.#cpus, 0.5);
  }

  async download(): Promise<void> {
    const before = await this.#cpuSeconds();
    const startedAt = performance.now();
    const socket = await this.#tunnel(names.raw);
    let received = 0;
    for await (const bytes of socket as AsyncIterable<Buffer>) received += bytes.length;
    if (received !== mebibytes * 1024 * 1024) throw new Error(`Only ${received} bytes came.`);
    this.#speeds.push((1000 * mebibytes) / (performance.now() - startedAt));
    this.#cpus.push(((await this.#cpuSeconds()) - before) * (1024 / mebibytes));
  }

  async sendRequests(): Promise<void> {
    const socket = await this.#tunnel(names.secure);
    const secure = connectTls({ socket, servername: "api.example.com", ca: this.#certificate });
    await once(secure, "secureConnect");
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    agent.createConnection = () => secure;
    const before = await this.#cpuSeconds();
    for (let at = 0; at < requestsARound; at += 1) {
      const startedAt = performance.now();
      const headers = { host: "api.example.com", authorization: `Bearer ${placeholder}` };
      const asked = request({ agent, path: "/", headers }).end();
      const [answer] = (await once(asked, "response")) as [IncomingMessage];
      for await (const _bytes of answer as AsyncIterable<Buffer>);
      // The first ones open the connection to the host and compile.
      if (at >= 50) this.#durations.push(performance.now() - startedAt);
    }
    this.#requestCpus.push((1000 * ((await this.#cpuSeconds()) - before)) / requestsARound);
    agent.destroy();
  }

  async #cpuSeconds(): Promise<number> {
    const { user, system } = await ask<NodeJS.CpuUsage>(this.#child, "cpu");
    return (user + system) / 1_000_000;
  }

  async #tunnel(target: string): Promise<Socket> {
    const asked = request({ socketPath: this.#socketPath, method: "CONNECT", path: target, agent: false });
    const [answer, socket, head] = (await once(asked.end(), "connect")) as [IncomingMessage, Socket, Buffer];
    if (answer.statusCode !== 200) throw new Error(`CONNECT was answered by ${answer.statusCode}.`);
    if (head.length > 0) socket.unshift(head);
    return socket;
  }
}

function start(scope: AsyncDisposableStack, file: string): ChildProcess {
  const child = fork(join(import.meta.dirname, file));
  scope.defer(async () => {
    const ended = once(child, "exit");
    child.kill();
    await ended;
  });
  return child;
}

async function ask<Answer>(child: ChildProcess, message: OriginOrder | WayOrder | string): Promise<Answer> {
  const answered = once(child, "message");
  child.send(message);
  const [answer] = (await answered) as [Answer];
  return answer;
}
