import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";

/** A directory as tar.gz; ends with an error when tar fails, so that a part is never taken for the whole. */
export async function openArchive(
  directory: string,
  environment: Readonly<Record<string, string>>,
  exclude: readonly string[] = [],
): Promise<Readable> {
  const patterns = exclude.map((pattern) => `--exclude=${pattern}`);
  const child = spawn("tar", ["-C", directory, ...patterns, "-czf", "-", "."], {
    env: environment,
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    await once(child, "spawn");
  } catch (error) {
    throw new Error("An archive needs the program tar, which is not installed here.", { cause: error });
  }
  const { promise: exited, resolve } = Promise.withResolvers<number | null>();
  child.once("exit", resolve);
  const archive = followedBy(child.stdout, async () => {
    const code = await exited;
    // 1: a file changed while it was read, which a workspace that is in use does.
    if (code !== 0 && code !== 1) throw new Error(`tar failed with code ${code}.`);
  });
  // Given up before its end: tar would wait for ever to write the rest.
  archive.once("close", () => child.kill());
  return archive;
}

/** The same content, which is only complete once `check` has passed. */
function followedBy(content: Readable, check: () => Promise<void>): Readable {
  return Readable.from(
    (async function* () {
      yield* content as AsyncIterable<Buffer>;
      await check();
    })(),
    { objectMode: false },
  );
}
