import type { Tool, ToolHost, ToolSession, ToolSet } from "@convoke/tool-host";
import { JournalWriteError, type Journal } from "../journal/journal.ts";
import type { Model, ModelPart } from "../models/model.ts";
import type { FailPoints } from "./fail-points.ts";

/** `append.before`: nothing is written; `append.after`: durable, but not acknowledged. Errors are those of a full disk. */
export function journalWithFailPoints(journal: Journal, points: FailPoints): Journal {
  const append = journal.append.bind(journal);
  const createClaimed = journal.createClaimed.bind(journal);
  const failing = async <Result>(write: () => Promise<Result>): Promise<Result> => {
    try {
      await points.pass("append.before");
    } catch (cause) {
      throw new JournalWriteError("The events could not be written.", { cause });
    }
    const result = await write();
    await points.pass("append.after");
    return result;
  };
  return Object.assign(journal, {
    append: (lease, batch) => failing(() => append(lease, batch)),
    createClaimed: (row, first) => failing(() => createClaimed(row, first)),
  } satisfies Pick<Journal, "append" | "createClaimed">);
}

/** `model.before`: nothing is sent; `model.during`: the answer has begun; `model.after`: it is complete and not in the log. */
export function modelWithFailPoints(model: Model, points: FailPoints): Model {
  return {
    name: model.name,
    isVisionEnabled: model.isVisionEnabled,
    async *stream(request, signal): AsyncGenerator<ModelPart> {
      await points.pass("model.before");
      let isFirst = true;
      for await (const part of model.stream(request, signal)) {
        if (isFirst) await points.pass("model.during");
        isFirst = false;
        if (part.type === "done") await points.pass("model.after");
        yield part;
      }
    },
  };
}

/** `execute.before`: the host does not know the call; `execute.after`: its outcome is recorded there and not in the log. */
export function hostWithFailPoints(host: ToolHost, points: FailPoints): ToolHost {
  const openSession = host.openSession.bind(host);
  const failing: ToolHost["openSession"] = async (spec) => {
    const session = await openSession(spec);
    const execute = session.execute.bind(session);
    const failingExecute: ToolSession["execute"] = async (request, options) => {
      await points.pass("execute.before");
      const outcome = await execute(request, options);
      await points.pass("execute.after");
      return outcome;
    };
    return Object.assign(session, { execute: failingExecute });
  };
  return Object.assign(host, { openSession: failing });
}

/** `tool.before`: the start is recorded and nothing has happened; `tool.after`: it has happened and is not recorded. */
export function toolWithFailPoints<T extends Tool | ToolSet>(tool: T, points: FailPoints): T {
  return {
    ...tool,
    open: async (context) => {
      const instance = await tool.open(context);
      return {
        execute: async (action, call) => {
          await points.pass("tool.before");
          const observation = await instance.execute(action, call);
          await points.pass("tool.after");
          return observation;
        },
        [Symbol.asyncDispose]: () => instance[Symbol.asyncDispose](),
      };
    },
  };
}
