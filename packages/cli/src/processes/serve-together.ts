import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { ServerConfig } from "@convoke/server";
import { addressOf } from "@convoke/server/address";
import type { Logger } from "pino";
import { exitCodes } from "../exit-codes.ts";
import { endSignals } from "../until-signalled.ts";
import { ConnectionDealer } from "./connection-dealer.ts";
import { toEnvironment, type ServerFacts, type ToParent, type ToProcess } from "./process-messages.ts";
import { Supervisor } from "./supervisor.ts";

export type TogetherDeps = {
  readonly count: number;
  readonly config: Pick<ServerConfig, "host" | "port">;
  readonly logger: Logger;
  /** All of them serve; the facts are those of the first. */
  readonly onReady: (facts: ServerFacts) => void;
  /** The first signal to end came. */
  readonly onStopping: () => void;
};

/**
 * Runs this command in several processes behind one port, until a signal comes; resolves with the exit code. This process holds the port
 * and reads nothing of what comes there: it gives each connection to one of the others.
 *
 * Only for speed: processes.pages.bound
 */
export async function serveTogether(deps: TogetherDeps): Promise<number> {
  const { promise: ended, resolve: onEnd } = Promise.withResolvers<number>();
  const children = new Map<number, ChildProcess>();
  const timers = new Set<NodeJS.Timeout>();
  let facts: ServerFacts | null = null;

  const send = (number: number, message: ToProcess, socket?: Socket): void => {
    const child = children.get(number);
    // The exit of a process is handled on its own. A connection that is kept open can be given to another one.
    if (child?.connected === true) child.send(message, socket, { keepOpen: true }, () => {});
  };
  const dealer = new ConnectionDealer<Socket>({
    give: (number, socket) => send(number, { type: "connection" }, socket),
    letGo: (socket) => socket.destroy(),
    breakOff: (socket) => socket.resetAndDestroy(),
  });
  const receive = (number: number, message: ToParent): void => {
    if (message.type === "news") {
      for (const other of children.keys()) if (other !== number) send(other, message);
    } else if (message.type === "taken") dealer.taken(number);
    else if (message.type === "refused") dealer.leave(number);
    else {
      facts ??= message.facts;
      dealer.join(number);
      supervisor.ready(number);
    }
  };
  const start = (number: number): void => {
    const environment = toEnvironment({ number, count: deps.count, url });
    const child = fork(process.argv[1]!, process.argv.slice(2), { env: { ...process.env, ...environment } });
    children.set(number, child);
    child.on("message", (message: ToParent) => receive(number, message));
    child.on("error", (error) => {
      deps.logger.error({ process: number, error: String(error) }, "cannot reach a server process");
    });
    child.on("exit", (code, signal) => {
      children.delete(number);
      dealer.leave(number);
      supervisor.ended(number, { code, signal });
    });
  };
  const supervisor = new Supervisor({
    count: deps.count,
    start,
    stop: (number) => {
      dealer.leave(number);
      send(number, { type: "stop" });
    },
    kill: (number) => children.get(number)?.kill("SIGKILL"),
    wait: (number, milliseconds) => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        supervisor.due(number);
      }, milliseconds);
      timers.add(timer);
    },
    clock: { nowMs: () => performance.now() },
    onReady: () => {
      if (facts !== null) deps.onReady(facts);
    },
    onEnd,
    onDeath: (number, { code, signal }, againInMs) => {
      deps.logger.error(
        { process: number, code, signal, againInMs },
        "a server process has exited; the others take over its work, and it is restarted",
      );
    },
  });

  const server = await listen(deps.config, (socket) => dealer.deal(socket));
  const url = addressOf(server.address() as AddressInfo);
  let isStopping = false;
  const onSignal = (given: NodeJS.Signals): void => {
    // As of one process: see `untilSignalled`.
    if (isStopping && given === "SIGHUP") return;
    if (!isStopping) deps.onStopping();
    isStopping = true;
    server.close();
    dealer.close();
    supervisor.stop(exitCodes.interrupted);
  };
  for (const signal of endSignals) process.on(signal, onSignal);
  supervisor.begin();
  try {
    return await ended;
  } finally {
    for (const signal of endSignals) process.off(signal, onSignal);
    for (const timer of timers) clearTimeout(timer);
    server.close();
    dealer.close();
  }
}

async function listen(
  { host, port }: TogetherDeps["config"],
  onConnection: (socket: Socket) => void,
): Promise<Server> {
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    // A client that goes before anybody has read a word is nobody's failure.
    socket.on("error", () => socket.destroy());
    onConnection(socket);
  });
  server.listen({ host, port });
  await once(server, "listening");
  return server;
}
