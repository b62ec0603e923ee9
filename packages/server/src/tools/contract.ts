import type { ExecutionRequest } from "@convoke/tool-host";
import { expect, onTestFinished, test } from "vitest";
import type { ToolSource } from "./tool-source.ts";

export type SourceToTest = {
  readonly source: ToolSource;
  /** A call that can be made without anybody's answer. */
  readonly request: ExecutionRequest;
};

/** What every source of tools promises; `open` gives a new one for each test. */
export function testToolSource(name: string, open: () => Promise<SourceToTest>): void {
  const opened = async (): Promise<SourceToTest> => {
    const given = await open();
    onTestFinished(() => given.source[Symbol.asyncDispose]());
    return given;
  };

  test(`${name}: its list is the same array until it changes, and it owns what it lists`, async () => {
    const { source } = await opened();
    const tools = source.tools();
    expect(source.tools()).toBe(tools);
    expect(tools.filter((tool) => !source.owns(tool.name))).toEqual([]);
  });

  test(`${name}: it is ready at once for a caller that does not wait`, async () => {
    const { source } = await opened();
    await source.ready(AbortSignal.abort(), () => {});
  });

  test(`${name}: it knows nothing of a call that was not made, and there is nothing to cancel`, async () => {
    const { source } = await opened();
    expect(await source.state("not-made")).toEqual({ type: "unknown" });
    await source.cancel("not-made");
  });

  test(`${name}: an announcement begins nothing, and the call is made as without it`, async () => {
    const { source, request } = await opened();
    source.announce(request.actionId, request.tool);
    expect(await source.state(request.actionId)).toEqual({ type: "unknown" });
    expect((await source.execute(request)).type).not.toBe("cancelled");
  });

  test(`${name}: a call is answered, is over then, and is answered again`, async () => {
    const { source, request } = await opened();
    const outcome = await source.execute(request);
    expect((await source.state(request.actionId)).type).not.toBe("running");
    expect((await source.execute(request)).type).toBe(outcome.type);
  });

  test(`${name}: a call that was stopped before it began is answered`, async () => {
    const { source, request } = await opened();
    const { type } = await source.execute(request, { signal: AbortSignal.abort() });
    expect(["observation", "error", "cancelled"]).toContain(type);
  });

  test(`${name}: closing it twice is closing it`, async () => {
    const { source } = await open();
    await source[Symbol.asyncDispose]();
    await source[Symbol.asyncDispose]();
  });
}
