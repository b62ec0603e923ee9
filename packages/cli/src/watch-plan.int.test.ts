import { PassThrough, Writable } from "node:stream";
import { startTestServer } from "@convoke/server/testing";
import { expect, test } from "vitest";
import { exitCodes } from "./exit-codes.ts";
import { watchPlan } from "./watch-plan.ts";

const question = "Carry the plan out?";

test("run --plan: words change the plan, and yes carries it out", async () => {
  const texts = ["The plan.", "A shorter plan.", "It is done."];
  await using server = await startTestServer({ script: { turns: texts.map((text) => ({ text })) } });
  const { output, transcript, exitCode } = await watch(server, ["make it shorter", "y"]);
  expect(exitCode).toBe(exitCodes.ok);
  expect(transcript().split(question)).toHaveLength(3);
  // Everything is shown once.
  for (const text of texts) expect(transcript().split(text)).toHaveLength(2);
  expect(transcript()).toMatch(
    /agent {2}A shorter plan\.[^]+The plan is approved\.[^]+agent {2}It is done\./u,
  );
  expect(output.destroyed).toBe(false);
});

test("run --plan: no leaves the plan, and so does nobody to ask", async () => {
  await using server = await startTestServer({
    script: { turns: [{ text: "The plan." }, { text: "The plan." }] },
  });
  expect((await watch(server, ["n"])).exitCode).toBe(exitCodes.ok);
  const { transcript, exitCode } = await watch(server, []);
  expect(exitCode).toBe(exitCodes.ok);
  expect(transcript()).not.toContain(question);
  expect(server.model.requests).toHaveLength(2);
});

/** A person who gives each answer when asked; none: there is no terminal. */
async function watch(server: Awaited<ReturnType<typeof startTestServer>>, answers: readonly string[]) {
  const request = server.startRequest({ text: "Build it." });
  const { id } = await server.client.startConversation({
    ...request,
    agent: { ...request.agent, system_prompt_filename: "system_prompt_planning.j2" },
  });
  const input = Object.assign(new PassThrough(), { isTTY: answers.length > 0 });
  const left = [...answers];
  let transcript = "";
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      transcript += String(chunk);
      if (String(chunk).includes(question)) setImmediate(() => input.write(`${left.shift()}\n`));
      done();
    },
  });
  const exitCode = await watchPlan({
    client: server.client,
    conversationId: id,
    isJson: false,
    input: input as unknown as NodeJS.ReadStream,
    output: output as unknown as NodeJS.WriteStream,
  });
  return { output, transcript: () => transcript, exitCode };
}
