import { askAboutPlan } from "./ask-approval.ts";
import { exitCodes } from "./exit-codes.ts";
import { newestEventId, watchRun, type WatchOptions } from "./watch-run.ts";

/** Shows how a plan is made and asks about it: it is changed, left, or carried out, which is shown too. Resolves with the exit code. */
export async function watchPlan(options: WatchOptions): Promise<number> {
  const { client, conversationId: id } = options;
  let watched = options;
  for (;;) {
    const exitCode = await watchRun(watched);
    if (exitCode !== exitCodes.ok) return exitCode;
    const answer = await askAboutPlan(options);
    watched = { ...options, afterEventId: await newestEventId(options) };
    if (answer === true) {
      await client.approvePlan(id);
      return await watchRun(watched);
    }
    if (answer === false) {
      process.stderr.write(
        `The plan was not carried out. To approve it later: convoke chat ${id.slice(0, 8)}, then /plan approve.\n`,
      );
      return exitCode;
    }
    const content = [{ type: "text" as const, text: answer.change }];
    await client.sendMessage(id, { role: "user", content, run: true });
  }
}
