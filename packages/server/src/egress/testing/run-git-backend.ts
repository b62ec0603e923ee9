import { spawn } from "node:child_process";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";

/** Answers with the program that git has for web servers (CGI). `root` has the repositories. */
export function runGitBackend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? "/", "https://git.example.com");
  const backend = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env["PATH"] ?? "",
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      REQUEST_METHOD: request.method ?? "GET",
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      HTTP_GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      REMOTE_USER: "x",
      ...(request.headers["content-length"] === undefined
        ? {}
        : { CONTENT_LENGTH: request.headers["content-length"] }),
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  request.pipe(backend.stdin);
  void (async () => {
    const chunks: Buffer[] = [];
    backend.stdout.on("data", (bytes: Buffer) => chunks.push(bytes));
    await once(backend, "close");
    const whole = Buffer.concat(chunks);
    const end = whole.indexOf("\r\n\r\n");
    const lines = whole.subarray(0, end).toString().split("\r\n");
    const status = lines.find((line) => line.startsWith("Status: "))?.slice(8, 11) ?? "200";
    const headers = lines
      .filter((line) => !line.startsWith("Status: "))
      .flatMap((line) => line.split(/: (.*)/).slice(0, 2));
    response.writeHead(Number(status), headers);
    response.end(whole.subarray(end + 4));
  })();
}
