import {
  allowedEnvironment,
  createInProcessHost,
  defaultTools,
  createMarker,
  openGuardian,
} from "@convoke/tool-host";
import { readConfig } from "../boot/config.ts";
import { socketTimes, type SocketTimes } from "../faces/agent-server/sockets/socket-times.ts";
import { silentLogger } from "../lib/logger.ts";
import type { Model } from "../models/model.ts";
import { openServer } from "../boot/open-server.ts";
import { FailPoints } from "./fail-points.ts";
import { journalWithRecord } from "./journal-with-record.ts";
import { shiftClock } from "./shifting-clock.ts";
import {
  hostWithFailPoints,
  journalWithFailPoints,
  modelWithFailPoints,
  toolWithFailPoints,
} from "./with-fail-points.ts";

/** The JSON argument of `node failing-server.ts`. */
export type FailingServerArguments = {
  readonly dataDir: string;
  readonly port: number;
  readonly key: string;
  /** See {@link FailPoints}. */
  readonly failPoints: string;
  readonly traceFile: string | null;
  readonly times: Partial<SocketTimes>;
  readonly conversationIdleSeconds: number | null;
  /** A number enables a watchdog; then a model request with "Stand still." in it blocks the event loop for ever. */
  readonly standstillSeconds: number | null;
  /** URL of a shared PostgreSQL; null stores everything in the folder. */
  readonly databaseUrl: string | null;
  /** Address for other nodes; null for the one where it listens. */
  readonly nodeAddress: string | null;
  /** Gets a line of {@link AppendRecord} for each acknowledged append. */
  readonly appendsFile: string | null;
};

// A whole server in a separate process, the same as `convoke serve`, that fails at configured points. It prints `{"url": ...}` when it
// is ready, answers each line on its input with its memory use, and stops on SIGTERM. A line with a number shifts its clock by so
// many milliseconds.
const given = JSON.parse(process.argv[2] ?? "{}") as FailingServerArguments;
const points = new FailPoints(given.failPoints, given.traceFile);
const config = readConfig(
  given.databaseUrl === null
    ? {}
    : {
        CONVOKE_DATABASE: given.databaseUrl,
        CONVOKE_SECRET_KEY: given.key,
        ...(given.nodeAddress === null ? {} : { CONVOKE_NODE_ADDRESS: given.nodeAddress }),
      },
  { host: "127.0.0.1", port: given.port, dataDir: given.dataDir, workspaceRoot: given.dataDir },
);
const guardian = await openGuardian({ marker: createMarker("convoke") });
const toolHost = createInProcessHost({
  tools: defaultTools().map((tool) => toolWithFailPoints(tool, points)),
  environment: { ...allowedEnvironment(process.env), ...guardian.environment },
});
const server = await openServer({
  config: {
    ...config,
    sessionApiKeys: [given.key],
    conversationIdleSeconds: given.conversationIdleSeconds ?? config.conversationIdleSeconds,
    standstillSeconds: given.standstillSeconds ?? 0,
  },
  hasWatchdog: true,
  toolHost: hostWithFailPoints(toolHost, points),
  logger: silentLogger,
  times: { ...socketTimes, ...given.times },
  wrap: {
    journal: (journal) => journalWithRecord(journalWithFailPoints(journal, points), given.appendsFile),
    model: (model) =>
      modelWithFailPoints(given.standstillSeconds === null ? model : standsStillAtWord(model), points),
  },
});
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
process.stdin.setEncoding("utf8").on("data", (line: string) => {
  if (line.trim() !== "") shiftClock(Number(line));
  // The buffers that one collection finds are freed beside it, and counted as freed when the next one begins.
  for (let round = 0; round < 2; round += 1) globalThis.gc?.();
  process.stdout.write(`${JSON.stringify(process.memoryUsage())}\n`);
});
// A test that is gone cannot end its server any more.
process.stdin.once("end", () => process.exit(1));
process.stdin.unref();
process.once("SIGTERM", () => {
  void server[Symbol.asyncDispose]()
    .then(() => guardian[Symbol.asyncDispose]())
    .then(() => process.exit(0));
});

function standsStillAtWord(model: Model): Model {
  return {
    name: model.name,
    isVisionEnabled: model.isVisionEnabled,
    stream: (request, signal) => {
      if (JSON.stringify(request.messages).includes("Stand still.")) {
        for (;;);
      }
      return model.stream(request, signal);
    },
  };
}
