import type { Event } from "@convoke/protocol";
import type { CrashResult } from "./crash-harness.ts";
import { crashMarks } from "./crash-script.ts";

/** The promises that a crash has broken; empty when all held. `mayBeUnknown`: it may have hit a command between start and record. */
export function crashFaults(result: CrashResult, mayBeUnknown: boolean): string[] {
  const { events, stored, followed, marks } = result;
  const wrong: string[] = [];
  if (result.status !== "finished") wrong.push(`the conversation is ${result.status}`);
  if (JSON.stringify(followed) !== JSON.stringify(stored)) wrong.push("the follower saw another log");
  const ids = events.map(({ id }) => id!);
  if (ids.some((id, index) => index > 0 && id <= ids[index - 1]!)) wrong.push("ids do not grow");
  const messages = events.filter(({ kind, source }) => kind === "MessageEvent" && source === "user");
  if (messages.length !== 1) wrong.push(`${messages.length} user messages`);
  const actions = events.filter((event) => event.kind === "ActionEvent");
  if (actions.length !== 7) wrong.push(`${actions.length} actions`);
  let unknownCount = 0;
  for (const action of actions) {
    const answers = events.filter((event) => answersCall(event, action.tool_call_id));
    if (answers.length !== 1) wrong.push(`${action.tool_call_id} has ${answers.length} answers`);
    const [answer] = answers;
    const isUnknown = answer?.kind === "AgentErrorEvent" && action.tool_name !== "no_such_tool";
    // The command and the edit of one turn run concurrently: a kill at one of them may hit the other in the middle.
    const isBesideAnother =
      action.tool_name === "file_editor" || action.tool_call.arguments.includes("three");
    if (isUnknown && !isBesideAnother) unknownCount += 1;
    if (isUnknown && !answer.error.includes("unknown")) wrong.push(`${action.tool_call_id}: ${answer.error}`);
    const mark = /echo (\w+)/.exec(action.tool_call.arguments)?.[1];
    if (mark === undefined) continue;
    const count = marks.filter((line) => line === mark).length;
    if (count > 1) wrong.push(`${mark} ran ${count} times`);
    if (!isUnknown && count !== 1) wrong.push(`${mark} ran ${count} times and is logged as done`);
  }
  if (marks.some((mark) => !(crashMarks as readonly string[]).includes(mark))) wrong.push("strange marks");
  // A read-only finish is simply run again, so at most one call stays unknown, and only where its effect is uncertain.
  if (unknownCount > (mayBeUnknown ? 1 : 0)) wrong.push(`${unknownCount} calls with an unknown outcome`);
  return wrong;
}

function answersCall(event: Event, toolCallId: string): boolean {
  const isAnswer =
    event.kind === "ObservationEvent" ||
    event.kind === "AgentErrorEvent" ||
    event.kind === "UserRejectObservation";
  return isAnswer && event.tool_call_id === toolCallId;
}
