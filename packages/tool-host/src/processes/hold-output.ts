import { PassThrough, pipeline, type Readable } from "node:stream";

/**
 * The output of a child process, safe to be read later. Node discards what a child has printed and nobody reads when the child exits.
 * Destroying the result destroys `output`; its errors are errors of the result, and end no process that does not listen.
 */
export function holdOutput(output: Readable): Readable {
  const held = pipeline(output, new PassThrough(), () => {});
  held.on("error", () => {});
  return held;
}
