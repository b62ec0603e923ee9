import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { connect } from "node:net";
import path from "node:path";
import { findSteadyPort } from "@convoke/server/testing";

/** The reason why there can be no proxy here, or null. */
export function findNginx(): string | null {
  for (const [program, argument] of [
    ["nginx", "-v"],
    ["openssl", "version"],
  ] as const) {
    try {
      execFileSync(program, [argument], { stdio: "ignore" });
    } catch {
      return `${program} is not installed`; // It could not be run.
    }
  }
  return null;
}

export const proxyHost = "agents.test";
const proxyPrefix = "/convoke";

export type ProxyOptions = {
  readonly host: string;
  readonly port: number;
  readonly servername: string;
  readonly ca: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
};

export type ProxyReply = {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
};

/** nginx with TLS in front of a server, below a path prefix, as docs/guides/proxies.md sets it up. */
export class Nginx implements AsyncDisposable {
  readonly port: number;
  /** Its certificate, which it signed itself. */
  readonly ca: string;
  readonly #child: ChildProcess;

  private constructor(port: number, ca: string, child: ChildProcess) {
    this.port = port;
    this.ca = ca;
    this.#child = child;
  }

  /** `folder` must be empty; the caller removes it. */
  static async start(folder: string, upstream: string): Promise<Nginx> {
    await mkdir(folder, { recursive: true });
    const [key, certificate] = [path.join(folder, "key.pem"), path.join(folder, "certificate.pem")];
    const subject = ["-subj", `/CN=${proxyHost}`, "-addext", `subjectAltName=DNS:${proxyHost}`];
    const kind = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"];
    execFileSync("openssl", ["req", ...kind, "-keyout", key, "-out", certificate, ...subject], {
      stdio: "ignore",
    });
    const port = await findSteadyPort();
    const file = path.join(folder, "nginx.conf");
    writeFileSync(file, settings({ folder, key, certificate, port, upstream }));
    const child = spawn("nginx", ["-p", folder, "-c", file, "-e", "stderr"], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let log = "";
    child.stderr.on("data", (data: Buffer) => (log += data.toString()));
    for (let attempt = 0; !(await isOpen(port)); attempt++) {
      if (child.exitCode !== null || attempt > 3_000) throw new Error(`nginx did not start: ${log}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return new Nginx(port, readFileSync(certificate, "utf8"), child);
  }

  get base(): string {
    return `https://${proxyHost}:${this.port}${proxyPrefix}`;
  }

  /** Options to reach an address of the proxy without DNS. */
  options(url: string): ProxyOptions {
    const { pathname, search } = new URL(url);
    return {
      host: "127.0.0.1",
      port: this.port,
      servername: proxyHost,
      ca: this.ca,
      path: `${pathname}${search}`,
      headers: { host: `${proxyHost}:${this.port}` },
    };
  }

  async call(method: string, url: string, key: string | null, body?: unknown): Promise<ProxyReply> {
    const options = this.options(url);
    const sent = request({
      ...options,
      method,
      headers: {
        ...options.headers,
        ...(key === null ? {} : { "x-session-api-key": key }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const [reply] = (await once(sent, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of reply.setEncoding("utf8")) text += chunk as string;
    return { status: reply.statusCode ?? 0, headers: reply.headers, text };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await gone;
  }
}

function settings(place: {
  readonly folder: string;
  readonly key: string;
  readonly certificate: string;
  readonly port: number;
  readonly upstream: string;
}): string {
  return `
daemon off;
master_process off;
pid nginx.pid;
events {}
http {
  access_log off;
  client_body_temp_path ${place.folder}/body;
  proxy_temp_path ${place.folder}/proxy;
  fastcgi_temp_path ${place.folder}/fastcgi;
  uwsgi_temp_path ${place.folder}/uwsgi;
  scgi_temp_path ${place.folder}/scgi;
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  server {
    listen 127.0.0.1:${place.port} ssl;
    server_name ${proxyHost};
    ssl_certificate ${place.certificate};
    ssl_certificate_key ${place.key};
    client_max_body_size 64m;
    location ${proxyPrefix}/ {
      proxy_pass ${place.upstream}/;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header X-Forwarded-Prefix ${proxyPrefix};
      proxy_buffering off;
      proxy_read_timeout 60s;
    }
  }
}
`;
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false; // Not yet.
  } finally {
    socket.destroy();
  }
}
